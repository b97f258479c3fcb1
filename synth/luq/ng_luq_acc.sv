// SPDX-License-Identifier: Apache-2.0
//
// An accumulator for products of LUQ, to be counted (synth/luq_gates.py) and nothing else: acc_o becomes product_i, plus what it was
// unless first_i. Product: as ng_mul_luq's Shape. The unit of the sum, alpha times the scale of the INT4 operand, is 1.
//
//   Kind 1 fp32    FP32 by ng_add_fp32, rounded once to nearest even
//   Kind 2 fp16    the same sum in FP16 (1 sign, 5 exponent, 10 mantissa bits) by the same steps; no NaN or infinity: the largest
//                  exponent is one like the others, and what is too large becomes the largest number
//   Kind 3 fixed   an integer of 24 bits, exact for 8192 products
//
// Width argument. Each product is brought to sign, exponent of the significand's top bit and significand: FP7 3 bits with the
// leading one, split 4 bits with up to 3 leading zeros, fixed 10 bits with up to 9. A sum of FP16 lays its operands out in a frame
// of max(SigWidth + 1, Unnormal + 13) bits, as ng_add_fp32's width argument has it with 11 for 24 bits.
// 8192 products within +-512 need 11 + 13 = 24 bits.
module ng_luq_acc #(
  parameter int Product = 1,
  parameter int Kind    = 1,
  localparam int ProductWidth = Product == 0 ? 11 : Product == 1 ? 7 : 8,
  localparam int Width = Kind == 1 ? 32 : Kind == 2 ? 16 : 24
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    valid_i,
  input  logic                    first_i,
  input  logic [ProductWidth-1:0] product_i,
  output logic [Width-1:0]        acc_o
);
  localparam int SigWidth = Product == 0 ? 10 : Product == 1 ? 3 : 4;
  localparam int Unnormal = Product == 0 ? 9 : Product == 1 ? 0 : 3;

  logic                sign;
  logic signed [9:0]   exponent;  // of sig's top bit
  logic [SigWidth-1:0] sig;
  if (Product == 0) begin : gen_fixed
    logic [10:0] magnitude;
    logic        unused_top;
    assign sign = product_i[10];
    assign magnitude = sign ? -product_i : product_i;
    assign {unused_top, sig} = magnitude;
    assign exponent = 10'sd9;
  end else if (Product == 1) begin : gen_fp7
    logic some;
    assign sign = product_i[6];
    assign some = |product_i[5:2];
    assign sig = {some, product_i[1:0] & {2{some}}};
    assign exponent = {6'd0, product_i[5:2]} - 10'd1;
  end else begin : gen_split
    assign sign = product_i[7];
    assign sig = product_i[3:0];
    assign exponent = {7'd0, product_i[6:4]} + 10'd2;
  end

  logic [Width-1:0] base, sum;
  assign base = first_i ? '0 : acc_o;

  if (Kind == 1) begin : gen_fp32
    ng_add_fp32 #(
      .SigWidth(SigWidth),
      .Unnormal(Unnormal),
      .ExpHi   (9)
    ) u_add (
      .clk_i   (clk_i),
      .en_i    (1'b1),
      .x_nan_i (1'b0),
      .x_inf_i (1'b0),
      .x_sign_i(sign),
      .x_exp_i (exponent),
      .x_sig_i (sig),
      .c_i     (base),
      .sum_o   (sum)
    );
  end else if (Kind == 2) begin : gen_fp16
    localparam int Frame = SigWidth + 1 > Unnormal + 13 ? SigWidth + 1 : Unnormal + 13;
    localparam int SumWidth = Frame + 2;
    localparam int ShiftWidth = $clog2(SumWidth);
    // ---- order: field and significand of both, x's exponent on c's scale, where 1 is the field 15
    logic                normal, x_leads, subtract, lead_sign, ahead, sticky, rest, unused_half;
    logic signed [6:0]   x_exp, c_exp, difference, lead_exp, round_exp;
    logic [6:0]          distance;
    logic [Frame-1:0]    x, c, lead, other, aligned;
    logic [SumWidth-1:0] left, right, raw, magnitude;
    logic [11:0]         normalized;
    logic [ShiftWidth-1:0] shift;
    assign normal = |base[14:10];
    assign x_exp = exponent[6:0] + 7'd15;
    assign c_exp = {2'd0, base[14:11], base[10] | ~normal};
    assign x = {sig, {(Frame - SigWidth){1'b0}}};
    assign c = {normal, base[9:0], {(Frame - 11){1'b0}}};
    assign difference = x_exp - c_exp;
    assign x_leads = ~difference[6] & (|sig);
    assign distance = difference[6] ? -difference : difference;
    assign lead = x_leads ? x : c;
    assign other = x_leads ? c : x;
    assign lead_exp = x_leads ? x_exp : c_exp;
    assign lead_sign = x_leads ? sign : base[15];
    assign subtract = sign ^ base[15];
    // ---- align, add or subtract, normalize, round, as in ng_add_fp32
    ng_shift_sticky #(
      .Width  (Frame),
      .ByWidth(7)
    ) u_align (
      .data_i  (other),
      .by_i    (distance),
      .data_o  (aligned),
      .sticky_o(sticky)
    );
    assign left = {1'b0, lead, 1'b0};
    assign right = {1'b0, aligned, sticky};
    assign ahead = left >= right;
    assign {raw, unused_half} = {left, 1'b1} + {right ^ {SumWidth{subtract}}, subtract & ahead};
    assign magnitude = raw ^ {SumWidth{subtract & ~ahead}};
    ng_normalize #(
      .Width   (SumWidth),
      .OutWidth(12)
    ) u_normalize (
      .clk_i   (clk_i),
      .en_i    (1'b1),
      .data_i  (magnitude),
      .fill_i  (1'b0),
      .sig_o   (normalized),
      .sticky_o(rest),
      .shift_o (shift)
    );
    assign round_exp = lead_exp + 7'd1 - 7'(shift);
    ng_round_pack #(
      .Bits    (16),
      .ExpBits (5),
      .ManBits (10),
      .Bias    (0),
      .HasInf  (0),
      .Nan     (0),
      .Overflow(0),
      .SigWidth(13),
      .ExpWidth(7),
      .ExpLo   (-Frame),
      .ExpHi   (32),
      .RandBits(1)
    ) u_round (
      .clk_i (clk_i),
      .en_i  (1'b1),
      .mode_i(2'd0),
      .nan_i (1'b0),
      .inf_i (1'b0),
      .sign_i(subtract ? normalized[11] & (lead_sign ^ ~ahead) : lead_sign),
      .exp_i (round_exp),
      .sig_i ({normalized, rest}),
      .rand_i(1'b0),
      .code_o(sum)
    );
  end else begin : gen_sum
    logic [10:0] term;
    if (Product == 0) begin : gen_term
      assign term = product_i;
    end else if (Product == 1) begin : gen_align
      logic [12:0] aligned;  // four times the magnitude
      logic [1:0]  unused_quarters;
      logic [10:0] magnitude;
      assign aligned = {10'd0, sig} << (product_i[5:2] - 4'd1);
      assign {magnitude, unused_quarters} = aligned;
      assign term = (magnitude ^ {11{sign}}) + {10'd0, sign};
    end else begin : gen_shift
      logic [11:0] aligned;  // twice the term
      logic        unused_half;
      logic [4:0]  signed_sig;
      assign signed_sig = ({1'b0, sig} ^ {5{sign}}) + {4'd0, sign};
      assign aligned = {{7{signed_sig[4]}}, signed_sig} << product_i[6:4];
      assign {term, unused_half} = aligned;
    end
    assign sum = base + {{13{term[10]}}, term};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) acc_o <= '0;
    else if (valid_i) acc_o <= sum;
  end
endmodule
