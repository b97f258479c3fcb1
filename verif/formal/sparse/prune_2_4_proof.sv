// SPDX-License-Identifier: Apache-2.0
//
// For all groups of four: ng_prune_2_4 keeps two elements, none of them smaller than one that goes, the lower index among equals;
// its metadata are legal; ng_decompress_2_4 puts them back where they stood, with zeros elsewhere; ng_select_2_4 selects the same
// elements from the group itself. For all nibbles: both flags are set if and only if positions do not ascend; what is
// selected by a legal one stands at its positions. For all masks of two: ng_compress_group stores under legal metadata what
// ng_decompress_2_4 puts back where it stood, with zeros elsewhere.
//
// PRUNE_FALSE expects the higher index among equals.
module prune_2_4_proof #(
  parameter int Width = 5
) (
  input logic [4*Width-1:0] a_i,
  input logic [3:0]         metadata_i,
  input logic [3:0]         mask_i
);
  logic [2*Width-1:0] values, selected, any_selected;
  logic [4*Width-1:0] back, unused_back;
  logic [3:0]         metadata, kept;
  logic               illegal, select_illegal, any_illegal, any_select_illegal, legal;
  ng_prune_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_prune (
    .a_i       (a_i),
    .values_o  (values),
    .metadata_o(metadata)
  );
  ng_decompress_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_decompress (
    .values_i  (values),
    .metadata_i(metadata),
    .a_o       (back),
    .error_o   (illegal)
  );
  ng_select_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_select (
    .b_i       (a_i),
    .metadata_i(metadata),
    .selected_o(selected),
    .error_o   (select_illegal)
  );
  ng_decompress_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_decompress_any (
    .values_i  (values),
    .metadata_i(metadata_i),
    .a_o       (unused_back),
    .error_o   (any_illegal)
  );
  ng_select_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_select_any (
    .b_i       (a_i),
    .metadata_i(metadata_i),
    .selected_o(any_selected),
    .error_o   (any_select_illegal)
  );
  logic [2*Width-1:0] masked_values;
  logic [4*Width-1:0] masked_back;
  logic [3:0]         masked_metadata;
  logic               masked_illegal, two;
  ng_compress_group #(
    .Width(Width)
  ) u_compress (
    .a_i       (a_i),
    .mask_i    (mask_i),
    .values_o  (masked_values),
    .metadata_o(masked_metadata)
  );
  ng_decompress_2_4 #(
    .Groups(1),
    .Width (Width)
  ) u_decompress_masked (
    .values_i  (masked_values),
    .metadata_i(masked_metadata),
    .a_o       (masked_back),
    .error_o   (masked_illegal)
  );
  assign two = mask_i == 4'b0011 || mask_i == 4'b0101 || mask_i == 4'b1001 || mask_i == 4'b0110 || mask_i == 4'b1010
            || mask_i == 4'b1100;
  assign kept = 4'b0001 << metadata[1:0] | 4'b0001 << metadata[3:2];
  assign legal = metadata_i == 4'b0100 || metadata_i == 4'b1000 || metadata_i == 4'b1100 || metadata_i == 4'b1001
              || metadata_i == 4'b1101 || metadata_i == 4'b1110;
  always_comb begin
    assert (!illegal && !select_illegal);
    assert (selected == values);
    assert (any_illegal == !legal);
    assert (any_select_illegal == !legal);
    if (legal) assert (any_selected[0 +: Width] == a_i[metadata_i[1:0]*Width +: Width]);
    if (legal) assert (any_selected[Width +: Width] == a_i[metadata_i[3:2]*Width +: Width]);
    if (two) assert (!masked_illegal);
    for (int i = 0; i < 4; i++) begin
      if (two) assert (masked_back[i*Width +: Width] == (mask_i[i] ? a_i[i*Width +: Width] : '0));
      assert (back[i*Width +: Width] == (kept[i] ? a_i[i*Width +: Width] : '0));
      for (int j = 0; j < 4; j++) begin
        if (kept[i] && !kept[j]) assert (a_i[i*Width +: Width-1] >= a_i[j*Width +: Width-1]);
`ifdef PRUNE_FALSE
        if (kept[i] && !kept[j] && j > i) assert (a_i[i*Width +: Width-1] != a_i[j*Width +: Width-1]);
`else
        if (kept[i] && !kept[j] && j < i) assert (a_i[i*Width +: Width-1] != a_i[j*Width +: Width-1]);
`endif
      end
    end
  end
endmodule
