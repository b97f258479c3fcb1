// SPDX-License-Identifier: Apache-2.0
//
// Scale and thresholds of a block for ng_quantize_nvfp4_folded, from the block's largest magnitude
// A 2^(a - 134), A of 8 bits, and the tensor scale g = s 2^(e - 150): five stages, each of which
// keeps a block for four cycles and has one adder.
//
//   normalize  M = 3 s; A is doubled until A 2^17 is at least M, or by less than M / 48 below it,
//              at most twice; then it is below 2 M
//   divide     restoring division of A by M, a bit of the quotient a cycle: 8 + f, or as many bits
//              as a subnormal scale has
//   scale      twice the rest against M rounds to nearest even; S = (8 + mantissa) s, a row a cycle
//   threshold  X = S, 3 S, 5 S, 7 S; each becomes one, two or three thresholds, BF16 codes
//   waiting    for whoever takes thresholds and scale
//
// What elements are compared with, in units of scale g and in the order of the codes:
//   to nearest     1/4 3/4 5/4 7/4 5/2 7/2 5, midpoints; x goes beyond those with an odd number
//                  below them if it is at least as large, beyond the others if it is larger
//   stochastic_i   1/2 1 3/2 2 3 4 6, the numbers of E2M1; x goes beyond them if it is at least as
//                  large. X is S, S, 3 S, 2 S
// Thresholds are cut to BF16. Where nothing fell off, `ties` says that x is beyond one that it
// equals: to nearest where the tie goes up; stochastically it does not matter, for a number that
// lies a whole step above l goes up under every random word.
//
// Subnormal scales have d = 1 to 4 bits less: the division begins d cycles later, and so it ends
// with the last bit. With d = 4 there is no bit left, and the scale is 1 or 0, 1 if A is larger
// than M: which the last step of the division says when its carry is none.
//
// Width argument: s is below 2^24, M below 2^26, the rest below M, twice the rest below 2^27. S is
// at least 8 * 2^23 = 2^26 and below 15 * 2^24 < 2^28, 7 S below 2^31. Exponents: of amax 0 to 255,
// of g 16 to 254 where it is not bad: differences have 10 bits with sign. An amax below 2^-126
// comes with a quotient below 2^-16 and needs no normalizing. The exponent of scale times g is at
// least 7 and at most 252 (ng_quantize_nvfp4_sr), so with 7 it has 9 bits, and those of thresholds,
// -2 to +3 more, have 8.
//
// Handshake: docs/handshake.md. ready_o and valid_o come from registers. A block each four cycles
// as long as thresholds are taken when valid_o rises; until they are taken, all stages wait.
module ng_nvfp4_block #(
  parameter int RandBits = 8,
  localparam int CountBits = RandBits < 3 ? 2 : $clog2(RandBits + 1)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  // the larger of both is A; inverted, as all that is named minus
  input  logic [14:0]                minus_amax_i,
  input  logic [14:0]                amax_i,
  input  logic [31:0]                tensor_scale_i,
  input  logic                       stochastic_i,
  output logic                       valid_o,
  input  logic                       ready_i,
  output ng_quant_pkg::nvfp4_block_t block_o,
  output logic [CountBits-1:0]       minus_base_o     // of base - 1, inverted
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits
    $fatal(1, "ng_nvfp4_block: RandBits=%0d; expected 1 to 16", RandBits);
  end
