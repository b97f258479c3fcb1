// SPDX-License-Identifier: Apache-2.0
// Prunes groups of four to 2:4: the two largest magnitudes stay, the lower index among equals,
// compressed to two values and a nibble of metadata (docs/sparsity.md). Codes are sign and
// magnitude, the sign on top, so magnitudes are ordered as their codes are; NaNs, whose codes are
// above those of all numbers, stay.
module ng_prune_2_4 #(
  parameter int Groups = 4,
  parameter int Width  = 4  // bits of a code
) (
  input  logic [Groups*4*Width-1:0] a_i,
  output logic [Groups*2*Width-1:0] values_o,
  output logic [Groups*4-1:0]       metadata_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Groups < 1 || Groups > 256) begin : gen_check_groups
    $fatal(1, "ng_prune_2_4: Groups=%0d; expected 1 to 256", Groups);
  end
  if (Width < 2 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_prune_2_4: Width=%0d; expected 2 to 32", Width);
  end
`endif

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    logic [4*Width-1:0]     codes;
    logic [4*(Width-1)-1:0] magnitudes;
    logic [3:0]             unused_largest, two;
    assign codes = a_i[g*4*Width +: 4*Width];
    for (genvar i = 0; i < 4; i++) begin : gen_element
      assign magnitudes[i*(Width-1) +: Width-1] = codes[i*Width +: Width-1];
    end
    ng_rank_group #(
      .Width(Width - 1)
    ) u_rank (
      .a_i      (magnitudes),
      .largest_o(unused_largest),
      .two_o    (two)
    );
    ng_compress_group #(
      .Width(Width)
    ) u_compress (
      .a_i       (codes),
      .mask_i    (two),
      .values_o  (values_o[g*2*Width +: 2*Width]),
      .metadata_o(metadata_o[g*4 +: 4])
    );
  end
endmodule
