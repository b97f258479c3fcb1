// SPDX-License-Identifier: Apache-2.0
// PANN's multiply-accumulate without a multiplier (arXiv 2202.02783): an activation is added |w|
// times to one of two unsigned sums, by the weight's sign; one subtraction makes the output.
//
// Elements of an output come with first_i on the first and last_i on the last, those with positive
// weights before those with negative ones: where the sign changes the sum P is inverted, ~P = -P -
// 1, and the negative weights' additions N go on from that; ~(~P + N) = P - N, so the subtraction
// costs an inversion. Once negative, an output stays so: negative_i low is then ignored. An element
// takes max(1, |w|) cycles. x_i is stored only if |w| > 0, so that a zero weight switches nothing;
// its negative_i is ignored. A result waits for ready_i in the accumulator, and all additions with
// it; while there is no result, result_o is 0.
//
// Width argument: sums of |w| * x over the positive and over the negative weights of an output must
// differ by less than 2^(AccWidth-1): for a mean of R additions an element AccWidth = clog2(R n
// (2^XWidth - 1) + 1) + 1 does, whatever the signs. Beyond, the result is modulo 2^AccWidth.
module ng_pann_mac #(
  parameter int XWidth   = 6,
  parameter int WWidth   = 4,
  parameter int AccWidth = 20
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic                       first_i,
  input  logic                       last_i,
  input  logic [XWidth-1:0]          x_i,
  input  logic [WWidth-1:0]          w_i,         // |w|
  input  logic                       negative_i,  // w < 0
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic signed [AccWidth-1:0] result_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (XWidth < 1) begin : gen_check_x_width
    $fatal(1, "ng_pann_mac: XWidth=%0d; expected 1 or more", XWidth);
  end
  if (WWidth < 1) begin : gen_check_w_width
    $fatal(1, "ng_pann_mac: WWidth=%0d; expected 1 or more", WWidth);
  end
  if (AccWidth < XWidth) begin : gen_check_acc_width
    $fatal(1, "ng_pann_mac: AccWidth=%0d; expected at least XWidth=%0d", AccWidth, XWidth);
  end
`endif

  // The element at work: x_q is added while count_q, the additions to go, is not 0.
  logic              busy_q, first_q, last_q, negative_q;
  logic [XWidth-1:0] x_q;
  logic [WWidth-1:0] count_q;
  // minus_q: this output's sum is inverted. valid_o: the sum is complete.
  logic [AccWidth-1:0] sum_q;
  logic                minus_q;

  logic blocked, work, final_cycle, take, change;
  assign blocked = valid_o & ~ready_i;
  assign work = busy_q & ~blocked;
  assign final_cycle = (count_q >> 1) == '0;  // 0 or 1
  // Not ready beside a result, taken or not: ready_i must not reach ready_o.
  assign ready_o = ~valid_o &
                   // ng-no-fault: the count of a unit that is not busy is 0 or 1, so that
                   //   final_cycle is 1
                   (~busy_q | final_cycle);
  assign take = valid_i & ready_o;
  assign change = negative_q & (first_q | ~minus_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      first_q    <= 1'b0;
      last_q     <= 1'b0;
      negative_q <= 1'b0;
      x_q        <= '0;
      count_q    <= '0;
    end else if (take) begin
      busy_q     <= 1'b1;
      first_q    <= first_i;
      last_q     <= last_i;
      negative_q <= negative_i & w_i != '0;
      count_q    <= w_i;
      if (w_i != '0) x_q <= x_i;
    end else if (work) begin
      busy_q  <= ~final_cycle;
      first_q <= 1'b0;
      if (count_q != '0) count_q <= count_q - WWidth'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q   <= '0;
      minus_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      valid_o <= blocked | (work & final_cycle & last_q);
      if (work) begin
        minus_q <= negative_q | (minus_q & ~first_q);
        if (count_q != '0) sum_q <= ((first_q ? '0 : sum_q) ^ {AccWidth{change}}) + AccWidth'(x_q);
        else if (first_q) sum_q <= '0;
      end
    end
  end
  assign result_o = (sum_q & {AccWidth{valid_o}}) ^ {AccWidth{valid_o & minus_q}};

endmodule
