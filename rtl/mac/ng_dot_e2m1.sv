// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two vectors of E2M1 numbers, as an integer in units of 2^-2.
//
//   dot_o = 4 * sum_i value(a_i[4*i+:4]) * value(b_i[4*i+:4])
//
// Twice an E2M1 value is an integer, its magnitude one of 0, 1, 2, 3, 4, 6, 8, 12 (codes 0 to 7).
// Hence:
//   lane   |a| * |b|. Code b = {b_bit2, b_bit1, b_bit0} stands for 2 + b_bit0 shifted left by
//          {b_bit2, b_bit1} - 1, or for b_bit0 if {b_bit2, b_bit1} = 0: a selection among 2|a| or
//          3|a| at three positions and b_bit0 * |a|.
//   tree   Node = left plus or minus right, as their signs differ or not; the sign of the left one
//          stays pending. So only right nodes are inverted, which costs nothing where the node is a
//          sum (its LUTs have an input to spare for it), and the +1 that inversion owes is the
//          adder's carry-in. Lane 0 is negated in full: then no sign is pending at the root, which
//          has no adder above it to take a +1. (ng_sum_tree takes finished operands, so all lanes
//          would be inverted.)
//
// Width argument: |a||b| <= 144 < 2^8, 9 bits with sign; a node of level l is within +-144 * 2^l, 9
// + l bits, and never the most negative number of its width, so that inversion plus 1 does not
// overflow.
//
// Cuts (docs/cuts.md): bit 0 behind level (Levels - 1) / 2 of the tree, the first levels being
// short and the products in front of them long.
//
// Bit k of all lanes is one vector with lane i at bit 4*i, where the codes have it: one expression
// serves all lanes, for the reader and for the simulator's 64-bit words.

