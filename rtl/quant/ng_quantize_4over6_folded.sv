// SPDX-License-Identifier: Apache-2.0
//
// ng_quantize_4over6 for Lanes numbers a cycle: a block of 16 BF16 numbers in Beats = 16 / Lanes
// cycles, to NVFP4, four over six, bit for bit what that unit gives, whose header has the rule and
// the sums. Both scales of a block go through one datapath a cycle apart, and the products, which a
// block needs once, take four cycles of a short multiplier.
//
//   tensor_scale_i   g, beside the last numbers of a block; elsewhere it does not count
//   codes_o          of the numbers in their order, Lanes at a time
//   scale_o          of their block, beside all of its codes
//
// One enable moves all registers, but those of the queue at the output: low while that is full. A
// block is at place n when n enabled cycles have passed since its last numbers came (Lanes = 4:
// since the cycle behind that), and blocks are Beats places apart or more, so a step that takes
// place n of a block is controlled by token[n], and what belongs to a block is kept in registers
// that are written every Beats places (ng_token_relay):
//
//   0              the last numbers come; largest magnitude
//   1, 2           B: 6 first, 4 in the next cycle
//   2, 3           f, exponent
//   3, 4           T G
//   4, 5           N or N + 1
//   5, 6           S = factor G
//   6, 7           bounds of elements, of S
//   7 on           numbers are read, Beats places long; then distances, candidates, terms
//   Sum on         sums V, -W6, W4, Beats places long
//   Weigh on       T = s4 W4 - s6 W6, one bit of both factors a cycle
//   Multiply on    g T, four bits of T a cycle
//   Choose         2 V < g T?
//   Give on        the codes of the scale that was chosen leave, Beats places long
//
// Scales: ng_nvfp4_scale's, but for the 3 of 6, by which amax is divided instead of g multiplied.
// With A the significand of amax, B = A for 4, and for 6 it is 2/3 A where that is at least 128,
// 4/3 A else: eight bits, and behind the point a tail of two bits that repeat. So scale = B / G 2^n
// with the same G, 24 bits, for both. B is doubled where six bits are below six of G; else it is
// more than 31/32 G, whose nearest significand is 8 too. f is 2 B, its first bit behind the point
// being known if it was doubled, divided by six bits of G plus one, rounded down, less 8, or 0. The
// scale's significand is N or N + 1, N = (8 + f) >> d. T G is compared with 16 B cut behind 20
// bits: equal is less where the tail is not zero.
//
// Choice: T + 2^14 is what g is multiplied by, so that all its bits are positive, and g T + 2^14 g
// is compared with 2 V + 2^14 g.
//
// Width argument: as in ng_quantize_4over6. T G is below 31 * 2^24 < 2^29, S below 2^28. T + 2^14
// has 15 bits; the product with g, 39 bits, is kept from bit 14 on, those below it count as one. A
// unit of V is 2^19 of g T, 2^20 if S6 has bit 27: so 2 V + 2^14 g, from bit 14 on, is g + 32 V or
// g + 64 V, above 0 as V is above -2^17, and below 2^25.
module ng_quantize_4over6_folded #(
  parameter int Lanes = 4  // numbers a cycle: 1, 2 or 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [Lanes*16-1:0] a_i,
  input  logic [31:0]         tensor_scale_i,  // beside the block's last numbers
  output logic                valid_o,
  input  logic                ready_i,
  output logic [Lanes*4-1:0]  codes_o,
  output logic [7:0]          scale_o,         // of the block, beside all of its codes
  output logic                last_o           // the block's last codes
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 4 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_quantize_4over6_folded: Lanes=%0d; expected 1 to 4, a power of two", Lanes);
  end
