// SPDX-License-Identifier: Apache-2.0
// The elements of dense groups of four that stand where the sparse operand has its two stored
// values: what a dense dot product needs to become a sparse one of twice the length
// (docs/sparsity.md). An element may be a code, or several for groups of pairs.
//
//   selected   position first, then position second, of the nibble {second, first}
//   error_o    some metadata are illegal: positions that do not ascend. What is selected then are
//              elements of the same group.
//
// The first position is none but 3, the second none but 0: three ways each, two LUT4 a bit.
module ng_select_2_4 #(
  parameter int Groups = 8,
  parameter int Width  = 4
) (
  input  logic [Groups*4*Width-1:0] b_i,
  input  logic [Groups*4-1:0]       metadata_i,
  output logic [Groups*2*Width-1:0] selected_o,
  output logic                      error_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Groups < 1 || Groups > 256) begin : gen_check_groups
    $fatal(1, "ng_select_2_4: Groups=%0d; expected 1 to 256", Groups);
  end
  if (Width < 1 || Width > 64) begin : gen_check_width
    $fatal(1, "ng_select_2_4: Width=%0d; expected 1 to 64", Width);
  end
`endif

  logic [Groups-1:0] illegal;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    logic [Width-1:0] lane0, lane1, lane2, lane3;
    logic [3:0]       metadata;
    assign {lane3, lane2, lane1, lane0} = b_i[g*4*Width +: 4*Width];
    assign metadata = metadata_i[g*4 +: 4];
    assign selected_o[g*2*Width +: Width] = metadata[1] ? lane2 : metadata[0] ? lane1 : lane0;
    assign selected_o[(g*2+1)*Width +: Width] = metadata[2] ? (metadata[3] ? lane3 : lane1) : lane2;
    assign illegal[g] = metadata[1:0] >= metadata[3:2];
  end
  assign error_o = |illegal;
endmodule
