// SPDX-License-Identifier: Apache-2.0
// Two of four elements, by a mask with exactly two ones, and where they stood: metadata as in
// docs/sparsity.md.
module ng_compress_group #(
  parameter int Width = 8
) (
  input  logic [4*Width-1:0] a_i,
  input  logic [3:0]         mask_i,
  output logic [2*Width-1:0] values_o,
  output logic [3:0]         metadata_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_compress_group: Width=%0d; expected 1 or more", Width);
  end
`endif

  // The first is none but 3, the second none but 0.
  assign metadata_o[1:0] = mask_i[0] ? 2'd0 : mask_i[1] ? 2'd1 : 2'd2;
  assign metadata_o[3:2] = mask_i[3] ? 2'd3 : mask_i[2] ? 2'd2 : 2'd1;
  assign values_o[0 +: Width] = mask_i[0] ? a_i[0 +: Width] : mask_i[1] ? a_i[Width +: Width]
      : a_i[2*Width +: Width];
  assign values_o[Width +: Width] = mask_i[3] ? a_i[3*Width +: Width]
      : mask_i[2] ? a_i[2*Width +: Width] : a_i[Width +: Width];
endmodule
