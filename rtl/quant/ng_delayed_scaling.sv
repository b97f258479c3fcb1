// SPDX-License-Identifier: Apache-2.0
// Delayed scaling: a tensor's scale from the largest magnitudes of earlier tensors, so that the
// tensor is quantized while it is made. Twin of narrowgauge::DelayedScaling. A is the largest of
// the last History maxima.
//
//   PowerOfTwo  TensorScale  scale_o
//   0           0            what x is multiplied by: fl(fl(Largest / A) / 2^Margin), where an
//               infinity is FLT_MAX, whatever the margin
//   0           1            what decoding multiplies by: fl(A / (Largest 2^-Margin)), from 2^-126
//               to FLT_MAX
//   1           0            the largest power of two that keeps A within Largest / 2^Margin,
//               2^-126 to 2^127
//   1           1            one over that
//
// 1 after reset. Where A is 0, an infinity or a NaN, scale_o stays as it was.
//
// A maximum is taken where valid_i and ready_o are high. Then the memory of maxima is read, the
// quotient made (ng_div_fp32) or the exponents subtracted, and ready_o is high again: scale_o is
// that of the next tensor from then on, and the old one until then.
//
// Width argument: Largest < 2^24 has an exponent of 0 to 23, A -149 to 127; with Margin, the
// exponent of a power of two is -228 to 172, less 1: 10 bits.
module ng_delayed_scaling #(
  parameter int History     = 16,
  parameter int Largest     = 448,
  parameter int Margin      = 0,
  parameter bit PowerOfTwo  = 1'b0,  // scales are powers of two, without a division
  parameter bit TensorScale = 1'b0   // scale_o is what decoding multiplies by
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [30:0] amax_i,  // FP32 without its sign
  output logic [31:0] scale_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (History < 1 || History > 65536) begin : gen_check_history
    $fatal(1, "ng_delayed_scaling: History=%0d; expected 1 to 65536", History);
  end
  if (Largest < 1 || Largest > 16777215) begin : gen_check_largest
    $fatal(1, "ng_delayed_scaling: Largest=%0d; expected 1 to 16777215", Largest);
  end
  if (Margin < 0 || Margin > 100) begin : gen_check_margin
    $fatal(1, "ng_delayed_scaling: Margin=%0d; expected 0 to 100", Margin);
  end
