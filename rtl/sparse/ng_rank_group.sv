// SPDX-License-Identifier: Apache-2.0
// Four magnitudes in order: which is the largest and which are the two largest, the lower index
// among equals. Six comparisons; an element is the largest if it stands before three others, and of
// the two largest if before two at least.
module ng_rank_group #(
  parameter int Width = 7
) (
  input  logic [4*Width-1:0] a_i,
  output logic [3:0]         largest_o,  // one bit
  output logic [3:0]         two_o       // two bits
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_rank_group: Width=%0d; expected 1 or more", Width);
  end
`endif

  function automatic logic two_of(logic one, logic other, logic third);
    two_of = (one & other) | (one & third) | (other & third);
  endfunction

  logic [Width-1:0] mag0, mag1, mag2, mag3;
  // the first stands before the second
  logic             before_01, before_02, before_03, before_12, before_13, before_23;
  assign {mag3, mag2, mag1, mag0} = a_i;
  assign before_01 = mag0 >= mag1;
  assign before_02 = mag0 >= mag2;
  assign before_03 = mag0 >= mag3;
  assign before_12 = mag1 >= mag2;
  assign before_13 = mag1 >= mag3;
  assign before_23 = mag2 >= mag3;
  assign largest_o[0] = before_01 & before_02 & before_03;
  assign largest_o[1] = ~before_01 & before_12 & before_13;
  assign largest_o[2] = ~before_02 & ~before_12 & before_23;
  assign largest_o[3] = ~before_03 & ~before_13 & ~before_23;
  assign two_o[0] = two_of(before_01, before_02, before_03);
  assign two_o[1] = two_of(~before_01, before_12, before_13);
  assign two_o[2] = two_of(~before_02, ~before_12, before_23);
  assign two_o[3] = two_of(~before_03, ~before_13, ~before_23);
endmodule
