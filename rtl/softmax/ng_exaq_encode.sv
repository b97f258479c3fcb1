// SPDX-License-Identifier: Apache-2.0
// The number of a thermometer: how many of its bits are high, if none is high above a low one. Bit
// b of the number is high where, of the thermometer's places that are multiples of 2^b, the last
// one reached is odd: an "or" over the odd ones j of "j 2^b is reached and (j + 1) 2^b is not".
module ng_exaq_encode #(
  parameter int Bits = 2,  // of a code
  localparam int Steps = (1 << Bits) - 1
) (
  input  logic [Steps-1:0] reached_i,
  output logic [Bits-1:0]  code_o
);
  logic [Steps+1:0] places;  // place 0 is reached, and none beyond the last
  assign places = {1'b0, reached_i, 1'b1};
  for (genvar b = 0; b < Bits; b++) begin : gen_bit
    localparam int Terms = 1 << (Bits - 1 - b);
    logic [Terms-1:0] terms;
    for (genvar i = 0; i < Terms; i++) begin : gen_term
      assign terms[i] = places[(2*i+1) << b] & ~places[(2*i+2) << b];
    end
    assign code_o[b] = |terms;
  end
  logic unused_place;
  assign unused_place = places[0];
endmodule
