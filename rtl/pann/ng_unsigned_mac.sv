// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulate of the unsigned split (PANN, arXiv 2202.02783): products of activations, 0 or
// more, and weights as sign and magnitude are added to one of two unsigned sums, by the weight's
// sign; one subtraction makes the output. No sign extension ever switches the upper bits of an
// adder.
//
// valid_i: take x_i, w_i, negative_i. first_i, last_i: first and last product of an output. In the
// cycle after the last product valid_o is high and result_o = positive sum - negative sum; in all
// others result_o is 0, so that nothing behind it switches.
//
// Schedule
//   0 sorted  one adder, one register. Positive weights come first, then negative ones: where the
//             sign changes the sum P is inverted, ~P = -P - 1, and the negative products N are
//             added to that; ~(~P + N) = P - N, so the subtraction costs an inversion. Once
//             negative, an output stays so: negative_i low is then ignored.
//   1 dual    two adders with a register each; the product reaches the one that adds, the other's
//             input is gated to zero.
//   2 muxed   one adder between two registers.
//
// Width argument: n products below 2^(XWidth+WWidth) sum to less than n * 2^(XWidth+WWidth), so
// that the difference of two such sums fits AccWidth = XWidth + WWidth + clog2(n) + 1 signed bits.
// Beyond, the result is modulo 2^AccWidth.
module ng_unsigned_mac #(
  parameter int XWidth   = 8,
  parameter int WWidth   = 8,
  parameter int AccWidth = 32,
  parameter int Schedule = 0   // 0 sorted, 1 dual, 2 muxed
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  input  logic                       first_i,
  input  logic                       last_i,
  input  logic [XWidth-1:0]          x_i,
  input  logic [WWidth-1:0]          w_i,         // |w|
  input  logic                       negative_i,  // w < 0
  output logic                       valid_o,
  output logic signed [AccWidth-1:0] result_o
);

  localparam int Sorted = 0;  // values of Schedule
  localparam int Dual   = 1;
  localparam int Muxed  = 2;
  localparam int ProductWidth = XWidth + WWidth;
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (XWidth < 1 || XWidth > 16) begin : gen_check_x_width
    $fatal(1, "ng_unsigned_mac: XWidth=%0d; expected 1 to 16", XWidth);
  end
  if (WWidth < 1 || WWidth > 16) begin : gen_check_w_width
    $fatal(1, "ng_unsigned_mac: WWidth=%0d; expected 1 to 16", WWidth);
  end
  if (AccWidth < ProductWidth) begin : gen_check_acc_width
    $fatal(1, "ng_unsigned_mac: AccWidth=%0d; expected at least the product's %0d",
           AccWidth, ProductWidth);
  end
  if (Schedule < Sorted || Schedule > Muxed) begin : gen_check_schedule
    $fatal(1, "ng_unsigned_mac: Schedule=%0d; expected 0 (sorted), 1 (dual) or 2 (muxed)",
           Schedule);
  end
`endif

  // A module of its own, like every multiplier here: fused with the accumulator it would be as wide
  // as that.
  logic [ProductWidth-1:0] product;
  ng_int_mult #(
    .AWidth (XWidth),
    .BWidth (WWidth),
    .ASigned(1'b0),
    .BSigned(1'b0)
  ) u_mult (
    .a_i      (x_i),
    .b_i      (w_i),
    .product_o(product)
  );

  // The cycle of the result. Sums are gated by it in front of all that makes the result of them.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= valid_i & last_i;
  end

  if (Schedule == Sorted) begin : gen_sorted
    logic                minus_q, change;
    logic [AccWidth-1:0] sum_q;
    assign change = negative_i & (first_i | ~minus_q);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        minus_q <= 1'b0;
        sum_q   <= '0;
      end else if (valid_i) begin
        minus_q <= negative_i | (minus_q & ~first_i);
        sum_q   <= ((first_i ? '0 : sum_q) ^ {AccWidth{change}}) + AccWidth'(product);
      end
    end
    assign result_o = (sum_q & {AccWidth{valid_o}}) ^ {AccWidth{valid_o & minus_q}};
  end

  if (Schedule == Dual) begin : gen_dual
    logic [1:0]            started_q;  // this output has products of that sign
    logic [2*AccWidth-1:0] sums;
    for (genvar s = 0; s < 2; s++) begin : gen_sign
      logic                    mine;
      logic [ProductWidth-1:0] gated;
      logic [AccWidth-1:0]     sum_q;
      assign mine = negative_i == (s == 1);
      assign gated = product & {ProductWidth{mine}};
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          started_q[s] <= 1'b0;
          sum_q        <= '0;
        end else if (valid_i) begin
          started_q[s] <= mine | (started_q[s] & ~first_i);
          if (mine) sum_q <= (first_i | ~started_q[s] ? '0 : sum_q) + AccWidth'(gated);
        end
      end
      assign sums[s*AccWidth +: AccWidth] = sum_q & {AccWidth{valid_o & started_q[s]}};
    end
    assign result_o = sums[0 +: AccWidth] - sums[AccWidth +: AccWidth];
  end

  if (Schedule == Muxed) begin : gen_muxed
    logic [1:0]          started_q;
    logic                restart;
    logic [AccWidth-1:0] positive_q, negative_q, sum;
    assign restart = first_i | ~(negative_i ? started_q[1] : started_q[0]);
    assign sum = (restart ? '0 : negative_i ? negative_q : positive_q) + AccWidth'(product);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        started_q  <= 2'b00;
        positive_q <= '0;
        negative_q <= '0;
      end else if (valid_i) begin
        started_q <= {negative_i, ~negative_i} | (started_q & {2{~first_i}});
        if (negative_i) negative_q <= sum;
        else positive_q <= sum;
      end
    end
    assign result_o = (positive_q & {AccWidth{valid_o & started_q[0]}})
        - (negative_q & {AccWidth{valid_o & started_q[1]}});
  end

endmodule
