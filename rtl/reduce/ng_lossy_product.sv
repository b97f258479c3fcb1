// SPDX-License-Identifier: Apache-2.0
// A byte times 24 bits, as two products of four bits: byte_i * factor_i = low_o + 16 high_o, which
// leaves the last addition to what stands behind a register. Combinational, without a multiplier.
module ng_lossy_product (
  input  logic [7:0]  byte_i,
  input  logic [23:0] factor_i,
  output logic [27:0] low_o,
  output logic [27:0] high_o
);
  for (genvar i = 0; i < 2; i++) begin : gen_half
    logic [3:0]  digit;
    logic [23:0] one, two, four, eight;
    logic [25:0] even, odd;
    logic [27:0] sum;
    assign digit = byte_i[4*i +: 4];
    assign one = factor_i & {24{digit[0]}};
    assign two = factor_i & {24{digit[1]}};
    assign four = factor_i & {24{digit[2]}};
    assign eight = factor_i & {24{digit[3]}};
    assign even = {2'b00, one} + {1'b0, two, 1'b0};
    assign odd = {2'b00, four} + {1'b0, eight, 1'b0};
    assign sum = {2'b00, even} + {odd, 2'b00};
  end
  assign low_o = gen_half[0].sum;
  assign high_o = gen_half[1].sum;
endmodule
