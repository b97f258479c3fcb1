// SPDX-License-Identifier: Apache-2.0
//
// One step of the standard datapath of LUQ's product (ng_mul_luq_standard), to be counted by itself (synth/luq_gates.py) beside the
// rows of the paper's table. Together they are that datapath.
//
//   Part 0 cast of INT4, exponent    1 cast of INT4, mantissa    2 significand product    3 sum of exponents    4 sign
//        5 normalization             6 rounding                  7 exponent behind both, largest number         8 zero
module ng_luq_part #(
  parameter int Part = 0
) (
  input  logic [7:0] x_i,
  input  logic [7:0] y_i,
  output logic [7:0] z_o
);
  logic [3:0] a;
  assign a = x_i[3:0];
  if (Part == 0 || Part == 1) begin : gen_cast
    logic [3:0] exponent;
    logic [1:0] mantissa;
    always_comb begin
      case (a)
        4'h0:       {exponent, mantissa} = 6'b0000_00;
        4'h1, 4'hF: {exponent, mantissa} = 6'b0001_00;
        4'h2, 4'hE: {exponent, mantissa} = 6'b0010_00;
        4'h3, 4'hD: {exponent, mantissa} = 6'b0010_10;
        4'h4, 4'hC: {exponent, mantissa} = 6'b0011_00;
        4'h5, 4'hB: {exponent, mantissa} = 6'b0011_01;
        4'h6, 4'hA: {exponent, mantissa} = 6'b0011_10;
        4'h7, 4'h9: {exponent, mantissa} = 6'b0011_11;
        default:    {exponent, mantissa} = 6'b0100_00;
      endcase
    end
    assign z_o = Part == 0 ? {4'd0, exponent} : {6'd0, mantissa};
  end else if (Part == 2) begin : gen_multiply
    assign z_o = {2'd0, {4'd1, x_i[1:0]} * {4'd1, y_i[1:0]}};
  end else if (Part == 3) begin : gen_add
    assign z_o = {3'd0, {1'b0, x_i[3:0]} + {1'b0, y_i[3:0]}};
  end else if (Part == 4) begin : gen_sign
    assign z_o = {7'd0, x_i[0] ^ y_i[0]};
  end else if (Part == 5) begin : gen_normalize
    // The product; mantissa, half, rest.
    assign z_o = {4'd0, x_i[5] ? x_i[4:3] : x_i[3:2], x_i[5] ? x_i[2] : x_i[1], (x_i[5] & x_i[1]) | x_i[0]};
  end else if (Part == 6) begin : gen_round
    // Mantissa, half, rest; mantissa with its carry.
    assign z_o = {5'd0, {1'b0, x_i[3:2]} + {2'd0, x_i[1] & (x_i[0] | x_i[2])}};
  end else if (Part == 7) begin : gen_exponent
    // The sum; y_i: the product's top bit, the carry of the rounding. Less the bias of 1 where the product is below 2.
    logic [4:0] exponent;
    assign exponent = x_i[4:0] - {4'd0, ~y_i[0]} + {4'd0, y_i[1]};
    assign z_o = {3'd0, exponent[4], exponent[3:0] | {4{exponent[4]}}};
  end else begin : gen_zero
    assign z_o = {2'd0, x_i[5:0] & {6{(|y_i[3:0]) & (|y_i[7:4])}}};
  end
endmodule
