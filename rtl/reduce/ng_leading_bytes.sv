// SPDX-License-Identifier: Apache-2.0
// Of a two's-complement number that comes a byte a cycle, the lowest first, the two bytes where its
// magnitude begins, and whether a byte below them is not zero.
//
// From some byte on all are copies of the sign. Whenever a byte is not such a copy of the byte
// before, these may begin with it: the two bytes before it are kept. What is kept at the end stands
// before the first of the copies. Its upper byte is not a copy, so with the sign s the magnitude
// ({bytes_o} ^ s) + (s and nothing below) is 2^8 to 2^16, or 0 for the number zero.
//
// start_i: byte_i has no meaning yet; the byte in the cycle behind it is the lowest. number_i
// numbers the bytes and leaves with them.
module ng_leading_bytes #(
  parameter int NumberBits = 6
) (
  input  logic                  clk_i,
  input  logic                  start_i,
  input  logic [7:0]            byte_i,
  input  logic [NumberBits-1:0] number_i,
  output logic [15:0]           bytes_o,
  output logic                  below_o,   // a byte below these is not zero
  output logic [NumberBits-1:0] number_o   // of the byte above these
);
  logic [7:0] last_q, before_q;
  logic       below_q, copy;
  assign copy = (byte_i == last_q) & ((&byte_i) | ~(|byte_i));
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      last_q   <= '0;
      before_q <= '0;
      below_q  <= 1'b0;
      bytes_o  <= '0;
      below_o  <= 1'b0;
      number_o <= '0;
    end else begin
      last_q   <= byte_i;
      before_q <= last_q;
      below_q  <= below_q | (|before_q);
      if (!copy) begin
        bytes_o  <= {last_q, before_q};
        below_o  <= below_q;
        number_o <= number_i;
      end
    end
  end
endmodule
