// SPDX-License-Identifier: Apache-2.0
// Adds 32 signed magnitudes and a number that is not negative, at one weight: what ng_mma_sum and
// ng_mma_rvbna have behind their shifts. Combinational.
//
//   sum_o = start_i + sum_i (-1)^negative_i[i] * terms_i[i]
//
// A negative term -m comes as ~m and owes a 1. An adder of level l, which has 2^l terms below it,
// takes the 1 that the last term of its left half may owe; the adder of the start takes that of the
// last term.
//
// Width argument: 33 numbers of Width + 1 bits with their signs have Width + 7; see ng_sum_tree.
module ng_mma_tree #(
  parameter int Width = 27,
  localparam int SumWidth = Width + 7
) (
  input  logic        [32*Width-1:0] terms_i,     // magnitudes, term 0 in the low bits
  input  logic        [31:0]         negative_i,  // signs of terms_i
  input  logic        [Width-1:0]    start_i,     // what is added to them
  output logic signed [SumWidth-1:0] sum_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_mma_tree: Width=%0d; expected 1 or more", Width);
  end
`endif

  localparam int Lanes = 32;
  localparam int Levels = 5;
  logic [(Lanes+1)*(Width+1)-1:0] addends;
  logic [Lanes-1:0]               owed;
  for (genvar i = 0; i < Lanes; i++) begin : gen_addend
    assign addends[(Width+1)*i+:Width+1] =
        {1'b0, terms_i[Width*i+:Width]} ^ {Width + 1{negative_i[i]}};
  end
  assign addends[(Width+1)*Lanes+:Width+1] = {1'b0, start_i};
  for (genvar l = 1; l <= Levels; l++) begin : gen_owed
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_adder
      assign owed[Lanes-(Lanes>>(l-1))+i] = negative_i[(i<<l)+(1<<(l-1))-1];
    end
  end
  assign owed[Lanes-1] = negative_i[Lanes-1];
  ng_sum_tree #(
    .Operands(Lanes + 1),
    .Width   (Width + 1)
  ) u_sum (
    .x_i    (addends),
    .carry_i(owed),
    .sum_o
  );
endmodule
