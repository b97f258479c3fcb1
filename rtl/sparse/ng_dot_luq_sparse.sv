// SPDX-License-Identifier: Apache-2.0
// Exact dot product of LUQ's INT4 and FP4 [1,3,0] numbers, one of the vectors 2:4 sparse, with
// Lanes elements stored, the other one dense, with 2 * Lanes. Metadata select the elements of the
// dense one that are multiplied, in front of ng_dot_luq.
//
//   SparseFp4   off: INT4 is sparse, weights of the backward product
//               on: FP4 is sparse, gradients of the update
//   dot_o       as of ng_dot_luq, of the selected elements
//   error_o     illegal metadata; dot_o has no meaning then, but is of elements of the same groups
//
// Cuts (docs/cuts.md): bit 0 behind the selection, bit 1 as in ng_dot_luq.
module ng_dot_luq_sparse #(
  parameter int Lanes     = 16,
  parameter bit SparseFp4 = 1'b0,  // the sparse vector is FP4, the dense one INT4
  parameter int Cuts      = 0,  // registers: 1 selected + 2 products
  localparam int DotWidth = 11 + $clog2(Lanes)
) (
  input  logic                       clk_i,  // clock of the cuts
  input  logic                       en_i,   // enable of the cuts
  input  logic        [Lanes*4-1:0]  stored_i,
  input  logic        [Lanes*2-1:0]  metadata_i,
  input  logic        [Lanes*8-1:0]  dense_i,
  output logic signed [DotWidth-1:0] dot_o,
  output logic                       error_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 2 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_dot_luq_sparse: Lanes=%0d; expected a power of two, 2 or more", Lanes);
  end
  if (Cuts < 0 || Cuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_dot_luq_sparse: Cuts=%0d; expected 0 to 3", Cuts);
  end
`endif

  logic [Lanes*4-1:0] selected, stored, dense;
  logic               illegal;
  ng_select_2_4 #(
    .Groups(Lanes / 2),
    .Width (4)
  ) u_select (
    .b_i       (dense_i),
    .metadata_i,
    .selected_o(selected),
    .error_o   (illegal)
  );
  ng_cut #(
    .Width (2 * Lanes * 4),
    .Enable(Cuts & ng_sparse_pkg::CutSelected)
  ) u_selected (
    .clk_i,
    .en_i,
    .d_i  ({selected, stored_i}),
    .q_o  ({dense, stored})
  );
  ng_dot_luq #(
    .Lanes(Lanes),
    .Cuts (Cuts >> ng_sparse_pkg::DenseShift)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i  (SparseFp4 ? dense : stored),
    .b_i  (SparseFp4 ? stored : dense),
    .dot_o
  );
  logic error;
  ng_cut #(
    .Width (1),
    .Enable(Cuts & ng_sparse_pkg::CutSelected)
  ) u_illegal (
    .clk_i,
    .en_i,
    .d_i  (illegal),
    .q_o  (error)
  );
  ng_cut #(
    .Width (1),
    .Enable((Cuts >> ng_sparse_pkg::DenseShift) & ng_luq_pkg::DotCutProducts)
  ) u_error (
    .clk_i,
    .en_i,
    .d_i  (error),
    .q_o  (error_o)
  );
endmodule
