// SPDX-License-Identifier: Apache-2.0
// Sums of the rows of an INT8 matrix that bit planes select, without multipliers: a matrix of bits
// times one of integers. Twin of narrowgauge::plane_sums.
//
//   sum[k][c] = sum over beats and rows r of planes[k][r] * v[r][c]
//
// Three stages: pairs of rows (ng_plane_pair); the tree over the pairs; the sums of the row of
// beats, which stand in the accumulators while they are offered and are cleared as they are taken.
// So a row takes one cycle more than it has beats, and no copy of the sums. All outputs come from
// registers.
//
// Width argument: a pair has 9 bits, Rows / 2 of them clog2(Rows / 2) more. SumBits = 8 + clog2(n)
// hold the sum of n rows of the matrix; beyond, sums are modulo 2^SumBits.
module ng_plane_acc #(
  parameter int Rows    = 16,  // rows of the matrix in a beat
  parameter int Cols    = 8,   // columns of the matrix
  parameter int Planes  = 3,
  parameter int SumBits = 20   // of a sum
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           valid_i,
  output logic                           ready_o,
  input  logic [Planes*Rows-1:0]         planes_i,  // plane 0 in the low bits, of it row 0 first
  input  logic [8*Rows*Cols-1:0]         v_i,       // row 0 in the low bits, of it column 0 first
  input  logic                           first_i,   // sums begin
  input  logic                           last_i,    // the sums are complete
  output logic                           valid_o,
  input  logic                           ready_i,
  output logic [SumBits*Planes*Cols-1:0] sums_o     // plane 0 in the low bits, of it column 0 first
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Rows < 4 || Rows > 64 || Rows % 2 != 0) begin : gen_check_rows
    $fatal(1, "ng_plane_acc: Rows=%0d; expected 4 to 64, a multiple of 2", Rows);
  end
  if (Cols < 1 || Cols > 64) begin : gen_check_cols
    $fatal(1, "ng_plane_acc: Cols=%0d; expected 1 to 64", Cols);
  end
  if (Planes < 1 || Planes > 16) begin : gen_check_planes
    $fatal(1, "ng_plane_acc: Planes=%0d; expected 1 to 16", Planes);
  end
  if (SumBits < 16 || SumBits > 32) begin : gen_check_sum_bits
    $fatal(1, "ng_plane_acc: SumBits=%0d; expected 16 to 32", SumBits);
  end
`endif

  localparam int Pairs    = Rows / 2;
  localparam int BeatBits = 9 + $clog2(Pairs);

  logic [2:1] valid_q, last_q;  // of the beats behind stages 1 and 2
  logic       first_q;          // of the beat behind stage 1
  logic       move, add, clear;
  assign move = ~(valid_o & valid_q[2]);
  assign ready_o = move;
  assign add = valid_q[2] & ~valid_o;
  // As the sums are taken, or as a beat that begins new ones comes behind stage 2; not while sums
  // are offered, nor where the last beat of other sums is just added: those are cleared later.
  assign clear = (valid_o & ready_i)
      | (valid_q[1] & first_q & ~valid_o & ~(valid_q[2] & last_q[2]));

  for (genvar c = 0; c < Cols; c++) begin : gen_col
    // ---- stage 1: pairs of rows
    logic [9*Pairs*Planes-1:0] pairs_q;  // plane 0 in the low bits
    for (genvar p = 0; p < Pairs; p++) begin : gen_pair
      logic [2*Planes-1:0] select;
      logic [9*Planes-1:0] sums;
      for (genvar k = 0; k < Planes; k++) begin : gen_select
        assign select[2*k +: 2] = planes_i[Rows*k+2*p +: 2];
        always_ff @(posedge clk_i) if (move) pairs_q[9*(Pairs*k+p) +: 9] <= sums[9*k +: 9];
      end
      ng_plane_pair #(
        .Planes(Planes)
      ) u_pair (
        .even_i  (v_i[8*(2*p*Cols+c) +: 8]),
        .odd_i   (v_i[8*((2*p+1)*Cols+c) +: 8]),
        .select_i(select),
        .sums_o  (sums)
      );
    end

    // ---- stages 2 and 3: the sum of the beat, and of all beats
    for (genvar k = 0; k < Planes; k++) begin : gen_plane
      logic signed [BeatBits-1:0] beat, beat_q;
      logic signed [SumBits-1:0]  sum_q;
      ng_sum_tree #(
        .Operands(Pairs),
        .Width   (9)
      ) u_beat (
        .x_i    (pairs_q[9*Pairs*k +: 9*Pairs]),
        .carry_i({(Pairs - 1){1'b0}}),  // sized: Yosys 0.23 loads the tree twice for '0, and stops
        .sum_o  (beat)
      );
      always_ff @(posedge clk_i) begin
        if (move) beat_q <= beat;
        if (clear) sum_q <= '0;
        else if (add) sum_q <= sum_q + SumBits'(beat_q);
      end
      assign sums_o[SumBits*(Cols*k+c) +: SumBits] = sum_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      valid_o <= 1'b0;
    end else begin
      if (move) valid_q <= {valid_q[1], valid_i};
      valid_o <= (valid_o & ~ready_i) | (add & last_q[2]);
    end
  end
  always_ff @(posedge clk_i) if (move) begin
    first_q <= first_i;
    last_q  <= {last_q[1], last_i};
  end

endmodule
