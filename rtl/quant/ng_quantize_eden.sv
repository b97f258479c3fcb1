// SPDX-License-Identifier: Apache-2.0
// Quantizer to NVFP4 of the dialect quartet2, MS-EDEN: groups of eight blocks of 16 numbers,
// elements to nearest, ties away from zero, and unbiased through scales that are rounded
// stochastically, with one random number a block. Twin of narrowgauge::quantize_eden.
//
// Every line is one operation, rounded once to nearest even; A is the block's largest magnitude, p
// the tensor scale, v a scale's value.
//   t = A / ElementMax;  t = t / p;  s = UE4M3(min(t, 448)), 1 where that is 0;  f = v(s) p
//   of each element:  y = x / f;  code = E2M1(y), ties away, with a minus where y is not above zero
//   r_j = r_j + fl(y y), q_j = q_j + fl(y v(code)) for element i of the group, j = i mod 8
//   sum r and sum q, each ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7));  c = sum r / sum q, 1 where
//                                                                     sum q is 0
//   of each block:  scale = s c, rounded stochastically (ng_eden_scale)
// A block with an infinity or a NaN has the scale NaN and codes 0 and is in no sum, and so has
// every block if p is not positive and finite.
//
// Width argument: f is not 0. Where s is not 1, fl(A / ElementMax) is 2^-149 or more, and rounded
// to UE4M3 its quotient by p is at least two thirds of that, so s p is more than half of 2^-149.
// Where a sum of zeros is a minus zero in FP32, it may be a plus zero here; that is not seen.
//
// One divider and one fused multiply-add do all, an operation at a time: an element takes 31 or 32
// cycles. A group is held in block RAM until its correction is known; the next one is taken when it
// has left. ready_o and valid_o come from registers, codes_o and scale_o from those of the memory
// and of the correction, through the stochastic rounding: no combinational path crosses the unit.
module ng_quantize_eden #(
  parameter int ManBits    = 7,          // of x: 7 BF16, 23 FP32
  // what a block's maximum is mapped to, an FP32 code; 32'h40B4B4B5: 6 / (17/16)
  parameter int ElementMax = 1085584565,
  parameter int RandBits   = 24,         // of a block
  localparam int Bits = 9 + ManBits
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [31:0]         tensor_scale_i,  // FP32; stays as it is while a group is inside
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [16*Bits-1:0]  data_i,
  input  logic [RandBits-1:0] rand_i,
  input  logic                last_i,          // the group ends here, before its eighth block
  output logic                valid_o,
  input  logic                ready_i,
  output logic [63:0]         codes_o,
  output logic [6:0]          scale_o,
  output logic                last_o           // the last block of a group that last_i ended
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ManBits < 1 || ManBits > 23) begin : gen_check_man_bits
    $fatal(1, "ng_quantize_eden: ManBits=%0d; expected 1 to 23", ManBits);
  end
  if (ElementMax < 1065353216 || ElementMax > 1086324736) begin : gen_check_element_max
    $fatal(1, "ng_quantize_eden: ElementMax=%0d; expected 1065353216 to 1086324736", ElementMax);
  end
  if (RandBits < 1 || RandBits > 24) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_eden: RandBits=%0d; expected 1 to 24", RandBits);
  end
