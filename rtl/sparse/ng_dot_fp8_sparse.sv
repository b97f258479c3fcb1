// SPDX-License-Identifier: Apache-2.0
// Exact dot product of a 2:4 sparse FP8 vector, of which Lanes elements are stored, and a dense one
// of 2 * Lanes. Metadata select the elements of the dense one that are multiplied, in front of
// ng_dot_fp8; the format of each vector is chosen at run time if FormatSet has both. Which vector
// stands left does not matter to a product, so the sparse one may be either of a GEMM's.
//
//   term_o, nan_o, pinf_o, ninf_o   as of ng_dot_fp8, of the selected elements
//   error_o                         illegal metadata; the others have no meaning then, but are of
//                                   elements of the same groups
//
// Cuts (docs/cuts.md): bit 0 behind the selection, the others as in ng_dot_fp8.
module ng_dot_fp8_sparse #(
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::Fp8,  // 2 E4M3 + 4 E5M2
  parameter int Cuts      = 0,  // registers: 1 selected + 2 product + 4 lanes + 8 sum
  localparam int TermWidth = ((FormatSet == ng_format_set_pkg::E4m3) ? 37 : 65) + $clog2(Lanes)
) (
  input  logic                        clk_i,         // clock of the cuts
  input  logic                        en_i,          // enable of the cuts
  input  logic        [Lanes*8-1:0]   stored_i,
  input  logic        [Lanes*2-1:0]   metadata_i,
  input  logic        [Lanes*16-1:0]  dense_i,
  // 0: E4M3, 1: E5M2; ignored if the set has only one
  input  logic                        stored_fmt_i,
  input  logic                        dense_fmt_i,
  output logic signed [TermWidth-1:0] term_o,
  output logic                        nan_o,
  output logic                        pinf_o,
  output logic                        ninf_o,
  output logic                        error_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 2 || Lanes % 2 != 0) begin : gen_check_lanes
    $fatal(1, "ng_dot_fp8_sparse: Lanes=%0d; expected a multiple of 2, 2 or more", Lanes);
  end
  if (FormatSet == 0 || (FormatSet & ~ng_format_set_pkg::Fp8) != 0) begin : gen_check_format_set
    $fatal(1, "ng_dot_fp8_sparse: FormatSet=%0d; expected 2 to 6, a multiple of 2 (2 E4M3 + 4 E5M2)",
           FormatSet);
  end
  if (Cuts < 0 || Cuts > 15) begin : gen_check_cuts
    $fatal(1, "ng_dot_fp8_sparse: Cuts=%0d; expected 0 to 15", Cuts);
  end
`endif

  logic [Lanes*8-1:0] selected, stored, dense;
  logic               illegal, stored_fmt, dense_fmt;
  ng_select_2_4 #(
    .Groups(Lanes / 2),
    .Width (8)
  ) u_select (
    .b_i       (dense_i),
    .metadata_i,
    .selected_o(selected),
    .error_o   (illegal)
  );
  ng_cut #(
    .Width (2 * Lanes * 8 + 2),
    .Enable(Cuts & ng_sparse_pkg::CutSelected)
  ) u_selected (
    .clk_i,
    .en_i,
    .d_i  ({selected, stored_i, dense_fmt_i, stored_fmt_i}),
    .q_o  ({dense, stored, dense_fmt, stored_fmt})
  );
  ng_dot_fp8 #(
    .Lanes    (Lanes),
    .FormatSet(FormatSet),
    .Cuts     (Cuts >> ng_sparse_pkg::DenseShift)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i    (stored),
    .b_i    (dense),
    .a_fmt_i(stored_fmt),
    .b_fmt_i(dense_fmt),
    .term_o,
    .nan_o,
    .pinf_o,
    .ninf_o
  );
  for (genvar c = 0; c < 4; c++) begin : gen_cut
    logic error_d, error;
    if (c == 0) begin : gen_first
      assign error_d = illegal;
    end else begin : gen_next
      assign error_d = gen_cut[c-1].error;
    end
    ng_cut #(
      .Width (1),
      .Enable((Cuts >> c) & 1)
    ) u_error (
      .clk_i,
      .en_i,
      .d_i  (error_d),
      .q_o  (error)
    );
  end
  assign error_o = gen_cut[3].error;
endmodule