`endif

  localparam int LargestExp = $clog2(Largest + 1) - 1;
  localparam logic [23:0] LargestSig = 24'(Largest) << (23 - LargestExp);

  typedef enum logic [1:0] {Idle, Scan, Decide, Divide} state_e;
  state_e      state_q;
  logic [30:0] max_q;
  logic        take, none;
  logic        scanned;
  logic [30:0] larger;  // of max_q and what was read
  assign ready_o = state_q == Idle;
  assign take = valid_i & ready_o;
  assign none = max_q == '0 || (&max_q[30:23]);

  // ---- the maxima
  if (History > 1) begin : gen_history
    localparam int AddrWidth = $clog2(History);
    logic [AddrWidth-1:0] write_q, last_q, read_q;  // last_q: the highest address written so far
    logic                 full_q, reading_q, read;
    logic [30:0]          old;
    assign read = state_q == Scan;  // once too often, and what comes then is not looked at
    assign larger = reading_q && old > max_q ? old : max_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        write_q   <= '0;
        last_q    <= '0;
        read_q    <= '0;
        full_q    <= 1'b0;
        reading_q <= 1'b0;
        scanned   <= 1'b0;
      end else begin
        reading_q <= read;
        scanned   <= read && read_q == last_q;
        full_q    <= full_q || write_q == AddrWidth'(History - 1);  // from the last one's offer on
        if (take) begin
          write_q <= write_q == AddrWidth'(History - 1) ? '0 : write_q + AddrWidth'(1);
          last_q  <= full_q ? AddrWidth'(History - 1) : write_q;
          read_q  <= '0;
        end else if (read) begin
          read_q <= read_q + AddrWidth'(1);
        end
      end
    end
    ng_ram #(
      .Width(31),
      .Depth(History)
    ) u_maxima (
      .clk_i,
      .we_i   (take),
      .waddr_i(write_q),
      .wdata_i(amax_i),
      .re_i   (read),
      .raddr_i(read_q),
      .rdata_o(old)
    );
  end else begin : gen_newest
    logic unused_take;
    assign unused_take = take;
    assign larger = max_q;
    assign scanned = 1'b1;
  end

  // ---- the scale
  logic        known;  // Decide: next is complete
  logic [31:0] next;
  if (PowerOfTwo) begin : gen_power
    logic [22:0]       fraction;
    logic [4:0]        places;  // by which a subnormal A is shifted up
    logic signed [9:0] exponent;
    logic [7:0]        a_field, field;
    assign known = 1'b1;
    if (LargestExp <= Margin) begin : gen_places
      logic normal, unused_one, unused_sticky;
      assign normal = |max_q[30:23];
      assign a_field = {max_q[30:24], max_q[23] | ~normal};
      ng_normalize #(
        .Width   (24),
        .OutWidth(24)
      ) u_normalize (
        .clk_i   (1'b0),
        .en_i    (1'b0),
        .data_i  ({normal, max_q[22:0]}),
        .fill_i  (1'b0),
        .sig_o   ({unused_one, fraction}),
        .sticky_o(unused_sticky),
        .shift_o (places)
      );
    end else begin : gen_clamped  // a subnormal A has 2^127 whatever it is
      assign fraction = max_q[22:0];
      assign a_field = max_q[30:23];
      assign places = '0;
    end
    // A 2^e <= Largest: e is the difference of the exponents, less 1 where A has the larger
    // significand. Biased:
    assign exponent = 10'(2 * 127 + LargestExp - Margin) - $signed({2'b0, a_field})
        + $signed({5'b0, places})
                    - (fraction > LargestSig[22:0] ? 10'sd1 : 10'sd0);
    assign field = exponent < 10'sd1 ? 8'd1 : exponent > 10'sd254 ? 8'd254 : exponent[7:0];
    if (TensorScale) begin : gen_inverse
      assign next = field == 8'd254 ? 32'h00400000 : {1'b0, 8'd254 - field, 23'b0};
    end else begin : gen_scale
      assign next = {1'b0, field, 23'b0};
    end
  end else begin : gen_quotient
    localparam logic [7:0] Field = 8'(127 + LargestExp - (TensorScale ? Margin : 0));
    localparam logic [31:0] Constant = {1'b0, Field, LargestSig[22:0]};
    localparam bit HasMargin = !TensorScale && Margin != 0;
    logic        unused_ready, unused_sign;
    logic [30:0] quotient;
    ng_div_fp32 #(
      .Saturate(HasMargin ? 0 : 1)  // a margin would make a smaller number of FLT_MAX
    ) u_div (
      .clk_i,
      .rst_ni,
      .valid_i(state_q == Decide),  // where there is none, it is idle again before the next
      .ready_o(unused_ready),
      .a_i    (TensorScale ? {1'b0, max_q} : Constant),
      .b_i    (TensorScale ? Constant : {1'b0, max_q}),
      .valid_o(known),
      .ready_i(1'b1),
      .y_o    ({unused_sign, quotient})
    );
    if (TensorScale) begin : gen_tensor_scale
      assign next = |quotient[30:23] ? {1'b0, quotient} : 32'h00800000;
    end else if (!HasMargin) begin : gen_no_margin
      assign next = {1'b0, quotient};
    end else begin : gen_margin
      localparam logic [9:0] Bias = 10'(127 + Margin);
      logic signed [9:0] exponent;
      logic [31:0]       rounded;
      assign next = &quotient[30:23] ? 32'h7F7FFFFF : rounded;
      assign exponent = {2'b0, quotient[30:24], quotient[23] | ~(|quotient[30:23])} - Bias;
      ng_round_pack #(
        .SigWidth(25),
        .ExpWidth(10),
        .ExpLo   (-126 - Margin),
        .ExpHi   (127 - Margin),
        .RandBits(1)
      ) u_round (
        .clk_i (1'b0),
        .en_i  (1'b0),
        .mode_i(2'd0),
        .nan_i (1'b0),
        .inf_i (1'b0),
        .sign_i(1'b0),
        .exp_i (exponent),
        .sig_i ({|quotient[30:23], quotient[22:0], 1'b0}),
        .rand_i(1'b0),
        .code_o(rounded)
      );
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      max_q   <= '0;
      scale_o <= 32'h3F800000;
    end else begin
      if (state_q == Idle) begin
        if (valid_i) begin
          max_q   <= History > 1 ? '0 : amax_i;  // it is in the memory, too
          state_q <= History > 1 ? Scan : Decide;
        end
      end else if (state_q == Scan) begin
        max_q <= larger;
        if (scanned) state_q <= Decide;
      end else if (PowerOfTwo != 0 || state_q == Decide) begin
        if (none) begin
          state_q <= Idle;
        end else if (PowerOfTwo == 0) begin
          state_q <= Divide;
        end else begin
          scale_o <= next;
          state_q <= Idle;
        end
      end else if (known) begin
        scale_o <= next;
        state_q <= Idle;
      end
    end
  end

endmodule
