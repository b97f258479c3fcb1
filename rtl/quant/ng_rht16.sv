// SPDX-License-Identifier: Apache-2.0
// Randomized Hadamard transform of 16 BF16 numbers: y = x diag(d) H / 4, H the Sylvester-Hadamard
// matrix and d the published signs (Transformer Engine; bit r of Signs: element r is negated). Each
// y is an exact sum, rounded once to BF16, nearest even. Twin of narrowgauge::rht16.
//
// All elements are brought to the unit of the block, Window places below the last one of the
// largest element. What lies below is cut off toward zero: elements whose exponents are at most
// Window below the largest lose nothing. exact_o: no element lost a bit, and all are finite, so
// that the results are those of the exact transform. Window = 253 holds every finite block. A NaN
// or an infinity makes all results NaN (7FC0). A sum beyond BF16 becomes an infinity.
//
//   x -> largest exponent -> 16 x align | aligned -> 4 levels of 8 butterflies | summed -> 16 x
//   normalize | normalized -> round -> y
//
// Butterflies. A negative number comes as its complement, which lacks 1: every node owes a bit to
// its value, and a butterfly of (a, owing p) and (b, owing q) gives a + b + p, which owes q, and a
// + ~b + p, which owes ~q, since -b - q = ~b + 1 - q = ~b + ~q. So no number is negated anywhere,
// and the last bit owed is seen to by the normalizer.
//
// Width argument: 8 + Window bits and a sign go in, each level adds one bit; the owed bits complete
// sums of magnitudes, 16 times at most (2^8 - 1) 2^Window: 13 + Window bits at the end.
// Exponents: E is the largest field, and a sum's top bit stands for field E + 2: with s places
// shifted the result's field is E + 2 - s, at least 1 (the limit of the normalizer is E + 1), and 0
// where the top bit is zero.
//
// Cuts (docs/cuts.md): bit 0 behind the aligners, 1 behind the butterflies, 2 behind the
// normalizers.
module ng_rht16 #(
  parameter int Window = 8,
  parameter int Cuts   = 0  // registers: 1 aligned + 2 summed + 4 normalized
) (
  input  logic         clk_i,  // clock of the cuts
  input  logic         en_i,   // enable of the cuts
  input  logic [255:0] x_i,    // element 0 in the low bits
  output logic [255:0] y_o,
  output logic         exact_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Window < 0 || Window > 253) begin : gen_check_window
    $fatal(1, "ng_rht16: Window=%0d; expected 0 to 253", Window);
  end
  if (Cuts < 0 || Cuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_rht16: Cuts=%0d; expected 0 to 7", Cuts);
  end
`endif

  localparam logic [15:0] Signs = 16'hD7E8;
  localparam int InWidth = Window + 8;
  localparam int SumWidth = Window + 13;
  localparam int ShiftWidth = $clog2(SumWidth);

  // ---- the largest exponent: bit by bit from the top, among those that have had all bits of it so
  // far
  logic [7:0]  largest_d;
  logic [15:0] among, has;
  always_comb begin
    among = '1;
    has = '0;
    largest_d = '0;
    for (int right = 7; right >= 0; right--) begin
      for (int r = 0; r < 16; r++) has[r] = among[r] & x_i[16*r + 7 + right];
      largest_d[right] = |has;
      if (largest_d[right]) among = has;
    end
    largest_d[0] = largest_d[0] | ~(|largest_d);  // subnormals have the exponent of field 1
  end

  // ---- aligned
  logic [16*InWidth-1:0] aligned_d, aligned;
  logic [15:0]           negative_d, negative, lost;
  logic [7:0]            largest;
  logic                  special_d, special, lost_q;
  assign special_d = &largest_d;
  for (genvar r = 0; r < 16; r++) begin : gen_align
    assign negative_d[r] = x_i[16*r + 15] ^ Signs[r];
    ng_rht16_align #(
      .Window(Window)
    ) u_align (
      .code_i   (x_i[16*r +: 16]),
      .largest_i(largest_d),
      .negate_i (Signs[r]),
      .aligned_o(aligned_d[r*InWidth +: InWidth]),
      .lost_o   (lost[r])
    );
  end
  ng_cut #(
    .Width (16 * InWidth + 26),
    .Enable(Cuts & ng_quant_pkg::RhtCutAligned)
  ) u_aligned (
    .clk_i,
    .en_i,
    .d_i  ({aligned_d, negative_d, largest_d, special_d, |lost}),
    .q_o  ({aligned, negative, largest, special, lost_q})
  );

  // ---- butterflies: level l has nodes of InWidth + 1 + l bits
  for (genvar l = 0; l <= 4; l++) begin : gen_level
    localparam int NodeWidth = InWidth + 1 + l;
    for (genvar i = 0; i < 16; i++) begin : gen_node
      logic [NodeWidth-1:0] sum;
      logic         owed;
      if (l == 0) begin : gen_element
        assign sum = {negative[i], aligned[i*InWidth +: InWidth]};
        assign owed = negative[i];
      end else begin : gen_butterfly
        localparam int Half = 1 << (l - 1);
        localparam bit Minus = (i & Half) != 0;
        logic [NodeWidth-2:0] left, right;
        logic         owed_a, owed_b, unused_half;
        assign left = gen_level[l-1].gen_node[i & ~Half].sum;
        assign right = gen_level[l-1].gen_node[i | Half].sum ^ {(NodeWidth-1){Minus}};
        assign owed_a = gen_level[l-1].gen_node[i & ~Half].owed;
        assign owed_b = gen_level[l-1].gen_node[i | Half].owed ^ Minus;
        // The bit as a half-unit column: 1/2 + owed/2. One addition, hence one carry chain.
        assign {sum, unused_half} = {left[NodeWidth-2], left, 1'b1}
            + {right[NodeWidth-2], right, owed_a};
        assign owed = owed_b;
      end
    end
  end

  // ---- summed
  logic [16*SumWidth-1:0] sum_d, sum;
  logic [15:0]            owed_d, owed;
  logic [7:0]             largest_q;
  logic                   special_q, lost_qq;
  for (genvar c = 0; c < 16; c++) begin : gen_sum
    assign sum_d[c*SumWidth +: SumWidth] = gen_level[4].gen_node[c].sum;
    assign owed_d[c] = gen_level[4].gen_node[c].owed;
  end
  ng_cut #(
    .Width (16 * SumWidth + 26),
    .Enable(Cuts & ng_quant_pkg::RhtCutSummed)
  ) u_summed (
    .clk_i,
    .en_i,
    .d_i  ({sum_d, owed_d, largest, special, lost_q}),
    .q_o  ({sum, owed, largest_q, special_q, lost_qq})
  );

  // ---- normalized
  logic [7:0]   limit;
  // 19 bits each: sign, exponent field less 1, significand, guard, sticky
  logic [303:0] normal_d, normal;
  logic         special_out, lost_out;
  assign limit = largest_q + 8'd1;  // 255 at most, or the block is special
  for (genvar c = 0; c < 16; c++) begin : gen_normalize
    // Bit 8, of windows from 244 on, is 0: the normalizer's limit is 255 at most.
    // verilator lint_off UNUSEDSIGNAL
    logic [ShiftWidth-1:0] shift;
    // verilator lint_on UNUSEDSIGNAL
    logic [7:0]            field, sig;
    logic                  sign, guard, sticky;
    ng_rht16_normalize #(
      .Width(SumWidth)
    ) u_normalize (
      .sum_i   (sum[c*SumWidth +: SumWidth]),
      .owed_i  (owed[c]),
      .limit_i (limit),
      .sign_o  (sign),
      .sig_o   (sig),
      .guard_o (guard),
      .sticky_o(sticky),
      .shift_o (shift)
    );
    assign field = limit - 8'(shift);
    assign normal_d[19*c +: 19] = {sign, field & {8{sig[7]}}, sig, guard, sticky};
  end
  ng_cut #(
    .Width (306),
    .Enable(Cuts & ng_quant_pkg::RhtCutNormalized)
  ) u_normalized (
    .clk_i,
    .en_i,
    .d_i  ({normal_d, special_q, lost_qq}),
    .q_o  ({normal, special_out, lost_out})
  );

  // ---- rounded: the hidden bit and a carry of the mantissa run into the field
  for (genvar c = 0; c < 16; c++) begin : gen_round
    logic        sign, guard, sticky, round_up, over;
    logic [7:0]  field, sig;
    logic [15:0] code;
    assign {sign, field, sig, guard, sticky} = normal[19*c +: 19];
    assign round_up = guard & (sticky | sig[0]);
    assign code = {1'b0, field, 7'b0} + {8'b0, sig} + {15'b0, round_up};
    assign over = code[15] | (&code[14:7]);
    assign y_o[16*c +: 16] = special_out ? 16'h7FC0 : over ? {sign, 15'h7F80} : {sign, code[14:0]};
  end
  assign exact_o = ~(special_out | lost_out);

endmodule
