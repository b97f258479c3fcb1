// SPDX-License-Identifier: Apache-2.0
// What ng_quantize_te knows of a tensor: the products of its factor of block scales, and for each
// of the 127 block scales s seven thresholds, the largest BF16 magnitudes that dialect `te` rounds
// below the E2M1 codes 1 to 7. Made once a tensor from its largest magnitude A, one step of FP32
// after the other, each rounded to nearest even:
//
//   S = min(fl(2688 / A), FLT_MAX), 1 if A is 0;  m = fl(S fl(1/6));  d = fl(1 / S)
//   a = 1 to 255/128:  fl(a m), of which a block scale needs five bits and whether there are others
//   s = 0 to 126:  e = min(fl(1 / fl(s d)), FLT_MAX)
//
// fl(x e), rounded to E2M1, is above the midpoint t of two codes if x e > t + u/2, where the even
// code is below, and not below t if x e >= t - u/2, where it is above; u is the unit of FP32 in the
// last place of t, whose mantissa is even, so that ties of fl go to t. With T the right side, the
// threshold is the largest BF16 x with x e <= T or x e < T: a quotient of 8 bits, T / e, rounded
// down, where x e = T is told from less by comparing with ">" instead of ">=". Midpoints are 1,
// 1.5, 1.25 and 1.75 times powers of two, so there are four quotients a scale; codes of subnormal
// thresholds are shifted.
//
// Quotients of FP32 are ng_div_fp32's; products are added up a bit a cycle, all with S and m beside
// the division 1 / S. A subnormal product is shifted down a place a cycle, as by zeros of the other
// factor.
//
// Width argument: e has 24 bits, twice it, as compared, 25, as T has. The rest is at most twice
// that at each step (the rest after ">" may be all of it, doubled): 26 bits. Exponents: S is 2^-117
// to 2^128, d 2^-128 to 2^117, s d 2^-137 to 2^126, e 2^-126 to 2^128. Significands of a and m are
// below 2 by 2^-7 and more, so their product does not round to 4.
// A biased exponent of a threshold is 254 less that of e, 1 less for a quotient below 1, 2 less or
// more for the midpoint: -3 to 255.
module ng_te_table (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,    // a tensor begins
  output logic         ready_o,    // no table is being made
  input  logic [30:0]  amax_i,     // A, FP32 without its sign
  output logic         filled_o,   // the table is complete, and A was a number
  output logic [7:0]   m_exp_o,    // biased exponent of m
  input  logic         re_i,
  input  logic [6:0]   a_man_i,    // of a, the fraction; read with re_i
  // of the a read last: whether fl(a m) is 2 or more, four bits of fraction, whether there are
  // others
  output logic [5:0]   product_o,
  input  logic [6:0]   scale_i,    // s; read with re_i
  // of the s read last, complements: that of the threshold below code 1 in the low bits
  output logic [104:0] below_no
);

  localparam logic [31:0] Most = 32'h45280000;  // 2688
  localparam logic [31:0] One = 32'h3F800000;
  localparam logic [23:0] Sixth = 24'hAAAAAB;   // fl(1/6) is this times 2^-26

  typedef enum logic [2:0] {Idle, Encode, Factor, Decode, Row, Multiply, Reciprocal,
      Quotient} state_e;
  state_e state_q;
  logic   emit_q;  // in state Quotient: it is complete
  logic   zero_q, start_q;
  logic   numbers_q;      // products a m are made; later those of s and d
  logic [6:0] scale_q;    // s, or the fraction of a
  assign ready_o = state_q == Idle;

  // ---- FP32 quotients: 2688 / A, 1 / S, 1 / fl(s d)
  logic [30:0] divisor_q;
  logic [30:0] quotient;
  logic        unused_ready, unused_sign, divided, multiplied;
  ng_div_fp32 #(
    .Saturate(1)
  ) u_div (
    .clk_i,
    .rst_ni,
    .valid_i(start_q),
    .ready_o(unused_ready),
    .a_i    (state_q == Encode ? Most : One),
    .b_i    ({1'b0, divisor_q}),
    .valid_o(divided),
    .ready_i(~numbers_q),  // 1 / S takes longer than S fl(1/6)
    .y_o    ({unused_sign, quotient})
  );
  logic [30:0] s_enc;
  assign s_enc = zero_q ? One[30:0] : quotient;

  // ---- FP32 products: operand_q times factor_q, whose lowest bit is next
  logic [23:0]       operand_q, factor_q, sum_q;
  // below sum_q, the lowest one sticky; old ones stay for S fl(1/6), which is no tie for any S
  logic [3:0]        low_q;
  logic [4:0]        steps_q;
  logic signed [8:0] x_exp_q;
  // the second one: of a product whose highest bit is zero
  logic signed [8:0] factor_exp, product_exp;
  logic              subnormal;
  logic [24:0]       sum;
  logic [27:0]       product;
  logic [30:0]       partial;
  logic              unused_p_sign;
  assign multiplied = steps_q == '0;
  assign sum = {1'b0, sum_q} + (factor_q[0] ? {1'b0, operand_q} : 25'd0);
  assign product = {sum_q, low_q};

  // s as four bits with the highest set, and its exponent; fl(1/6) is from 2^-3 on.
  logic [3:0] factor;
  always_comb begin
    factor = {1'b1, scale_q[2:0]};
    factor_exp = $signed({5'b0, scale_q[6:3]}) - 9'sd7;
    if (scale_q[6:3] == '0) begin
      unique casez (scale_q[2:0])
        3'b1??:  begin factor = {scale_q[2:0], 1'b0}; factor_exp = -9'sd7; end
        3'b01?:  begin factor = {scale_q[1:0], 2'b0}; factor_exp = -9'sd8; end
        default: begin factor = {scale_q[0], 3'b0};   factor_exp = -9'sd9; end
      endcase
    end
    if (state_q == Factor || numbers_q) factor_exp = -9'sd3;
  end
  assign product_exp = x_exp_q + factor_exp;
  assign subnormal = product_exp < -9'sd126;
  ng_round_pack #(
    .Overflow(0),
    .SigWidth(28),
    .ExpWidth(9),
    .ExpLo   (-126),
    .ExpHi   (126),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (1'b0),
    .inf_i (1'b0),
    .sign_i(1'b0),
    .exp_i (subnormal ? -9'sd126 : product_exp + $signed({8'b0, product[27]})),
    .sig_i (product[27] | subnormal ? product : {product[26:0], 1'b0}),
    .rand_i(1'b0),
    .code_o({unused_p_sign, partial})
  );

  // x_exp_q is such that the exponent of a product from 1 on is even.
  ng_ram #(
    .Width(6),
    .Depth(128)
  ) u_products (
    .clk_i,
    .we_i   (numbers_q),  // what is written before a product is complete is written again with it
    .waddr_i(scale_q),
    .wdata_i({partial[23:19], |partial[18:0]}),
    .re_i,
    .raddr_i(a_man_i),
    .rdata_o(product_o)
  );

  // ---- thresholds
  logic [23:0]       entry_q;
  logic [7:0]        exp_q;     // biased, of quotients of 1 or more
  logic              under_q;   // the quotient is below 1
  logic [6:0]        column_q;  // one of them: the threshold that the quotient is for
  logic [25:0]       rest_q, less;
  logic [7:0]        quotient_q;
  logic signed [8:0] exponent;
  logic              one, strict;
  logic [24:0]       target;  // T of the quotient that begins, times 2^24
  logic [7:0]        shifted;
  logic [14:0]       code;
  logic signed [8:0] offset;
  assign strict = column_q[1] | column_q[5];  // the first column of a quotient
  assign less   = rest_q - {1'b0, entry_q, 1'b0};
  assign one    = ~less[25] & ~(strict & ~(|less));
  assign target = column_q[0] ? 25'h17FFFFF                     // 1.5 less half a unit
                // 1.25 and half a unit, 1.75 less half a unit
                : column_q[1] ? 25'h1400001 : 25'h1BFFFFF;
  assign offset = column_q[0] ? -9'sd2                          // 0.25
                : column_q[1] ? -9'sd1                          // 0.75
                : column_q[4] ? 9'sd2                           // 5
                : column_q[3] | column_q[6] ? 9'sd1 : 9'sd0;    // 2.5 and 3.5; 1.25 and 1.75
  assign exponent = $signed({1'b0, exp_q}) + offset - $signed({8'b0, under_q});
  assign shifted  = exponent[1:0] == 2'd0 ? {1'b0, quotient_q[7:1]}    // 0, -1, -2, -3
                 : exponent[1:0] == 2'd3 ? {2'b0, quotient_q[7:2]}
                 : exponent[1:0] == 2'd2 ? {3'b0, quotient_q[7:3]} : {4'b0, quotient_q[7:4]};
  assign code = exponent > 9'sd0 ? {exponent[7:0], quotient_q[6:0]} : {7'b0, shifted};

  // Columns are in the order in which they are made; codes want 3.5 before 5. What is written while
  // a quotient is incomplete is written again with it.
  for (genvar k = 0; k < 7; k++) begin : gen_column
    localparam int Code = k == 4 ? 6 : k > 4 ? (k == 5 ? 3 : 5) : k == 3 ? 4 : k;
    ng_ram #(
      .Width(15),
      .Depth(128)
    ) u_ram (
      .clk_i,
      .we_i   (column_q[k]),
      .waddr_i(scale_q),
      .wdata_i(~code),
      .re_i,
      .raddr_i(scale_i),
      .rdata_o(below_no[15*Code +: 15])
    );
  end

  // ---- control
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      emit_q     <= 1'b0;
      zero_q     <= 1'b0;
      numbers_q  <= 1'b0;
      start_q    <= 1'b0;
      scale_q    <= '0;
      divisor_q  <= '0;
      operand_q        <= '0;
      factor_q        <= '0;
      sum_q      <= '0;
      low_q      <= '0;
      steps_q    <= '0;
      x_exp_q    <= '0;
      entry_q        <= '0;
      under_q    <= 1'b0;
      column_q   <= '0;
      rest_q     <= '0;
      quotient_q <= '0;
      exp_q      <= '0;
      filled_o   <= 1'b0;
      m_exp_o    <= '0;
    end else begin
      start_q <= 1'b0;
      // A product stands for one cycle, in which it is taken.
      factor_q     <= {1'b0, factor_q[23:1]};
      sum_q   <= sum[24:1];
      low_q   <= {sum[0], low_q[3:2], low_q[1] | low_q[0]};
      if (!multiplied) steps_q <= steps_q - 5'd1;
      unique case (state_q)
        Idle: begin
          if (valid_i) begin
            filled_o  <= 1'b0;
            zero_q    <= amax_i == '0;
            divisor_q <= amax_i;
            if (!(&amax_i[30:23])) begin
              start_q <= 1'b1;
              state_q <= Encode;
            end
          end
        end
        Encode: begin  // what is written before the quotient is there is written again with it
          divisor_q <= s_enc;
          operand_q       <= {1'b1, s_enc[22:0]};
          x_exp_q   <= $signed({1'b0, s_enc[30:23]}) - 9'sd127;
          factor_q       <= Sixth;
          steps_q   <= 5'd24;
          sum_q     <= '0;
          start_q   <= divided;
          if (divided) state_q <= Factor;
        end
        Factor: begin
          m_exp_o <= partial[30:23];
          scale_q <= '0;
          if (multiplied) begin
            operand_q       <= {1'b1, partial[22:0]};
            x_exp_q   <= 9'sd4;
            numbers_q <= 1'b1;
            state_q   <= Row;
          end
        end
        Decode: begin
          scale_q <= '0;
          if (divided) begin  // d is 2^-128 or more
            operand_q     <= |quotient[30:23] ? {1'b1, quotient[22:0]}
                : quotient[22] ? {quotient[22:0], 1'b0} : {quotient[21:0], 2'b0};
            x_exp_q <= $signed({1'b0, quotient[30:23]})
                - (|quotient[30:23] | quotient[22] ? 9'sd127 : 9'sd128);
            state_q <= Row;
          end
        end
        Row: begin
          factor_q     <= numbers_q ? {17'd1, scale_q} : {20'b0, factor};
          steps_q <= numbers_q ? 5'd8 : {1'b0, subnormal ? 4'd5 - product_exp[3:0] : 4'd4};
          sum_q   <= '0;
          low_q   <= '0;
          state_q <= Multiply;
        end
        Multiply: begin
          divisor_q <= partial;
          start_q   <= multiplied & ~numbers_q;
          if (multiplied) begin
            state_q <= Reciprocal;
            if (numbers_q) begin
              scale_q   <= scale_q + 7'd1;
              numbers_q <= ~(&scale_q);
              state_q   <= &scale_q ? Decode : Row;
            end
          end
        end
        Reciprocal: begin
          entry_q        <= {1'b1, quotient[22:0]};
          exp_q      <= 8'd254 - quotient[30:23];
          rest_q     <= {1'b0, 25'h1000001};
          quotient_q <= '0;
          under_q    <= 1'b0;
          column_q   <= 7'd1;
          if (divided) state_q <= Quotient;
        end
        Quotient: begin
          if (!emit_q) begin
            rest_q     <= {one ? less[24:0] : rest_q[24:0], 1'b0};
            quotient_q <= {quotient_q[6:0], one};
            under_q    <= under_q | (quotient_q == '0 && !one);
            emit_q     <= quotient_q[6];
          end else begin
            column_q <= {column_q[5:0], 1'b0};
            if (column_q[6]) begin
              emit_q   <= 1'b0;
              scale_q  <= scale_q + 7'd1;
              filled_o <= scale_q == 7'd126;
              state_q  <= scale_q == 7'd126 ? Idle : Row;
            end else if (column_q[0] | column_q[1] | column_q[4]) begin
              rest_q     <= {1'b0, target};
              quotient_q <= '0;
              under_q    <= 1'b0;
              emit_q     <= 1'b0;
            end
          end
        end
      endcase
    end
  end

endmodule
