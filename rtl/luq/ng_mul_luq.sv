// SPDX-License-Identifier: Apache-2.0
//
// LUQ's product of an INT4 and an FP4 [1,3,0] number, without a multiplier (arXiv 2112.10769,
// MF-BPROP).
//
//   Shape 0 fixed   product_o = value(a_i) value(b_i), an integer in units of alpha: the INT4
//                   number, negated if b is negative, shifted left by b's exponent.
//   Shape 1 fp7     the same value in FP7 [1,4,2], (1 + m/4) 2^(E-1): |a| = (1 + m/4) 2^k gives the
//                   mantissa and what b's exponent grows by. Exact for every pair; a zero has the
//                   sign that the signs of a and b give.
//   Shape 2 split   the same value as a sign, b's exponent field e (3 bits) and the significand |a|
//                   (4 bits), which is 0 if b is: |a| 2^(e-1). No exponents are added and nothing
//                   is shifted: for accumulators that align anyway.
//
// Width argument: |a| <= 8 and |b| <= 2^6, so the integer is within +-512, 11 bits with its sign. E
// = e + k <= 7 + 3 = 10. |a| <= 8 takes 4 bits.
//
// a shifted by the exponent field e and down by one is a 2^(e-1) for e > 0; for e = 0, which is
// zero, a is cleared first.
module ng_mul_luq #(
  parameter int Shape = 0,  // 0 fixed, 1 fp7, 2 split
  localparam int ProductWidth = Shape == 0 ? 11 : Shape == 1 ? 7 : 8
) (
  input  logic [3:0]              a_i,  // INT4, two's complement
  input  logic [3:0]              b_i,  // FP4 [1,3,0]: sign, exponent field
  output logic [ProductWidth-1:0] product_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Shape < 0 || Shape > 2) begin : gen_check_shape
    $fatal(1, "ng_mul_luq: Shape=%0d; expected 0 (fixed), 1 (fp7) or 2 (split)", Shape);
  end
`endif

  logic some;
  assign some = |b_i[2:0];

  if (Shape == 0) begin : gen_fixed
    logic [4:0]  operand;
    logic [11:0] shifted;
    logic        unused_half;
    assign operand = ({a_i[3], a_i} ^ {5{b_i[3]}}) + {4'd0, b_i[3]};
    assign shifted = {{7{operand[4]}}, operand} << b_i[2:0];
    assign product_o = shifted[11:1] & {11{some}};
    assign unused_half = shifted[0];
  end else if (Shape == 1) begin : gen_fp7
    logic [1:0] grow, mantissa;  // k and m of |a| = (1 + m/4) 2^k
    logic [3:0] exponent;
    always_comb begin
      case (a_i)
        4'h2, 4'hE: {grow, mantissa} = 4'b01_00;
        4'h3, 4'hD: {grow, mantissa} = 4'b01_10;
        4'h4, 4'hC: {grow, mantissa} = 4'b10_00;
        4'h5, 4'hB: {grow, mantissa} = 4'b10_01;
        4'h6, 4'hA: {grow, mantissa} = 4'b10_10;
        4'h7, 4'h9: {grow, mantissa} = 4'b10_11;
        4'h8:       {grow, mantissa} = 4'b11_00;
        default:    {grow, mantissa} = 4'b00_00;
      endcase
    end
    assign exponent = {1'b0, b_i[2:0]} + {2'b0, grow};
    assign product_o = {a_i[3] ^ b_i[3], {exponent, mantissa} & {6{some & (|a_i)}}};
  end else begin : gen_split
    logic [3:0] magnitude;
    assign magnitude = (a_i ^ {4{a_i[3]}}) + {3'd0, a_i[3]};
    assign product_o = {a_i[3] ^ b_i[3], b_i[2:0], magnitude & {4{some}}};
  end
endmodule
