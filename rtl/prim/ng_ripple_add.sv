// SPDX-License-Identifier: Apache-2.0
// Adder as a chain of full adders, written out: x_i + y_i + carry_i. Combinational.
//
// For structures whose energy is the point: a `+` becomes whatever adder the synthesizer likes,
// this stays a ripple chain.
//
// Width argument: two numbers of Width bits and a bit are at most 2^(Width+1) - 1: sum_o has Width
// + 1 bits.
module ng_ripple_add #(
  parameter int Width = 8
) (
  input  logic [Width-1:0] x_i,
  input  logic [Width-1:0] y_i,
  input  logic             carry_i,
  output logic [Width:0]   sum_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_ripple_add: Width=%0d; expected 1 or more", Width);
  end
`endif

  logic carry;
  always_comb begin
    carry = carry_i;
    sum_o = '0;
    for (int i = 0; i < Width; i++) begin
      sum_o[i] = x_i[i] ^ y_i[i] ^ carry;
      carry = (x_i[i] & y_i[i]) | (carry & (x_i[i] | y_i[i]));
    end
    sum_o[Width] = carry;
  end

endmodule
