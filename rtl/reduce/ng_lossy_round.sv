// SPDX-License-Identifier: Apache-2.0
// Rounds what ng_leading_bytes keeps of a sum times a reciprocal to BF16, to nearest even. A
// register behind the magnitude, one behind its normalization: the code is that of the operands two
// cycles before.
//
// The sum is in units of 2^-134, the reciprocal in units of 2^-(23 + exp_i), and the bytes end 16
// places below the byte of their number: the magnitude's top bit, of weight 2^16, has the exponent
// 8 number - 157 - exp_i.
module ng_lossy_round (
  input  logic        clk_i,
  input  logic        sign_i,
  input  logic        nan_i,
  input  logic [15:0] bytes_i,
  input  logic        below_i,   // something below the bytes is not zero
  input  logic [5:0]  number_i,  // of the byte above these; 0 is the lowest
  input  logic [2:0]  exp_i,
  output logic [15:0] code_o
);
  // ---- the magnitude, 2^8 to 2^16 or 0
  logic [16:0] magnitude_q;
  logic        sign_1_q, nan_1_q, below_q, complete;
  assign complete = sign_i & ~below_i;
  always_ff @(posedge clk_i) begin
    magnitude_q <= {1'b0, bytes_i ^ {16{sign_i}}} + 17'(complete);
    sign_1_q    <= sign_i & ~nan_i;
    nan_1_q     <= nan_i;
    below_q     <= below_i;
  end

  // ---- normalized by 8 places at most
  logic [16:0] by_8, by_4, by_2, by_1;
  logic        shift_8, shift_4, shift_2, shift_1;
  assign shift_8 = ~(|magnitude_q[16:9]);
  assign by_8 = shift_8 ? magnitude_q << 8 : magnitude_q;
  assign shift_4 = ~(|by_8[16:13]);
  assign by_4 = shift_4 ? by_8 << 4 : by_8;
  assign shift_2 = ~(|by_4[16:15]);
  assign by_2 = shift_2 ? by_4 << 2 : by_4;
  assign shift_1 = ~by_2[16];
  assign by_1 = shift_1 ? by_2 << 1 : by_2;

  logic signed [9:0] exp_q;
  logic [17:0]       sig_q;
  logic              sign_2_q, nan_2_q;
  always_ff @(posedge clk_i) begin
    sig_q    <= {by_1, below_q};
    exp_q    <= {1'b0, number_i, 3'b000} - 10'd157 - 10'(exp_i)
        - 10'({shift_8, shift_4, shift_2, shift_1});
    sign_2_q <= sign_1_q;
    nan_2_q  <= nan_1_q;
  end

  // A mean is at most the largest number, and at least 2^-133 / 64.
  ng_round_pack #(
    .Bits    (16),
    .ExpBits (8),
    .ManBits (7),
    .SigWidth(18),
    .ExpWidth(10),
    .ExpLo   (-139),
    .ExpHi   (127),
    .RandBits(1)
  ) u_round (
    .clk_i,
    .en_i  (1'b1),
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (nan_2_q),
    .inf_i (1'b0),
    .sign_i(sign_2_q),
    .exp_i (exp_q),
    .sig_i (sig_q),
    .rand_i(1'b0),
    .code_o(code_o)
  );
endmodule