`endif

  localparam logic [31:0] One = 32'h3F800000;

  typedef enum logic [3:0] {
    Fill, Raw, Scale, Encode, Factor, Divide, Square, AddSquare, Product, AddProduct, Store, SumA,
        SumB, SumAdd, Correct, Drain
  } state_e;
  state_e              state_q;
  logic [16*Bits-1:0]  data_q;    // the element that is worked at in the low bits
  logic [RandBits-1:0] rand_q;
  logic                last_q;
  logic [2:0]          block_q;   // in the group; once it is whole, its last one
  logic [2:0]          element_q; // of half a block
  logic                half_q;    // the second one
  logic                some_q;    // a block is in the sums
  logic [6:0]          s_q;
  logic [63:0]         codes_q;
  logic [30:0]         t_q;       // t, then f, then sum q, none of them negative
  logic [31:0]         y_q;       // y, then sum r, then the correction
  logic [31:0]         u_q;       // what is added to a sum
  logic [2:0]          step_q;    // of the sums' last seven additions
  logic                product_q; // the addition is to sum q, else to sum r
  logic                push;
  assign ready_o = state_q == Fill;
  assign push = valid_i & ready_o;

  // ---- the block's largest magnitude
  logic [Bits-2:0] amax;
  logic [31:0]     x;
  logic            refused;
  ng_amax #(
    .Lanes(16),
    .Width(Bits)
  ) u_amax (
    .a_i   (data_q),
    .amax_o(amax)
  );
  assign x = {data_q[Bits-1:0], {23 - ManBits{1'b0}}};
  assign refused = (&amax[Bits-2 -: 8]) | tensor_scale_i[31] | (&tensor_scale_i[30:23])
      | ~(|tensor_scale_i[30:0]);

  // ---- quotients
  logic        divides, divided, unused_ready;
  logic [31:0] a, quotient;
  logic [30:0] b;
  logic        none;  // the sums are of zeros
  assign none = ~some_q | ~(|t_q);
  assign divides = (state_q == Raw & ~refused) | state_q == Scale | state_q == Divide
      | (state_q == Correct & ~none);
  assign a = state_q == Raw ? {1'b0, amax, {23 - ManBits{1'b0}}} : state_q == Scale ? {1'b0, t_q}
      : state_q == Divide ? x : y_q;
  assign b = state_q == Raw ? 31'(ElementMax) : state_q == Scale ? tensor_scale_i[30:0] : t_q;
  ng_div_fp32 #(
    .Saturate(1)
  ) u_div (
    .clk_i,
    .rst_ni,
    .valid_i(divides),
    .ready_o(unused_ready),
    .a_i    (a),
    .b_i    ({1'b0, b}),
    .valid_o(divided),
    .ready_i(1'b1),
    .y_o    (quotient)
  );

  // ---- the scale: to UE4M3, and its value
  logic [7:0]  code;
  logic [10:0] s_top;  // exponent and the first bits of the mantissa
  ng_round_pack #(
    .Bits    (ng_format_pkg::UE4M3Bits),
    .Sign    (ng_format_pkg::UE4M3Sign),
    .ExpBits (ng_format_pkg::UE4M3ExpBits),
    .ManBits (ng_format_pkg::UE4M3ManBits),
    .Bias    (ng_format_pkg::UE4M3Bias),
    .HasInf  (ng_format_pkg::UE4M3HasInf),
    .Nan     (ng_format_pkg::UE4M3Nan),
    .HasZero (ng_format_pkg::UE4M3HasZero),
    .Overflow(0),
    .SigWidth(24),
    .ExpWidth(9),
    .ExpLo   (-127),
    .ExpHi   (127),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (1'b0),
    .inf_i (1'b0),
    .sign_i(1'b0),
    .exp_i ($signed({1'b0, t_q[30:23]}) - 9'sd127),
    .sig_i ({|t_q[30:23], t_q[22:0]}),
    .rand_i(1'b0),
    .code_o(code)
  );
  assign s_top = (|s_q[6:3]) ? {8'd120 + {4'd0, s_q[6:3]}, s_q[2:0]}
               : s_q[2] ? {8'd120, s_q[1:0], 1'd0}
               : s_q[1] ? {8'd119, s_q[0], 2'd0}
               : {8'd118, 3'd0};

  // ---- the element: to E2M1, whose midpoints have two bits of mantissa, and its value
  logic [9:0]  top;
  logic [2:0]  magnitude;
  logic        minus;
  logic [7:0]  value_exp;
  logic [31:0] value;
  assign top = y_q[30:21];
  assign magnitude = top >= {8'd129, 2'd1} ? 3'd7
                   : top >= {8'd128, 2'd3} ? 3'd6
                   : top >= {8'd128, 2'd1} ? 3'd5
                   : top >= {8'd127, 2'd3} ? 3'd4
                   : top >= {8'd127, 2'd1} ? 3'd3
                   : top >= {8'd126, 2'd2} ? 3'd2
                   : {2'd0, top >= {8'd125, 2'd0}};
  assign minus = y_q[31] | ~(|y_q[30:0]);
  assign value_exp = magnitude == 3'd0 ? 8'd0 : 8'd126 + {6'd0, magnitude[2:1]};
  assign value = {minus, value_exp, magnitude[0] & (|magnitude[2:1]), 22'd0};

  // ---- the sums: eight of squares, eight of products
  logic        sum_write, sum_read;
  logic [2:0]  left, right;
  logic [3:0]  sum_at;
  logic [31:0] sum;
  always_comb begin
    unique case (step_q)
      3'd0:    begin left = 3'd0; right = 3'd1; end
      3'd1:    begin left = 3'd2; right = 3'd3; end
      3'd2:    begin left = 3'd4; right = 3'd5; end
      3'd3:    begin left = 3'd6; right = 3'd7; end
      3'd4:    begin left = 3'd0; right = 3'd2; end
      3'd5:    begin left = 3'd4; right = 3'd6; end
      default: begin left = 3'd0; right = 3'd4; end
    endcase
    // ng-no-fault: sums are added in pairs and halves, so swapping the two addresses changes
    //   nothing
    unique case (state_q)
      Square, AddSquare:   sum_at = {1'b0, element_q};
      Product, AddProduct: sum_at = {1'b1, element_q};
      SumB:                sum_at = {product_q, right};
      default:             sum_at = {product_q, left};
    endcase
  end
  assign sum_write = state_q == AddSquare | state_q == AddProduct | state_q == SumAdd;
  // ng-no-fault: each state that uses sum follows a state of one cycle that reads it, so reading in
  //   every state changes no output; the enable saves energy only
  assign sum_read = state_q == Square | state_q == Product | state_q == SumA | state_q == SumB;

  // ---- products and sums
  logic [31:0] m, n, c, result;
  always_comb begin
    unique case (state_q)
      Factor:  begin m = {1'b0, s_top, 20'd0}; n = tensor_scale_i; c = '0; end
      Square:  begin m = y_q;                  n = y_q;            c = '0; end
      Product: begin m = y_q;                  n = value;          c = '0; end
      default: begin m = u_q;                  n = One;            c = some_q ? sum : '0; end
    endcase
  end
  ng_fma_fp32 #(
    .ExpBits(8),
    .ManBits(23)
  ) u_fma (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .a_i   (m),
    .b_i   (n),
    .c_i   (c),
    .fp32_o(result)
  );
  ng_ram #(
    .Width(32),
    .Depth(16)
  ) u_sums (
    .clk_i,
    .we_i   (sum_write),
    .waddr_i(sum_at),
    .wdata_i(result),
    .re_i   (sum_read),
    .raddr_i(sum_at),
    .rdata_o(sum)
  );

  // ---- the group
  logic [2:0]          read_q;
  logic                all_read_q, fetch, left_now;
  logic [6:0]          s;
  logic [RandBits-1:0] rand_of;
  assign fetch = ~all_read_q & (~valid_o | ready_i);  // of use in Drain alone
  assign left_now = all_read_q & ready_i;
  assign last_o = all_read_q & last_q;
  ng_ram #(
    .Width(71 + RandBits),
    .Depth(8)
  ) u_group (
    .clk_i,
    .we_i   (state_q == Store),
    .waddr_i(block_q),
    .wdata_i({rand_q, s_q, codes_q}),
    .re_i   (state_q == Drain & fetch),
    .raddr_i(read_q),
    .rdata_o({rand_of, s, codes_o})
  );
  ng_eden_scale #(
    .RandBits(RandBits)
  ) u_scale (
    .scale_i     (s),
    .correction_i(y_q),
    .rand_i      (rand_of),
    .scale_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Fill;
      block_q    <= '0;
      element_q  <= '0;
      half_q     <= 1'b0;
      some_q     <= 1'b0;
      step_q     <= '0;
      product_q  <= 1'b0;
      read_q     <= '0;
      all_read_q <= 1'b0;
      valid_o    <= 1'b0;
    end else begin
      unique case (state_q)
        Fill:       if (push) state_q <= Raw;
        Raw:        if (refused) state_q <= Store; else if (divided) state_q <= Scale;
        Scale:      if (divided) state_q <= Encode;
        Encode:     state_q <= Factor;
        Factor:     state_q <= Divide;
        Divide:     if (divided) state_q <= Square;
        Square:     state_q <= AddSquare;
        AddSquare:  state_q <= Product;
        Product:    state_q <= AddProduct;
        AddProduct: begin
          element_q <= element_q + 3'd1;
          if (&element_q) begin
            some_q <= 1'b1;  // every sum has begun
            half_q <= ~half_q;
          end
          state_q <= (&element_q) & half_q ? Store : Divide;
        end
        Store: begin
          if (last_q | (&block_q)) begin
            state_q <= some_q ? SumA : Correct;
          end else begin
            block_q <= block_q + 3'd1;
            state_q <= Fill;
          end
        end
        SumA:       state_q <= SumB;
        SumB:       state_q <= SumAdd;
        SumAdd: begin
          step_q <= step_q == 3'd6 ? 3'd0 : step_q + 3'd1;
          if (step_q == 3'd6) product_q <= ~product_q;
          state_q <= step_q == 3'd6 & product_q ? Correct : SumA;
        end
        Correct:    if (none | divided) state_q <= Drain;
        default: begin
          if (fetch) begin
            valid_o <= 1'b1;
            read_q  <= read_q + 3'd1;
          end else if (ready_i) begin
            valid_o <= 1'b0;
          end
          if (left_now) begin
            state_q <= Fill;
            block_q <= '0;
            read_q  <= '0;
            some_q  <= 1'b0;
          end
          // when the group has left, read_q is one ahead of its last block
          if (fetch | left_now) all_read_q <= read_q == block_q;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      data_q <= data_i;
      rand_q <= rand_i;
      last_q <= last_i;
    end else if (state_q == AddProduct) begin
      data_q <= data_q >> Bits;
    end
    if (state_q == Raw) begin  // what a refused block has
      s_q     <= 7'h7F;
      codes_q <= '0;
    end else if (state_q == Encode) begin
      s_q <= (|code[6:0]) ? code[6:0] : 7'h38;
    end else if (state_q == AddProduct) begin
      codes_q <= {minus, magnitude, codes_q[63:4]};
    end
    unique case (state_q)
      // until it is there; the divider has taken what stood here
      Raw, Scale: t_q <= quotient[30:0];
      Factor, SumAdd: t_q <= result[30:0];
      default: t_q <= t_q;
    endcase
    unique case (state_q)
      Divide:  y_q <= quotient;
      SumAdd:  if (~product_q) y_q <= result;
      Correct: y_q <= none ? One : quotient;
      default: y_q <= y_q;
    endcase
    u_q <= state_q == SumB ? sum : result;  // used in the next state alone
  end

  logic unused;
  assign unused = code[7];
endmodule
