// SPDX-License-Identifier: Apache-2.0
// Statistics of L2 and of L1 normalization, 16 INT8 codes a beat, for a channel that comes in one
// piece. Twin of narrowgauge::add_squares and narrowgauge::add_distances.
//
// Order 2: the sum of the codes' squares, and that of the codes. The variance follows from both.
// Order 1: the sum of the codes' distances from an integer centre, and how many codes are above it.
// With the mean's integer part as centre, both give the sum of distances from the mean exactly; so
// it is a second pass, behind one that has summed the codes.
//
// Latency: 1 + cuts edges, the first of which takes the channel's last beat. The result waits in
// registers of its own: a beat passes every cycle, but the unit stands still while a result waits
// and the next channel's last beat has come to the last stage, without cuts whenever a result
// waits. All outputs come from registers.
//
// Width argument: of 65536 codes the squares sum to 2^30 or less, 31 bits, and the codes to -2^23 or
// more and less than 2^23, 24 bits. Their distances sum to less than 2^24, and 2^16 of them are above
// the centre or less, 17 bits. Longer channels wrap around.
module ng_moment_stats #(
  parameter int Order    = 2,
  parameter int TreeCuts = 3  // bits of ng_norm_pkg::MomentStatsCut*
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [127:0] codes_i,
  input  logic [7:0]   centre_i,  // of order 1: the centre, signed
  input  logic         last_i,    // the channel ends
  output logic         valid_o,
  input  logic         ready_i,
  output logic [30:0]  spread_o,  // sum of squares, or of distances
  output logic [23:0]  sum_o      // sum of the codes, signed, or how many are above the centre
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Order < 1 || Order > 2) begin : gen_check_order
    $fatal(1, "ng_moment_stats: Order=%0d; expected 1 or 2", Order);
  end
  if (TreeCuts < 0 || TreeCuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_moment_stats: TreeCuts=%0d; expected 0 to 3", TreeCuts);
  end
`endif

  localparam int CutQuads = TreeCuts & ng_norm_pkg::MomentStatsCutQuads;
  localparam int CutBeat = TreeCuts & ng_norm_pkg::MomentStatsCutBeat;
  localparam int Depth = ng_prim_pkg::cut_count(TreeCuts);
  localparam int SpreadBits = Order == 2 ? 15 : 8;  // of a lane, as ng_moment_lane has them
  localparam int SumBits = Order == 2 ? 8 : 1;
  localparam int SpreadWidth = Order == 2 ? 31 : 24;  // of a channel
  localparam int SumWidth = Order == 2 ? 24 : 17;

  // ---- the pipe: a beat at stage Depth is added
  logic [Depth:0] valid;
  logic           move, push;
  logic           quad_last, last;
  // Without cuts the last beat would be the one that is offered, on which ready_o must not depend.
  assign move = ~(valid_o & (Depth == 0 | (valid[Depth] & last)));
  assign push = move & valid[Depth];
  assign ready_o = move;
  ng_valid_pipe #(
    .Depth(Depth)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i,
    .valid_o(valid)
  );

  // ---- four lanes; adders take three of the ones that are owed
  for (genvar q = 0; q < 4; q++) begin : gen_quad
    logic [4*SpreadBits+3:0] spreads;
    logic [SpreadBits+1:0]   spread, spread_quad;
    logic [4*SumBits+3:0]    sums;
    logic [SumBits+1:0]      sum, sum_quad;
    logic [3:0]              owed;
    logic                    owed_quad, unused_spread_sign, unused_sum_sign;
    for (genvar i = 0; i < 4; i++) begin : gen_lane
      ng_moment_lane #(
        .Order(Order)
      ) u_lane (
        .code_i  (codes_i[8*(4*q+i) +: 8]),
        .centre_i(centre_i),
        .spread_o(spreads[(SpreadBits+1)*i +: SpreadBits]),
        .sum_o   (sums[(SumBits+1)*i +: SumBits+1]),
        .owed_o  (owed[i])
      );
      assign spreads[(SpreadBits+1)*i+SpreadBits] = 1'b0;  // a lane's spread is not negative
    end
    ng_sum_tree #(
      .Operands(4),
      .Width   (SpreadBits + 1)
    ) u_spread (
      .x_i    (spreads),
      .carry_i(owed[3:1]),
      .sum_o  ({unused_spread_sign, spread})
    );
    ng_sum_tree #(
      .Operands(4),
      .Width   (SumBits + 1)
    ) u_sum (
      .x_i    (sums),
      .carry_i(3'b0),
      .sum_o  ({unused_sum_sign, sum})
    );
    ng_cut #(
      .Width (SpreadBits + SumBits + 5),
      .Enable(CutQuads)
    ) u_cut (
      .clk_i,
      .en_i(move),
      .d_i ({spread, sum, owed[0]}),
      .q_o ({spread_quad, sum_quad, owed_quad})
    );
  end
  ng_cut #(
    .Width (1),
    .Enable(CutQuads)
  ) u_cut_quads (
    .clk_i,
    .en_i(move),
    .d_i (last_i),
    .q_o (quad_last)
  );

  // ---- the beat
  logic [4*SpreadBits+11:0] spreads;
  logic [SpreadBits+3:0]    spread_beat, spread;
  logic [4*SumBits+11:0]    sums;
  logic [SumBits+3:0]       sum_beat, sum;
  logic                     owed, unused_spread_sign, unused_sum_sign;
  for (genvar q = 0; q < 4; q++) begin : gen_sign
    assign spreads[(SpreadBits+3)*q +: SpreadBits+3] = {1'b0, gen_quad[q].spread_quad};
    assign sums[(SumBits+3)*q +: SumBits+3] =
        {Order == 2 && gen_quad[q].sum_quad[SumBits+1], gen_quad[q].sum_quad};
  end
  ng_sum_tree #(
    .Operands(4),
    .Width   (SpreadBits + 3)
  ) u_spread (
    .x_i    (spreads),
    .carry_i({gen_quad[3].owed_quad, gen_quad[2].owed_quad, gen_quad[1].owed_quad}),
    .sum_o  ({unused_spread_sign, spread_beat})
  );
  ng_sum_tree #(
    .Operands(4),
    .Width   (SumBits + 3)
  ) u_sum (
    .x_i    (sums),
    .carry_i(3'b0),
    .sum_o  ({unused_sum_sign, sum_beat})
  );
  ng_cut #(
    .Width (SpreadBits + SumBits + 10),
    .Enable(CutBeat)
  ) u_cut_beat (
    .clk_i,
    .en_i(move),
    .d_i ({spread_beat, sum_beat, gen_quad[0].owed_quad, quad_last}),
    .q_o ({spread, sum, owed, last})
  );

  // ---- the channel; a total and one more, as a half-unit column
  logic                   begun_q, unused_half;
  logic [SpreadWidth-1:0] spread_q, total_spread, spread_out_q;
  logic [SumWidth-1:0]    sum_q, total_sum, sum_out_q;
  assign {total_spread, unused_half} = {spread_q & {SpreadWidth{begun_q}}, 1'b1}
      + {SpreadWidth'(spread), owed};
  assign total_sum = (sum_q & {SumWidth{begun_q}})
      + SumWidth'($signed({Order == 2 && sum[SumBits+3], sum}));
  assign spread_o = 31'(spread_out_q);
  assign sum_o = 24'(sum_out_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      if (push) begun_q <= ~last;
      valid_o <= (valid_o & ~ready_i) | (push & last);
    end
  end
  always_ff @(posedge clk_i) if (push) begin
    spread_q <= total_spread;
    sum_q    <= total_sum;
    if (last) begin
      spread_out_q <= total_spread;
      sum_out_q    <= total_sum;
    end
  end

endmodule
