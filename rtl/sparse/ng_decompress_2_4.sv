// SPDX-License-Identifier: Apache-2.0
// Groups of four from their two stored values and the metadata that say where those stand; zeros
// elsewhere (docs/sparsity.md). A group with illegal metadata is all zeros, and raises the flag.
module ng_decompress_2_4 #(
  parameter int Groups = 4,
  parameter int Width  = 4
) (
  input  logic [Groups*2*Width-1:0] values_i,
  input  logic [Groups*4-1:0]       metadata_i,
  output logic [Groups*4*Width-1:0] a_o,
  // some metadata are illegal: positions that do not ascend
  output logic                      error_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Groups < 1 || Groups > 256) begin : gen_check_groups
    $fatal(1, "ng_decompress_2_4: Groups=%0d; expected 1 to 256", Groups);
  end
  if (Width < 1 || Width > 64) begin : gen_check_width
    $fatal(1, "ng_decompress_2_4: Width=%0d; expected 1 to 64", Width);
  end
`endif

  logic [Groups-1:0] illegal;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    logic [1:0] first, second;
    assign first = metadata_i[g*4 +: 2];
    assign second = metadata_i[g*4+2 +: 2];
    assign illegal[g] = first >= second;
    for (genvar i = 0; i < 4; i++) begin : gen_element
      logic is_first, is_second;
      assign is_first = first == 2'(i) && !illegal[g];
      assign is_second = second == 2'(i) && !illegal[g];
      assign a_o[(g*4+i)*Width +: Width] = ({Width{is_first}} & values_i[g*2*Width +: Width])
                                         | ({Width{is_second}} & values_i[(g*2+1)*Width +: Width]);
    end
  end
  assign error_o = |illegal;
endmodule