// Multiplexers of whole vectors. Macros, because Verilator numbers the calls of a function, and
// then cannot see that the cells of an array are alike and share their code (rtl engine: four times
// the compile time).
`define NG_MUX(select, one, zero) (((select) & (one)) | (~(select) & (zero)))
// Four ways in two LUT4: while s1 selects from d2 and d3, the first multiplexer is idle and passes
// s0 on to the second.
`define NG_MUX4_FIRST(s1, s0, d1, d0) `NG_MUX(s1, s0, `NG_MUX(s0, d1, d0))
`define NG_MUX4(s1, s0, d3, d2, d1, d0) \
    `NG_MUX(s1, `NG_MUX(`NG_MUX4_FIRST(s1, s0, d1, d0), d3, d2), `NG_MUX4_FIRST(s1, s0, d1, d0))

module ng_dot_e2m1 #(
  parameter int Lanes = 16,
  parameter int Cuts  = 0,  // registers: 1 nodes
  localparam int DotWidth = 9 + $clog2(Lanes)
) (
  input  logic                       clk_i,  // clock of the cut
  input  logic                       en_i,   // enable of the cut
  input  logic        [Lanes*4-1:0]  a_i,
  input  logic        [Lanes*4-1:0]  b_i,
  output logic signed [DotWidth-1:0] dot_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_dot_e2m1: Lanes=%0d; expected a power of two", Lanes);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_dot_e2m1: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  localparam int Levels = $clog2(Lanes);
  localparam logic [Lanes*4-1:0] Ones = {Lanes{4'h1}};
  localparam logic [Lanes*4-1:0] None = '0;

  logic [Lanes*4-1:0] a_bit2, a_bit1, a_bit0, b_bit2, b_bit1, b_bit0;
  assign a_bit2 = (a_i >> 2) & Ones;
  assign a_bit1 = (a_i >> 1) & Ones;
  assign a_bit0 = a_i & Ones;
  assign b_bit2 = (b_i >> 2) & Ones;
  assign b_bit1 = (b_i >> 1) & Ones;
  assign b_bit0 = b_i & Ones;

  logic [Lanes*4-1:0] mag3, mag2, mag1, mag0;  // |a|
  assign mag3 = a_bit2 & a_bit1;
  assign mag2 = a_bit2 & ~(a_bit1 & ~a_bit0);
  assign mag1 = (a_bit1 & ~a_bit2) | (a_bit0 & a_bit2 & ~a_bit1);
  assign mag0 = a_bit0 & ~a_bit2;

  // b_bit0 ? 3|a| : 2|a|
  logic [Lanes*4-1:0] multiple5, multiple4, multiple3, multiple2, multiple1, multiple0;
  assign multiple5 = b_bit0 & a_bit2 & a_bit1 & a_bit0;
  assign multiple4 = a_bit2 & (a_bit1 ^ (b_bit0 & a_bit0));
  assign multiple3 = `NG_MUX(b_bit0, `NG_MUX(a_bit2, ~a_bit0, a_bit1 & a_bit0), mag2);
  assign multiple2 = mag1 ^ (b_bit0 & (mag2 ^ (mag1 & mag0)));
  assign multiple1 = `NG_MUX(b_bit0, (a_bit0 & ~a_bit1) | (a_bit1 & ~a_bit0 & ~a_bit2), mag0);
  assign multiple0 = b_bit0 & mag0;

  // |a| * |b|
  logic [Lanes*4-1:0] product7, product6, product5, product4, product3, product2, product1,
      product0;
  assign product7 = `NG_MUX4(b_bit2, b_bit1, multiple5, None, None, None);
  assign product6 = b_bit2 & `NG_MUX(b_bit1, multiple4, multiple5);
  assign product5 = `NG_MUX4(b_bit2, b_bit1, multiple3, multiple4, multiple5, None);
  assign product4 = `NG_MUX4(b_bit2, b_bit1, multiple2, multiple3, multiple4, None);
  assign product3 = `NG_MUX4(b_bit2, b_bit1, multiple1, multiple2, multiple3, b_bit0 & mag3);
  assign product2 = `NG_MUX4(b_bit2, b_bit1, multiple0, multiple1, multiple2, b_bit0 & mag2);
  assign product1 = `NG_MUX4(b_bit2, b_bit1, None, multiple0, multiple1, b_bit0 & mag1);
  assign product0 = `NG_MUX4(b_bit2, b_bit1, None, None, multiple0, b_bit0 & mag0);

  logic [Lanes*4-1:0] high, low;  // nibbles of the products
  assign high = (product7 << 3) | (product6 << 2) | (product5 << 1) | product4;
  assign low = (product3 << 3) | (product2 << 2) | (product1 << 1) | product0;

  for (genvar l = 0; l <= Levels; l++) begin : gen_level
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_node
      logic [8+l:0] sum_d, sum;
      logic         negative_d, negative;  // pending: the node stands for -sum
      if (l == 0) begin : gen_lane
        logic [8:0] magnitude;
        logic       sign;
        assign magnitude = {1'b0, high[4*i+:4], low[4*i+:4]};
        assign sign = a_i[4*i+3] ^ b_i[4*i+3];
        if (i == 0) begin : gen_exact
          logic unused_half;
          assign {sum_d, unused_half} = {magnitude ^ {9{sign}}, 1'b1} + {9'd0, sign};
          assign negative_d = 1'b0;
        end else begin : gen_pending
          assign sum_d = magnitude;
          assign negative_d = sign;
        end
      end else begin : gen_add
        logic [7+l:0] left, right;
        logic         differ, unused_half;
        assign negative_d = gen_level[l-1].gen_node[2*i].negative;
        assign differ = negative_d ^ gen_level[l-1].gen_node[2*i+1].negative;
        assign left = gen_level[l-1].gen_node[2*i].sum;
        assign right = gen_level[l-1].gen_node[2*i+1].sum ^ {8 + l{differ}};
        // The carry-in as a half-unit column: 1/2 + differ/2. One addition, hence one carry chain.
        assign {sum_d, unused_half} = {left[7+l], left, 1'b1} + {right[7+l], right, differ};
      end
      ng_cut #(
        .Width (10 + l),
        .Enable(l == (Levels - 1) / 2 ? Cuts : 0)
      ) u_nodes (
        .clk_i,
        .en_i,
        .d_i  ({sum_d, negative_d}),
        .q_o  ({sum, negative})
      );
`ifdef FORMAL
      // Lemmas of verif/formal/mac/dot_nvfp4_proof.sv: a lane stands for its product, a node for
      // the sum of its children. First each is proven by itself, for all inputs; then, with
      // NG_LEMMAS, what was proven takes the logic's place.
      logic signed [DotWidth-1:0] value, lemma;
      if (l == 0) begin : gen_lane_lemma
        assign lemma = DotWidth'(ng_e2m1_spec_pkg::twice_value(a_i[4*i+:4]))
            * DotWidth'(ng_e2m1_spec_pkg::twice_value(b_i[4*i+:4]));
      end else begin : gen_sum_lemma
        assign lemma = gen_level[l-1].gen_node[2*i].value + gen_level[l-1].gen_node[2*i+1].value;
      end
`ifdef NG_LEMMAS
      assign value = lemma;
`else
      assign value = negative ? -(DotWidth'(signed'(sum))) : DotWidth'(signed'(sum));
      always_comb assert (value == lemma);
`endif
`endif
      if (l == Levels) begin : gen_root
        logic unused_negative;  // 0, from lane 0
        assign unused_negative = negative;
`ifdef NG_LEMMAS
        assign dot_o = value;
`else
        assign dot_o = sum;
`ifdef FORMAL
        always_comb assert (dot_o == value);
`endif
`endif
      end
    end
  end
endmodule

`undef NG_MUX
`undef NG_MUX4_FIRST
`undef NG_MUX4
