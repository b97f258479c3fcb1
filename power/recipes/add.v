// SPDX-License-Identifier: Apache-2.0
// Technology map of Yosys: `+` as a ripple chain, each bit written as a full adder is in full_adder.v.
// What is constant, unused or a half adder is left to the passes behind. Nobody uses the carry out of
// the last bit, so it has none.
(* techmap_celltype = "$add" *)
module ng_ripple (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire [Y_WIDTH-1:0] x, y, carry;
  \$pos #(.A_SIGNED(A_SIGNED && B_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) u_x (.A(A), .Y(x));
  \$pos #(.A_SIGNED(A_SIGNED && B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) u_y (.A(B), .Y(y));
  assign carry[0] = 1'b0;

  genvar i;
  generate
    for (i = 0; i < Y_WIDTH; i = i + 1) begin : gen_bit
      assign Y[i] = x[i] ^ y[i] ^ carry[i];
      if (i < Y_WIDTH - 1) begin : gen_carry
        assign carry[i+1] = (x[i] & y[i]) | (carry[i] & (x[i] | y[i]));
      end
    end
  endgenerate
endmodule
