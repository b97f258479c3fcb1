// SPDX-License-Identifier: Apache-2.0
// Prunes four numbers to two, unbiased and with the least variance (MVUE 2:4, arXiv 2203.10991), by
// one random word and without sorting. Numbers are fixed-point, sign and magnitude, the sign on
// top; what stays is compressed (docs/sparsity.md).
//
// With S the sum of the magnitudes, M the largest, T = S - M, u = (2 rand_i + 1) / 2^(RandBits +
// 1):
//   M < T    those two stay in whose part of [0, S) lie uS/2 and uS/2 + S/2, as sign * S/2: no part
//            is longer than S/2
//   M >= T   the largest stays, and the one of the others in whose part of [0, T) lies uT, as sign
//            * T; if T = 0 the first other
// Both are one data path: x is S or T, of the lengths the largest one's is 0 in the second case,
// and points are compared with running sums by their floors, since those are whole numbers.
//
// Width argument, W = Width - 1 bits of magnitude: S < 2^(W + 2); a product with the RandBits + 1
// bits of 2 rand_i + 1 has W + RandBits + 3. uS/2 + S/2 < S. Results in halves: S, 2T <= 2M: W + 2
// bits and the sign.
module ng_mvue_2_4 #(
  parameter int Width    = 8,  // bits of a number
  parameter int RandBits = 16
) (
  input  logic [4*Width-1:0]     a_i,
  input  logic [RandBits-1:0]    rand_i,
  output logic [2*(Width+2)-1:0] values_o,  // sign and magnitude, in halves of a_i's unit
  output logic [3:0]             metadata_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_mvue_2_4: Width=%0d; expected 2 to 32", Width);
  end
  if (RandBits < 1 || RandBits > 32) begin : gen_check_rand_bits
    $fatal(1, "ng_mvue_2_4: RandBits=%0d; expected 1 to 32", RandBits);
  end
`endif

  localparam int Sum = Width + 1;  // bits of S

  logic [4*(Width-1)-1:0] magnitudes, others;
  logic [3:0]             largest, unused_two;
  for (genvar i = 0; i < 4; i++) begin : gen_magnitude
    assign magnitudes[i*(Width-1) +: Width-1] = a_i[i*Width +: Width-1];
    assign others[i*(Width-1) +: Width-1] = {(Width - 1) {~largest[i]}} & a_i[i*Width +: Width-1];
  end
  ng_rank_group #(
    .Width(Width - 1)
  ) u_rank (
    .a_i      (magnitudes),
    .largest_o(largest),
    .two_o    (unused_two)
  );

  logic [Width-2:0] most;
  logic [Sum-1:0]   rest, threshold, end_0, end_1, end_2;
  logic             tilted, alone;  // M >= T, T = 0
  assign most = ({(Width - 1) {largest[0]}} & magnitudes[0 +: Width-1])
              | ({(Width - 1) {largest[1]}} & magnitudes[(Width-1) +: Width-1])
              | ({(Width - 1) {largest[2]}} & magnitudes[2*(Width-1) +: Width-1])
              | ({(Width - 1) {largest[3]}} & magnitudes[3*(Width-1) +: Width-1]);
  assign rest = (Sum'(others[0 +: Width-1]) + Sum'(others[(Width-1) +: Width-1]))
              + (Sum'(others[2*(Width-1) +: Width-1]) + Sum'(others[3*(Width-1) +: Width-1]));
  assign tilted = Sum'(most) >= rest;
  assign alone = rest == '0;
  assign threshold = rest + (tilted ? '0 : Sum'(most));
  assign end_0 = tilted ? Sum'(others[0 +: Width-1]) : Sum'(magnitudes[0 +: Width-1]);
  assign end_1 = end_0 + (tilted ? Sum'(others[(Width-1) +: Width-1])
      : Sum'(magnitudes[(Width-1) +: Width-1]));
  assign end_2 = end_1 + (tilted ? Sum'(others[2*(Width-1) +: Width-1])
      : Sum'(magnitudes[2*(Width-1) +: Width-1]));

  logic [Sum+RandBits:0] product;
  logic [Sum-1:0]        whole, low, high;  // floors of ux; of the points
  logic                  unused_fraction, unused_half;
  logic [Sum:0]          twice_high;
  assign product = (Sum + RandBits + 1)'({rand_i, 1'b1}) * (Sum + RandBits + 1)'(threshold);
  assign whole = product[RandBits+1 +: Sum];
  assign unused_fraction = &product[RandBits:0];
  assign low = tilted ? whole : whole >> 1;
  assign twice_high = {1'b0, whole} + {1'b0, threshold};
  assign {high, unused_half} = twice_high;

  logic [2:0] low_beyond, high_beyond;
  logic [3:0] at_low, at_high, mask;
  assign low_beyond = {low >= end_2, low >= end_1, low >= end_0};
  assign high_beyond = {high >= end_2, high >= end_1, high >= end_0};
  assign at_low = {low_beyond, 1'b1} & ~{1'b0, low_beyond};
  assign at_high = {high_beyond, 1'b1} & ~{1'b0, high_beyond};
  assign mask = !tilted ? at_low | at_high
      : largest | (!alone ? at_low : largest[0] ? 4'b0010 : 4'b0001);

  logic [7:0] flags;   // of each element: is the largest, sign
  logic [3:0] stored;
  for (genvar i = 0; i < 4; i++) begin : gen_flags
    assign flags[2*i +: 2] = {largest[i], a_i[i*Width+Width-1]};
  end
  ng_compress_group #(
    .Width(2)
  ) u_compress (
    .a_i       (flags),
    .mask_i    (mask),
    .values_o  (stored),
    .metadata_o
  );
  for (genvar i = 0; i < 2; i++) begin : gen_value
    logic [Sum-1:0] magnitude;
    assign magnitude = !tilted ? threshold : stored[2*i+1] ? {1'b0, most, 1'b0}
        : {rest[Sum-2:0], 1'b0};
    assign values_o[i*(Width+2) +: Width+2] = {stored[2*i], magnitude};
  end
endmodule
