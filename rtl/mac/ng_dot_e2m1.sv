// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of two vectors of E2M1 numbers, as an integer in units of 2^-2.
//
//   dot_o = 4 * sum_i value(a_i[4*i+:4]) * value(b_i[4*i+:4])
//
// Twice an E2M1 value is an integer, its magnitude one of 0, 1, 2, 3, 4, 6, 8, 12 (codes 0 to 7).
// Hence:
//   lane   |a| * |b|. Code b = {b2, b1, b0} stands for 2 + b0 shifted left by {b2, b1} - 1, or for
//          b0 if {b2, b1} = 0: a selection among 2|a| or 3|a| at three positions and b0 * |a|.
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
  input  logic                       clk_i,  // this and en_i: of the cut
  input  logic                       en_i,
  input  logic        [Lanes*4-1:0]  a_i,
  input  logic        [Lanes*4-1:0]  b_i,
  output logic signed [DotWidth-1:0] dot_o
);
`ifndef __ICARUS__ // which has no elaboration tasks
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

  logic [Lanes*4-1:0] a2, a1, a0, b2, b1, b0;
  assign a2 = (a_i >> 2) & Ones;
  assign a1 = (a_i >> 1) & Ones;
  assign a0 = a_i & Ones;
  assign b2 = (b_i >> 2) & Ones;
  assign b1 = (b_i >> 1) & Ones;
  assign b0 = b_i & Ones;

  logic [Lanes*4-1:0] m3, m2, m1, m0;  // |a|
  assign m3 = a2 & a1;
  assign m2 = a2 & ~(a1 & ~a0);
  assign m1 = (a1 & ~a2) | (a0 & a2 & ~a1);
  assign m0 = a0 & ~a2;

  logic [Lanes*4-1:0] u5, u4, u3, u2, u1, u0;  // b0 ? 3|a| : 2|a|
  assign u5 = b0 & a2 & a1 & a0;
  assign u4 = a2 & (a1 ^ (b0 & a0));
  assign u3 = `NG_MUX(b0, `NG_MUX(a2, ~a0, a1 & a0), m2);
  assign u2 = m1 ^ (b0 & (m2 ^ (m1 & m0)));
  assign u1 = `NG_MUX(b0, (a0 & ~a1) | (a1 & ~a0 & ~a2), m0);
  assign u0 = b0 & m0;

  logic [Lanes*4-1:0] p7, p6, p5, p4, p3, p2, p1, p0;  // |a| * |b|
  assign p7 = `NG_MUX4(b2, b1, u5, None, None, None);
  assign p6 = b2 & `NG_MUX(b1, u4, u5);
  assign p5 = `NG_MUX4(b2, b1, u3, u4, u5, None);
  assign p4 = `NG_MUX4(b2, b1, u2, u3, u4, None);
  assign p3 = `NG_MUX4(b2, b1, u1, u2, u3, b0 & m3);
  assign p2 = `NG_MUX4(b2, b1, u0, u1, u2, b0 & m2);
  assign p1 = `NG_MUX4(b2, b1, None, u0, u1, b0 & m1);
  assign p0 = `NG_MUX4(b2, b1, None, None, u0, b0 & m0);

  logic [Lanes*4-1:0] high, low;  // nibbles of the products
  assign high = (p7 << 3) | (p6 << 2) | (p5 << 1) | p4;
  assign low = (p3 << 3) | (p2 << 2) | (p1 << 1) | p0;

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
        .clk_i(clk_i),
        .en_i (en_i),
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
