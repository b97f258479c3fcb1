// SPDX-License-Identifier: Apache-2.0
// Exact dot product of a 2:4 sparse NVFP4 block and a dense one: 32 elements each, of which the
// sparse one stores 16. Metadata select the 16 elements of the dense one that are multiplied, in
// front of ng_dot_nvfp4; each block has one scale.
//
//   term_o   as of ng_dot_nvfp4, a sum of 16 products
//   error_o  illegal metadata; term_o has no meaning then, but is a sum of 16 products too
//
// With Pairs two pairs of neighbours stay of groups of eight (4:8 by pairs): half the metadata.
//
// Cuts (docs/cuts.md): bit 0 behind the selection, the others as in ng_dot_nvfp4.
module ng_dot_nvfp4_sparse #(
  parameter bit Pairs = 1'b0,  // 4:8 by pairs instead of 2:4
  // registers: 1 selected + 2 nodes + 4 significand + 8 product + 16 sum + 32 term
  parameter int Cuts  = 0,
  localparam int Width  = Pairs ? 8 : 4,
  localparam int Groups = 32 / Width
) (
  input  logic                clk_i,  // clock of the cuts
  input  logic                en_i,   // enable of the cuts
  input  logic [63:0]         a_i,
  input  logic [Groups*4-1:0] metadata_i,
  input  logic [127:0]        b_i,
  input  logic [7:0]          a_scale_i,
  input  logic [7:0]          b_scale_i,
  output logic signed [47:0]  term_o,
  output logic                nan_o,
  output logic                error_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Cuts < 0 || Cuts > 63) begin : gen_check_cuts
    $fatal(1, "ng_dot_nvfp4_sparse: Cuts=%0d; expected 0 to 63", Cuts);
  end
`endif

  logic [63:0] selected, a_codes, b_codes;
  logic [7:0]  a_scale, b_scale;
  logic        illegal;
  ng_select_2_4 #(
    .Groups(Groups),
    .Width (Width)
  ) u_select (
    .b_i,
    .metadata_i,
    .selected_o(selected),
    .error_o   (illegal)
  );
  ng_cut #(
    .Width (144),
    .Enable(Cuts & ng_sparse_pkg::CutSelected)
  ) u_selected (
    .clk_i,
    .en_i,
    .d_i  ({selected, a_i, b_scale_i, a_scale_i}),
    .q_o  ({b_codes, a_codes, b_scale, a_scale})
  );
  ng_dot_nvfp4 #(
    .Cuts(Cuts >> ng_sparse_pkg::DenseShift)
  ) u_dot (
    .clk_i,
    .en_i,
    .a_i      (a_codes),
    .b_i      (b_codes),
    .a_scale_i(a_scale),
    .b_scale_i(b_scale),
    .term_o,
    .nan_o
  );
  for (genvar c = 0; c < 6; c++) begin : gen_cut
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
  assign error_o = gen_cut[5].error;
endmodule