`endif

  // ---- a block that came, and the four stages: a block moves on at the end of step 3
  logic        come_q;
  logic [14:0] minus_amax_q, amax_q;
  logic [31:0] tensor_q;
  logic        stochastic_q;
  logic [3:0]  inside_q;  // normalize in bit 0
  logic [1:0]  step_q;
  logic        push, move, tick;
  assign ready_o = ~come_q;
  assign push = valid_i & ~come_q;
  // valid_o is high in step 0 only
  assign move = &step_q ? come_q | (|inside_q) : ~valid_o | ready_i;
  assign tick = move & (&step_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      come_q   <= 1'b0;
      inside_q <= '0;
      valid_o  <= 1'b0;
      step_q   <= '0;
    end else begin
      come_q <= push | (come_q & ~tick);
      if (move) step_q <= step_q + 2'd1;
      if (tick) inside_q <= {inside_q[2:0], come_q};
      if (move) valid_o <= tick & inside_q[3];
    end
  end
  always_ff @(posedge clk_i) if (push) begin
    minus_amax_q <= minus_amax_i;
    amax_q       <= amax_i;
    tensor_q          <= tensor_scale_i;
    stochastic_q <= stochastic_i;
  end

  // ---- normalize
  logic [14:0] minus_amax, unused_larger;
  logic        larger;
  assign {larger, unused_larger} = {1'b0, amax_q} + {1'b0, minus_amax_q};
  assign minus_amax = larger ? ~amax_q : minus_amax_q;

  logic [9:0]  a1_q;      // A, then its double, its fourfold
  logic [1:0]  twice_q;   // once, twice
  logic [7:0]  minus_exp1_q, g_exp1_q;
  logic [23:0] s1_q;
  logic        nan1_q, stochastic1_q;
  logic [25:0] minus_m1;
  logic [8:0]  unused_reached;
  logic        reached, some, bad;
  logic [22:0] unused_some;
  assign minus_m1 = ~({2'b0, s1_q} + {1'b0, s1_q, 1'b0});
  // or 47/48 of it: 1 after rounding
  assign {reached, unused_reached} = {1'b0, a1_q[9:2], 1'b1} + {2'b01, minus_m1[25:19], 1'b1};
  assign {some, unused_some} = {1'b0, tensor_q[22:0]} + {1'b0, 23'h7FFFFF};
  assign bad = tensor_q[31] | (&tensor_q[30:23]) | ~(|tensor_q[30:27]) | (stochastic_q & some);
  always_ff @(posedge clk_i) begin
    if (tick) begin
      a1_q          <= {3'b001, ~minus_amax[6:0]};
      twice_q       <= '0;
      minus_exp1_q  <= minus_amax[14:7];
      s1_q          <= {1'b1, tensor_q[22:0]};
      g_exp1_q      <= tensor_q[30:23];
      nan1_q        <= bad | ~(|minus_amax[14:7]);
      stochastic1_q <= stochastic_q;
    end else if (~reached) begin
      a1_q    <= a1_q << 1;
      twice_q <= {twice_q[0], 1'b1};
    end
  end

  // The exponent of the scale, 0 that of the least normal ones: a - e + 4, less the doublings.
  logic        [9:0] difference;
  logic              unused_once;
  logic signed [9:0] exponent;
  assign {difference, unused_once} = ~({2'b0, g_exp1_q, 1'b1} + {2'b11, minus_exp1_q, twice_q[0]});
  assign exponent = $signed(difference) + (twice_q[1] ? 10'sd3 : 10'sd4);

  // ---- divide
  logic [25:0] rest2_q, rest, minus_m2_q;
  logic [25:0] less;
  logic [2:0]  n2_q;
  logic [4:0]  field2_q;  // -4 to 14
  logic        zero2_q, large2_q, nan2_q, stochastic2_q, divides, exact, bit2;
  logic        reaches, unused_less;
  logic [23:0] s2_q;
  logic [7:0]  g_exp2_q;
  assign divides = ~field2_q[4] | (&step_q) | (step_q[1] & field2_q[1])
      | (step_q[0] & (&field2_q[1:0]));
  assign exact = ~field2_q[4] | (|field2_q[1:0]);  // d is not 4
  // A rest of 2^25 or more is above M / 2: its first bit says so without the adder.
  assign {reaches, less, unused_less} = {1'b0, rest2_q[24:0], 2'b01} + {1'b0, minus_m2_q, exact};
  assign bit2 = rest2_q[25] | reaches;
  assign rest = bit2 ? less : {rest2_q[24:0], 1'b0};
  always_ff @(posedge clk_i) begin
    if (tick) begin
      rest2_q       <= {a1_q, 16'b0};
      n2_q          <= '0;
      minus_m2_q    <= minus_m1;
      field2_q      <= exponent[4:0];
      zero2_q       <= exponent[9] & ~(&exponent[8:2]) & ~nan1_q;
      large2_q      <= ~exponent[9] & ((|exponent[8:4]) | (&exponent[3:0]));
      nan2_q        <= nan1_q;
      s2_q          <= s1_q;
      g_exp2_q      <= g_exp1_q;
      stochastic2_q <= stochastic1_q;
    end else if (move & divides) begin
      rest2_q <= rest;
      n2_q    <= {n2_q[1:0], bit2};
    end
  end

  // ---- the scale, in step 0
  logic [25:0] rest3_q, minus_m3_q;
  logic [3:0]  n3_q, field3_q;
  logic        least3_q, zero3_q, large3_q, nan3_q, stochastic3_q, half, above, top;
  logic [23:0] s3_q;
  logic [7:0]  g_exp3_q, sum, scale3_q;
  logic [27:0] unused_half;
  assign {half, unused_half} = {1'b0, rest3_q, 1'b0, 1'b1} + {2'b01, minus_m3_q, n3_q[0]};
  assign above = half & ~least3_q;
  assign sum = {1'b0, field3_q, 3'b0} + {4'b0, n3_q} + {7'b0, above};
  assign top = large3_q | sum[7] | (&sum[6:0]);
  always_ff @(posedge clk_i) begin
    if (tick) begin
      rest3_q       <= rest;
      minus_m3_q    <= minus_m2_q;
      n3_q          <= {n2_q, bit2};
      field3_q      <= field2_q[4] ? 4'd0 : field2_q[3:0];
      least3_q      <= ~exact;
      zero3_q       <= zero2_q;
      large3_q      <= large2_q;
      nan3_q        <= nan2_q;
      s3_q          <= s2_q;
      g_exp3_q      <= g_exp2_q;
      stochastic3_q <= stochastic2_q;
    end else if (step_q == 2'd0) begin
      scale3_q <= zero3_q ? 8'd0 : {1'b0, sum[6:1] | {6{top | nan3_q}}, (sum[0] & ~top) | nan3_q};
    end
  end

  // ---- and S: the scale's significand 1 + sig / 8 and exponent, then rows
  logic [2:0]  sig;
  logic [8:0]  scale_exp, minus_base;  // of base + 7
  logic [27:0] s;
  logic [26:0] s_q;
  logic        row;
  always_comb begin
    sig = scale3_q[2:0];
    scale_exp = {5'b0, scale3_q[6:3]};
    if (scale3_q[6:3] == '0) begin
      sig = scale3_q[2] ? {scale3_q[1:0], 1'b0} : {scale3_q[1] & scale3_q[0], 2'b0};
      scale_exp = scale3_q[2] ? 9'd0 : scale3_q[1] ? -9'd1 : -9'd2;
    end
    unique case (step_q)
      2'd0: row = 1'b1;
      2'd1: row = sig[2];
      2'd2: row = sig[1];
      2'd3: row = sig[0];
    endcase
  end
  assign s = row ? {s_q, 1'b0} + {4'b0, s3_q} : {s_q, 1'b0};
  assign minus_base = ~({1'b0, g_exp3_q} + scale_exp);
  always_ff @(posedge clk_i) begin
    if (tick) s_q <= '0;
    else if (move) s_q <= s[26:0];
  end

  // ---- thresholds
  logic [27:0] s4_q;
  logic [30:0] x_q, x;
  logic [8:0]  minus_base4_q;
  logic [2:0]  minus_sig4_q;
  logic [7:0]  scale4_q;
  logic        live4_q, stochastic4_q;
  assign x =
      // ng-no-fault: a stochastic scale is a power of two, so that the low 23 bits of s4_q are 0,
      //   or the block is not live and nobody reads x; the prover does not know
      stochastic4_q & step_q[1] ? {2'b0, s4_q, 1'b0} :
      x_q + {2'b0, s4_q, 1'b0};
  always_ff @(posedge clk_i) begin
    if (tick) begin
      s4_q          <= s;
      x_q           <= {3'b0, s};
      minus_base4_q <= minus_base;
      minus_sig4_q  <= ~sig;
      scale4_q      <= scale3_q;
      live4_q       <= (|scale3_q[6:0]) & ~(&scale3_q[6:0]);
      stochastic4_q <= stochastic3_q;
    end else if (move & ~(stochastic4_q & step_q == 2'd0)) begin
      x_q <= x;
    end
  end

  logic [6:0]  mantissa;
  logic [3:0]  less_exp;  // base + 7 less the exponent
  logic        any, tie;
  logic [18:0] unused_any;
  logic [7:0]  minus_exp, minus_exp1, minus_exp2;

  // what waits
  logic [104:0] minus_q;
  logic [1:0]   ties_q;
  logic [8:0]   minus_near_q;
  logic [2:0]   minus_sig5_q;
  logic [7:0]   scale5_q;
  logic         live5_q, stochastic5_q;
  assign {any, unused_any} = {1'b0, x_q[18:0]} + {1'b0, 19'h7FFFF};
  always_comb begin
    if (x_q[30]) begin
      mantissa = x_q[29:23];
      less_exp = 4'd5;
      tie = ~(any | (|x_q[22:19]));
    end else if (x_q[29]) begin
      mantissa = x_q[28:22];
      less_exp = 4'd6;
      tie = ~(any | (|x_q[21:19]));
    end else if (x_q[28]) begin
      mantissa = x_q[27:21];
      less_exp = 4'd7;
      tie = ~(any | (|x_q[20:19]));
    end else if (x_q[27]) begin
      mantissa = x_q[26:20];
      less_exp = 4'd8;
      tie = ~(any | x_q[19]);
    end else begin
      mantissa = x_q[25:19];
      less_exp = 4'd9;
      tie = ~any;
    end
    if (stochastic4_q) less_exp = less_exp - (step_q[0] ? 4'd2 : 4'd1);
  end
  assign minus_exp = minus_base4_q[7:0] + {4'b0, less_exp};
  assign minus_exp1 = minus_exp - 8'd1;
  assign minus_exp2 = minus_exp - 8'd2;
  always_ff @(posedge clk_i) begin
    if (move) begin
      unique case (step_q)
        2'd0: minus_q[0 +: 15] <= {minus_exp, ~mantissa};
        2'd1: begin minus_q[15 +: 15] <= {minus_exp, ~mantissa}; ties_q[0] <= tie; end
        2'd2: begin
          minus_q[30 +: 15] <= {minus_exp, ~mantissa};
          minus_q[60 +: 15] <= {minus_exp1, ~mantissa};
          minus_q[90 +: 15] <= {minus_exp2, ~mantissa};
        end
        2'd3: begin
          minus_q[45 +: 15] <= {minus_exp, ~mantissa};
          minus_q[75 +: 15] <= {minus_exp1, ~mantissa};
          ties_q[1]         <= tie;
        end
      endcase
    end
    if (tick) begin
      scale5_q      <= scale4_q;
      live5_q       <= live4_q;
      stochastic5_q <= stochastic4_q;
      minus_sig5_q  <= minus_sig4_q;
      minus_base_o  <= minus_base4_q[CountBits-1:0] + CountBits'(8);
      minus_near_q  <= minus_base4_q + 9'(8 + RandBits);
    end
  end
  assign block_o = {minus_near_q, minus_sig5_q, ties_q, minus_q, stochastic5_q, live5_q, scale5_q};
endmodule