`endif

  localparam int Beats    = 16 / Lanes;
  localparam int BeatBits = $clog2(Beats);
  localparam int Levels   = $clog2(Lanes);
  // Places of a block
  localparam int Read     = 7;
  localparam int Sum      = Read + (Lanes > 1 ? 5 : 4);
  localparam int Weigh    = Sum + Beats;
  localparam int Multiply = Weigh + 4;
  localparam int Choose   = Multiply + 4;
  localparam int Give     = Choose + 1;
  localparam int Tokens   = Give + Beats;

  // ---- control; numbers wait for their scales
  localparam int WaitBits = BeatBits + (Lanes == 4 ? 2 : 1);
  logic                enable, take, last, come, come_last, run_q, give_q;
  logic [Tokens-1:0]   token;
  logic [WaitBits-1:0] write_q, read_q;
  logic [Lanes*16-1:0] beat;
  assign ready_o = enable;
  assign take = valid_i & enable;
  assign last = &write_q[BeatBits-1:0];
  ng_valid_pipe #(
    .Depth(Tokens - 1)
  ) u_token (
    .clk_i,
    .rst_ni,
    .en_i   (enable),
    .valid_i(come_last),
    .valid_o(token)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      run_q   <= 1'b0;
      give_q  <= 1'b0;
    end else if (enable) begin
      if (valid_i) write_q <= write_q + WaitBits'(1);
      if (run_q) read_q <= read_q + WaitBits'(1);
      run_q  <= token[Read-1] | (run_q & ~token[Read+Beats-1]);
      give_q <= token[Give-1] | (give_q & ~token[Give+Beats-1]);
    end
  end
  ng_ram #(
    .Width(Lanes * 16),
    .Depth(1 << WaitBits)
  ) u_numbers (
    .clk_i,
    .we_i   (take),
    .waddr_i(write_q),
    .wdata_i(a_i),
    .re_i   (enable),
    .raddr_i(read_q),
    .rdata_o(beat)
  );

  // ---- largest magnitude, complemented: x > m is the carry of x + ~m
  localparam int Compared = Lanes == 4 ? 3 : Lanes;  // of 4 the first two are one
  logic [15*Compared-1:0] magnitudes;
  logic [31:0]            g_come, tensor_q;
  logic [14:0]            max_q, amax_n;
  if (Lanes == 4) begin : gen_pair
    logic        more, come_q, come_last_q;
    logic [14:0] unused_sum, larger_q, third_q, fourth_q;
    logic [31:0] g_come_q;
    assign {more, unused_sum} = {1'b0, a_i[30:16]} + {1'b0, ~a_i[14:0]};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {come_q, come_last_q} <= '0;
      else if (enable) {come_q, come_last_q} <= {valid_i, valid_i & last};
    end
    always_ff @(posedge clk_i) begin
      if (enable) begin
        larger_q <= more ? a_i[30:16] : a_i[14:0];
        {fourth_q, third_q, g_come_q} <= {a_i[62:48], a_i[46:32], tensor_scale_i};
      end
    end
    assign magnitudes = {fourth_q, third_q, larger_q};
    assign g_come = g_come_q;
    assign {come, come_last} = {come_q, come_last_q};
  end else begin : gen_single
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      assign magnitudes[15*i +: 15] = a_i[16*i +: 15];
    end
    assign g_come = tensor_scale_i;
    assign {come, come_last} = {valid_i, valid_i & last};
  end
  for (genvar i = 0; i <= Compared; i++) begin : gen_max
    logic [14:0] largest_n;
    if (i == 0) begin : gen_none
      assign largest_n = max_q;
    end else begin : gen_next
      logic [14:0] magnitude, unused_sum;
      logic        more;
      assign magnitude = magnitudes[15*i-15 +: 15];
      assign {more, unused_sum} = {1'b0, magnitude} + {1'b0, gen_max[i-1].largest_n};
      assign largest_n = more ? ~magnitude : gen_max[i-1].largest_n;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) max_q <= '1;
    else if (enable & come) max_q <= come_last ? '1 : gen_max[Compared].largest_n;
  end
  always_ff @(posedge clk_i) begin
    if (enable & token[0]) begin
      amax_n <= gen_max[Compared].largest_n;
      tensor_q    <= g_come;
    end
  end

  // ---- B and its tail; the exponent but for what B adds
  // quotient, remainder
  function automatic logic [3:0] third_of(input logic [1:0] rest, input logic [1:0] digit);
    case ({rest, digit})
      4'd0: third_of = 4'b0000;
      4'd1: third_of = 4'b0001;
      4'd2: third_of = 4'b0010;
      4'd3: third_of = 4'b0100;
      4'd4: third_of = 4'b0101;
      4'd5: third_of = 4'b0110;
      4'd6: third_of = 4'b1000;
      4'd7: third_of = 4'b1001;
      4'd8: third_of = 4'b1010;
      4'd9: third_of = 4'b1100;
      4'd10: third_of = 4'b1101;
      default: third_of = 4'b1110;
    endcase
  endfunction
  logic        six;
  logic [6:0]  man;
  logic [5:0]  third;
  logic [1:0]  rest5, rest3, rest1;
  assign six = token[1];
  assign man = ~amax_n[6:0];
  assign {third[5:4], rest5} = third_of({~man[6], 1'b0}, man[5:4]);
  assign {third[3:2], rest3} = third_of(rest5, man[3:2]);
  assign {third[1:0], rest1} = third_of(rest3, man[1:0]);

  logic signed [9:0] distance_q;  // of exponents
  logic              nan_q, lowered_q;
  logic        [6:0] divisor_q;         // below its highest bit
  logic        [1:0] tail_q;
  always_ff @(posedge clk_i) begin
    if (enable) begin
      distance_q <= $signed({2'b0, ~amax_n[14:7]}) - $signed({2'b0, tensor_q[30:23]});
      nan_q      <= ~(|amax_n[14:7]) | tensor_q[31] | (&tensor_q[30:23]) | ~(|tensor_q[30:27]);
      divisor_q        <= ~six ? man : man[6] ? {third, rest1[1]} : {third[4:0], rest1};
      tail_q     <= ~six ? 2'b0 : man[6] ? {rest1[0], rest1[1]} : rest1;
      lowered_q  <= six & ~man[6];
    end
  end

  // ---- f: subtracting h + 1 is adding ~h. Rests are even. The low bits of the first one count as
  // ones, and so does bit 1 of the last one, together 16 of 33 at most. Where that makes f larger,
  // the quotient is at least 8 + f - 16/33, beyond the midpoint below 8 + f: so N stays right.
  logic              above, over;
  logic        [4:0] unused_above;
  logic        [8:0] b_wide;
  logic        [5:0] h_n;
  logic        [9:4] rest_8;
  logic        [9:2] less_8;
  logic        [8:2] rest_4;
  logic        [8:1] less_4;
  logic        [7:2] rest_2;
  logic        [6:0] unused_less;
  logic              unused_rest, frac2, frac1, frac0;
  assign {above, unused_above} = {1'b0, divisor_q[6:2]} + {1'b0, ~tensor_q[22:18]} + 6'd1;
  assign b_wide = above ? {2'b01, divisor_q} : {1'b1, divisor_q, tail_q[1]};
  assign h_n = {1'b0, ~tensor_q[22:18]};
  assign {rest_8, unused_rest} = b_wide[8:2] + {1'b1, h_n};
  assign less_8 = {rest_8, 2'b11} + {2'b11, h_n};
  assign frac2 = ~less_8[9];
  assign rest_4 = frac2 ? less_8[8:2] : {rest_8[8:4], 2'b11};
  assign less_4 = {rest_4, 1'b1} + {2'b11, h_n};
  assign frac1 = ~less_4[8];
  assign rest_2 = frac1 ? less_4[7:2] : rest_4[7:2];
  assign {over, unused_less} = {rest_2[7], rest_2, 1'b1} + {3'b111, h_n[5:1]};
  assign frac0 = ~over;

  // The exponent of the scale: 0 is that of the least normal ones, 3 is added, 1 where B is not
  // doubled, and -1 where it is 4/3 A.
  logic signed [9:0] exponent;
  logic              largest, zero;
  assign exponent = distance_q + $signed({7'b0, above & ~lowered_q, ~(above & ~lowered_q),
      ~(above ^ lowered_q)});
  assign largest = ~exponent[9] & ((|exponent[8:4]) | (&exponent[3:0])
      | ((&exponent[3:1]) & frac2 & frac1));
  assign zero = exponent[9] & ~(&exponent[8:2]);  // so it is if amax is subnormal, or g is refused

  logic [2:0] frac_q;
  logic [4:0] field_q;  // -4 to 14
  logic [8:0] wide_q;
  logic [1:0] repeat_q;
  logic       exact_q, largest_q, zero_q;
  always_ff @(posedge clk_i) begin
    if (enable) begin
      frac_q       <= largest ? 3'd6 : {frac2, frac1, frac0};
      field_q   <= zero ? 5'b11100 : largest ? 5'd14 : exponent[4:0];
      wide_q    <= b_wide;
      repeat_q  <= above ? tail_q : {tail_q[0], tail_q[1]};
      exact_q   <= tail_q == 2'b0;
      largest_q <= largest;
      zero_q    <= zero;
    end
  end

  // ---- T; T G and S by the same rows
  logic [3:0]  midpoint;  // less 16
  logic [3:0]  n_low;     // N
  logic [3:0]  n_unit;    // 2^d; 0 for 16
  ng_nvfp4_candidates u_candidates (
    .frac_i    (frac_q),
    .field_i   (field_q),
    .midpoint_o(midpoint),
    .low_o     (n_low),
    .unit_o    (n_unit)
  );

  logic [23:0] g_sig_q;
  logic [3:0]  digits;
  logic [2:0]  factor;
  logic [28:0] product_n_q;  // complement of T G, or of 2 S
  logic [27:0] sig_q;
  assign digits = token[5] | token[6] ? {factor, 1'b0} : midpoint;
  for (genvar i = 0; i < 4; i++) begin : gen_row
    logic [25+i:0] partial, sum;
    if (i == 0) begin : gen_first
      assign partial = {1'b0, g_sig_q, 1'b0};
    end else begin : gen_next
      assign partial = {gen_row[i-1].sum, 1'b0};
    end
    assign sum = digits[3-i] ? partial + (26+i)'(g_sig_q) : partial;
  end
  always_ff @(posedge clk_i) begin
    if (enable & token[2]) g_sig_q <= {1'b1, tensor_q[22:0]};
    if (enable) begin
      product_n_q <= ~gen_row[3].sum;
      sig_q         <= gen_row[2].sum;
    end
  end

  // ---- N or N + 1
  logic [8:0]  wide_qq;
  logic [1:0]  repeat_qq;
  // bad_q stays until both candidates have their scales
  logic        up_if_equal_q, largest_qq, zero_qq, zero_qqq, bad_q, more, round_up_q;
  logic [3:0]  n_low_q, n_unit_q, n_low_qq, n_unit_qq;
  logic [2:0]  kept_q, kept_qq;  // 8 + f without its d lowest bits, without the 8
  logic [4:0]  field_qq, field_qqq;
  logic [29:0] unused_more;
  assign {more, unused_more} = {1'b0, wide_qq, {10{repeat_qq}}, 1'b1}
      + {1'b0, product_n_q, up_if_equal_q};
  always_ff @(posedge clk_i) begin
    if (enable) begin
      {wide_qq, repeat_qq, largest_qq, zero_qq, field_qq} <=
          {wide_q, repeat_q, largest_q, zero_q, field_q};
      up_if_equal_q <= n_low[0] | ~exact_q;
      {n_low_q, n_unit_q, kept_q} <= {n_low, n_unit, midpoint[3:1] & ~n_unit[3:1]};
      round_up_q <= more & ~largest_qq;
      {zero_qqq, bad_q, field_qqq, n_low_qq, n_unit_qq, kept_qq} <=
          {zero_qq, nan_q, field_qq, n_low_q, n_unit_q, kept_q};
    end
  end

  // ---- the scale
  logic       carry, whole;  // S is of the next binade; a scale of 0 counts as the least one
  logic [7:0] scale_q, scale6_q;
  logic       live_q, live6_q, whole_q, odd_q, odd6_q;  // exponent
  logic [2:0] factor_q, factor6_q;
  logic [4:0] field_n_q;
  // 16 is 8 with a carry
  assign {carry, factor} = {1'b0, kept_qq} + (round_up_q ? n_unit_qq : 4'd0);
  assign whole = carry | (n_low_qq == '0);
  always_ff @(posedge clk_i) begin
    if (enable) begin
      live_q    <= ~bad_q & ~zero_qqq & (round_up_q | (n_low_qq != '0));
      scale_q   <= bad_q ? 8'h7F : zero_qqq ? 8'h00
                 : {1'b0, field_qqq[3:0] & {4{~field_qqq[4]}}, 3'b0} + {4'b0, n_low_qq}
                 + {7'b0, round_up_q};
      factor_q  <= factor;
      whole_q   <= whole;
      field_n_q <= ~field_qqq;
      odd_q     <= field_qqq[0] ^ whole;
      {live6_q, scale6_q, factor6_q, odd6_q} <= {live_q, scale_q, factor_q, odd_q};
    end
  end

  // ---- what elements are compared with: those of ng_quantize_4over6, of S as it is, so fewer bits
  // have to be normalized
  logic [30:0] sig3, sig5, sig7;
  logic [8:0]  high3, high5, high7;
  logic [2:0]  halved, halved_q, halved6_q, halved6_qq, halved4_qq;
  logic [27:0] s_n, bounds_n, bounds_q, bounds6_q, bounds6_qq, bounds4_qq;
  logic        top, top6_q;
  assign s_n = product_n_q[28:1];
  assign top = sig_q[27];
  assign sig3 = {1'b0, sig_q, 2'b0} + {3'b111, s_n};
  assign sig5 = {1'b0, sig_q, 2'b0} + {3'b0, sig_q};
  assign sig7 = {sig_q, 3'b0} + {3'b111, s_n};
  assign high3 = top ? sig3[29:21] : sig3[28:20];
  assign high5 = top ? sig5[30:22] : sig5[29:21];
  assign high7 = top ? sig7[30:22] : sig7[29:21];
  assign halved = {high7[8], high3[8], high5[8]};
  assign bounds_n = ~{high7[8] ? high7[7:1] : high7[6:0], high3[8] ? high3[7:1] : high3[6:0],
                      high5[8] ? high5[7:1] : high5[6:0], top ? sig_q[26:20] : sig_q[25:19]};
  always_ff @(posedge clk_i) begin
    if (enable) begin
      {bounds_q, halved_q, bounds6_q, halved6_q, top6_q} <=
          {bounds_n, halved, bounds_q, halved_q, top};
      if (token[8]) {bounds6_qq, halved6_qq, bounds4_qq, halved4_qq} <=
          {bounds6_q, halved6_q, bounds_q, halved_q};
    end
  end

  // 3 less the exponent of s6 g; whether that of s4 g is above it by one
  logic        [7:0] g_exp_n;
  logic signed [4:0] offset, offset_q;
  logic        [8:0] least_q;
  logic              farther_q;
  // never both: S G is G where S is a power of two
  assign offset = $signed(field_n_q) + $signed({4'b0101, ~(top | whole_q)});
  always_ff @(posedge clk_i) begin
    if (enable) begin
      if (token[4]) g_exp_n <= ~tensor_q[30:23];
      offset_q <= offset;
      if (token[7]) begin
        least_q   <= {1'b1, g_exp_n} + 9'(offset_q);
        farther_q <= odd6_q ^ odd_q ^ top6_q ^ top;
      end
    end
  end

  // ---- what else of the block is needed, and when
  ng_quant_pkg::four_six_block_t  block_q, block_term, block_weigh;
  ng_quant_pkg::four_six_choice_t choice;
  logic [22:0]                    g_multiply;
  logic                           unused_block;
  always_ff @(posedge clk_i) begin
    if (enable & token[7])
      block_q <= {top6_q, factor6_q, factor_q, odd6_q ^ odd_q, live6_q, scale6_q != scale_q,
          scale6_q, scale_q};
  end
  ng_token_relay #(
    .Width ($bits(block_q)),
    .First (7),
    .Last  (9),
    .Step  (Beats),
    .Tokens(Tokens)
  ) u_block_term (
    .clk_i,
    .en_i   (enable),
    .token_i(token),
    .d_i    (block_q),
    .q_o    (block_term)
  );
  ng_token_relay #(
    .Width ($bits(block_q)),
    .First (9),
    .Last  (Weigh - 1),
    .Step  (Beats),
    .Tokens(Tokens)
  ) u_block_weigh (
    .clk_i,
    .en_i   (enable),
    .token_i(token),
    .d_i    (block_term),
    .q_o    (block_weigh)
  );
  ng_token_relay #(
    .Width ($bits(choice)),
    .First (Weigh - 1),
    .Last  (Choose - 1),
    .Step  (Beats),
    .Tokens(Tokens)
  ) u_choice (
    .clk_i,
    .en_i   (enable),
    .token_i(token),
    .d_i    (block_weigh.choice),
    .q_o    (choice)
  );
  ng_token_relay #(
    .Width (23),
    .First (2),
    .Last  (Multiply - 1),
    .Step  (Beats),
    .Tokens(Tokens)
  ) u_g (
    .clk_i,
    .en_i   (enable),
    .token_i(token),
    .d_i    (g_sig_q[22:0]),
    .q_o    (g_multiply)
  );
  assign unused_block = ^{block_weigh, block_term};

  // ---- candidates, and terms of the sums: V and W4 lack 1 for each 4 code that is above, -W6 for
  // each 6 code that is not. A term of V is above or below zero by the sign of above4_q alone:
  // where both codes are above it is zero, -1 and the 1 that it lacks.
  function automatic logic [4:0] weight_of(input logic [2:0] code, input logic minus);  // of halves
    weight_of = {1'b0, code[2] & code[1], code[2] & (~code[1] | code[0]), code[2]
        ? ~code[1] & code[0] : code[1],
                 ~code[2] & code[0]} ^ {5{minus}};
  endfunction

  logic [7*Lanes-1:0]  candidates_q, candidates;  // sign and codes
  logic [14*Lanes-1:0] terms_q;
  logic [5*Lanes-1:0]  weights6_q, weights4_q;
  logic [Lanes-1:0]    minus6_q, minus4_q;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [15:0] element;
    logic [8:0]  distance;
    logic [2:0]  place, place4, place_q, place4_q, place_qq;
    logic        less, sign_q;
    logic [6:0]  man_q, man_qq;
    assign element = beat[16*i +: 16];
    assign distance = {1'b0, element[14:7]} + least_q;
    assign place = distance[8] ? 3'd0 : distance[2:0] | {3{|distance[7:3]}};
    assign less = farther_q & (place != 3'd0);
    assign place4 = {place[2] & (~less | place[1] | place[0]), place[1] ^ (less & ~place[0]),
        place[0] ^ less};

    logic [2:0] code6, code4, code6_q, code4_q;
    logic       above6, above4, above6_q, above4_q;
    ng_quantize_4over6_lane u_six (
      .man_i   (man_q),
      .place_i (place_q),
      .bounds_n(bounds6_qq),
      .halved_i(halved6_qq),
      .code_o  (code6),
      .above_o (above6)
    );
    ng_quantize_4over6_lane u_four (
      .man_i   (man_q),
      .place_i (place4_q),
      .bounds_n(bounds4_qq),
      .halved_i(halved4_qq),
      .code_o  (code4),
      .above_o (above4)
    );

    logic        six_above;
    logic [8:0]  shifted1;
    logic [10:0] shifted2;
    logic [14:0] shifted4;
    assign six_above = above6_q & block_term.choice.live6;
    // Places 0 and 7 are of terms that are zero.
    assign shifted1 = (place_qq[0] ? {1'b1, man_qq, 1'b0} : {2'b01, man_qq})
        & {9{above4_q ^ six_above}};
    assign shifted2 = place_qq[1] ? {shifted1, 2'b0} : {2'b0, shifted1};
    assign shifted4 = place_qq[2] ? {shifted2, 4'b0} : {4'b0, shifted2};
    always_ff @(posedge clk_i) begin
      if (enable) begin
        {sign_q, man_q, place_q, place4_q} <= {element[15], element[6:0], place, place4};
        {candidates_q[7*i +: 7], above6_q, above4_q, man_qq, place_qq} <=
            {sign_q, code6, code4, above6, above4, man_q, place_q};
        terms_q[14*i +: 14] <= {1'b0, shifted4[13:1]} ^ {14{above4_q}};
        weights6_q[5*i +: 5] <= weight_of(code6_q, ~above6_q);
        weights4_q[5*i +: 5] <= weight_of(code4_q, above4_q);
        {minus6_q[i], minus4_q[i]} <= {~above6_q, above4_q};
      end
    end
    assign {code6_q, code4_q} = candidates_q[7*i +: 6];
    logic unused;
    assign unused = ^{shifted4[14], shifted4[0]};
  end

  // ---- V, -W6, W4
  logic signed [13+Levels:0] v_beat;
  logic signed [4+Levels:0]  w6_beat, w4_beat;
  logic                      w6_owed, w4_owed;  // that of V is that of W4
  if (Lanes == 1) begin : gen_one
    assign {v_beat, w6_beat, w4_beat} = {terms_q, weights6_q, weights4_q};
    assign {w6_owed, w4_owed} = {minus6_q, minus4_q};
  end else begin : gen_tree
    logic signed [13+Levels:0] v_tree;
    logic signed [4+Levels:0]  w6_tree, w4_tree;
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (14)
    ) u_v (
      .x_i    (terms_q),
      .carry_i(minus4_q[Lanes-2:0]),
      .sum_o  (v_tree)
    );
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (5)
    ) u_w6 (
      .x_i    (weights6_q),
      .carry_i(minus6_q[Lanes-2:0]),
      .sum_o  (w6_tree)
    );
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (5)
    ) u_w4 (
      .x_i    (weights4_q),
      .carry_i(minus4_q[Lanes-2:0]),
      .sum_o  (w4_tree)
    );
    always_ff @(posedge clk_i) begin
      if (enable) begin
        {v_beat, w6_beat, w4_beat} <= {v_tree, w6_tree, w4_tree};
        {w6_owed, w4_owed} <= {minus6_q[Lanes-1], minus4_q[Lanes-1]};
      end
    end
  end

  logic signed [17:0] v_sum, v_q, v_done_q;
  logic signed [8:0]  w6_sum, w6_q, w6_done_q, w4_sum, w4_q, w4_done_q;
  logic [2:0]         unused_half;
  assign {v_sum, unused_half[0]} = {v_q, 1'b1} + {18'(v_beat), w4_owed};
  assign {w6_sum, unused_half[1]} = {w6_q, 1'b1} + {9'(w6_beat), w6_owed};
  assign {w4_sum, unused_half[2]} = {w4_q, 1'b1} + {9'(w4_beat), w4_owed};
  always_ff @(posedge clk_i) begin
    if (enable) begin
      if (token[Sum-1]) {v_q, w6_q, w4_q} <= '0;
      else {v_q, w6_q, w4_q} <= {v_sum, w6_sum, w4_sum};
      if (token[Weigh-1]) {v_done_q, w6_done_q, w4_done_q} <= {v_sum, w6_sum, w4_sum};
    end
  end

  // ---- T
  logic signed [13:0] t_q;
  logic signed [14:0] t_half, t_sum, t_done_q;
  logic               digit6, digit4;
  logic signed [18:0] v_high_q;  // V in units of 2^19 of g T
  assign digit6 = (token[Weigh] & block_weigh.choice.live6)
                | (token[Weigh+1] & block_weigh.factor6[2])
                | (token[Weigh+2] & block_weigh.factor6[1])
                | (token[Weigh+3] & block_weigh.factor6[0]);
  assign digit4 = token[Weigh] | (token[Weigh+1] & block_weigh.factor4[2])
                | (token[Weigh+2] & block_weigh.factor4[1])
                | (token[Weigh+3] & block_weigh.factor4[0]);
  assign t_half = digit6 ? {t_q, 1'b0} + 15'(w6_done_q) : {t_q, 1'b0};
  assign t_sum = digit4
      ? t_half + (block_weigh.delta ? 15'($signed({w4_done_q, 1'b0})) : 15'(w4_done_q)) : t_half;
  always_ff @(posedge clk_i) begin
    if (enable) begin
      if (token[Weigh-1]) t_q <= '0;
      else t_q <= t_sum[13:0];
      if (token[Multiply-1]) begin
        t_done_q <= t_sum;
        v_high_q <= block_weigh.top6 ? {v_done_q, 1'b0} : 19'(v_done_q);
      end
    end
  end

  // ---- g (T + 2^14), lowest bits first; g + 32 V
  logic [23:0] g_sig, acc_q;
  logic [14:0] t_biased;
  logic [3:0]  t_digits;
  logic        half, odd, sticky, sticky_q, low_q;
  logic [24:0] high_q, balance, balance_n;
  assign g_sig = {1'b1, g_multiply};
  assign t_biased = {~t_done_q[14], t_done_q[13:0]};
  assign half = token[Multiply+2] | token[Multiply+3];
  assign odd = token[Multiply+1] | token[Multiply+3];
  assign t_digits = half ? (odd ? {1'b0, t_biased[14:12]} : t_biased[11:8])
      : (odd ? t_biased[7:4] : t_biased[3:0]);
  for (genvar i = 0; i < 4; i++) begin : gen_digit
    logic [23:0] partial;
    logic [24:0] sum;
    if (i == 0) begin : gen_first
      assign partial = acc_q;
    end else begin : gen_next
      assign partial = gen_digit[i-1].sum[24:1];
    end
    assign sum = t_digits[i] ? {1'b0, partial} + {1'b0, g_sig} : {1'b0, partial};
  end
  assign sticky = sticky_q | gen_digit[0].sum[0] | gen_digit[1].sum[0]
                | (~token[Multiply+3] & (gen_digit[2].sum[0] | gen_digit[3].sum[0]));
  assign balance = {1'b0, g_sig} + {v_high_q[18], v_high_q, 5'b0};
  always_ff @(posedge clk_i) begin
    if (enable) begin
      if (token[Multiply-1]) {acc_q, sticky_q} <= '0;
      else {acc_q, sticky_q} <= {gen_digit[3].sum[24:1], sticky};
      {high_q, low_q} <= {gen_digit[3].sum[23:0], gen_digit[2].sum[0], sticky};
      if (token[Choose-1]) balance_n <= ~balance;
    end
  end

  // ---- the choice
  logic        less, four, four_q, some_q;
  logic [7:0]  chosen_q;
  logic [25:0] unused_less4;
  assign {less, unused_less4} = {1'b0, high_q, 1'b1} + {1'b0, balance_n, low_q};
  assign four = choice.differ & less;
  always_ff @(posedge clk_i) begin
    if (enable & token[Choose]) begin
      four_q   <= four;
      some_q   <= four | choice.live6;
      chosen_q <= four ? choice.scale4 : choice.scale6;
    end
  end

  // ---- codes, after as many enabled cycles as the choice takes
  localparam int Wait     = Choose - (Read + 3);
  localparam int CodeBits = $clog2(Wait + 1);
  logic [CodeBits-1:0] code_write_q, code_read_q;
  logic [4*Lanes-1:0]  codes;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      code_write_q <= '0;
      code_read_q  <= CodeBits'((1 << CodeBits) - Wait);
    end else if (enable) begin
      code_write_q <= code_write_q + CodeBits'(1);
      code_read_q  <= code_read_q + CodeBits'(1);
    end
  end
  ng_ram #(
    .Width(7 * Lanes),
    .Depth(1 << CodeBits)
  ) u_codes (
    .clk_i,
    .we_i   (enable),
    .waddr_i(code_write_q),
    .wdata_i(candidates_q),
    .re_i   (enable),
    .raddr_i(code_read_q),
    .rdata_o(candidates)
  );
  for (genvar i = 0; i < Lanes; i++) begin : gen_code
    logic [6:0] both;
    assign both = candidates[7*i +: 7];
    assign codes[4*i +: 4] = {both[6], four_q ? both[2:0] : both[5:3]} & {4{some_q}};
  end
  ng_fifo2 #(
    .Width(4 * Lanes + 9)
  ) u_out (
    .clk_i,
    .rst_ni,
    .valid_i(give_q),
    .ready_o(enable),
    .data_i ({codes, chosen_q, token[Give+Beats-1]}),
    .valid_o,
    .ready_i,
    .data_o ({codes_o, scale_o, last_o})
  );

  logic unused;
  assign unused = ^{less_4[1], sig3[30], sig3[19:0], sig5[20:0], sig7[20:0], product_n_q[0],
      gen_row[3].sum[0]};
endmodule
