// SPDX-License-Identifier: Apache-2.0
// Product of a number without sign and a two's complement one, lowest digits of b first: a digit is
// two bits of b and what the digits below carry, 0, 1, 2, -1 with a carry for 3, or 0 with one for
// 4. So a multiple of a costs a LUT a bit, and its sum with the rows above another one.
// Combinational.
//
// Width argument: the sum of a row is at most 2 a and a quarter of that of the row above, 8/3 a in
// all, and at least -4/3 a: AWidth + 3 bits with sign. What the last digit carries is of the weight
// of b's sign or beyond, and falls off, as b's bits are those of its sign there.
module ng_row_product #(
  parameter int AWidth = 24,
  parameter int BWidth = 15
) (
  input  logic        [AWidth-1:0]        a_i,
  input  logic signed [BWidth-1:0]        b_i,
  output logic signed [AWidth+BWidth-1:0] product_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (AWidth < 1) begin : gen_check_a_width
    $fatal(1, "ng_row_product: AWidth=%0d; expected 1 or more", AWidth);
  end
  if (BWidth < 2) begin : gen_check_b_width
    $fatal(1, "ng_row_product: BWidth=%0d; expected 2 or more", BWidth);
  end
`endif

  localparam int Rows = (BWidth + 1) / 2;
  logic [2*Rows-1:0] digits;
  assign digits = (2*Rows)'(b_i);
  for (genvar i = 0; i < Rows; i++) begin : gen_row
    logic              carry_in, carry, two, one, unused_half;  // two and one are 3 for -1
    logic [AWidth+2:0] multiple, above, sum;
    if (i == 0) begin : gen_first
      assign carry_in = 1'b0;
      assign above = '0;
    end else begin : gen_next
      assign carry_in = gen_row[i-1].carry;
      assign above = {{2{gen_row[i-1].sum[AWidth+2]}}, gen_row[i-1].sum[AWidth+2:2]};
    end
    assign carry = digits[2*i+1] & (digits[2*i] | carry_in);
    assign two = digits[2*i+1] ^ (digits[2*i] & carry_in);
    assign one = digits[2*i] ^ carry_in;
    assign multiple = two ? (one ? {3'b111, ~a_i} : {2'b0, a_i, 1'b0})
        : {3'b0, a_i} & {AWidth + 3{one}};
    assign {sum, unused_half} = {above, 1'b1} + {multiple, two & one};
    if (i == Rows - 1) begin : gen_last
      localparam int Left = AWidth + BWidth - 2 * i;
      assign product_o[2*i +: Left] = sum[Left-1:0];
      logic unused;
      assign unused = ^{carry, sum[AWidth+2:Left]};
    end else begin : gen_low
      assign product_o[2*i +: 2] = sum[1:0];
    end
  end
endmodule
