// SPDX-License-Identifier: Apache-2.0
// Exact accumulator: adds signed terms without rounding, and keeps what fixed point cannot hold
// (NaN, infinities) in sticky flags. One adder; the sum of the terms seen so far appears one clock
// after each term, two clocks with Split.
//
// valid_i: take term_i. first_i: start a new sum with this term (flags too).
//
// Split: the low Split bits are added in one clock, the others in the next, with the carry between
// in a register. The loop from the sum to itself has no place for a cut, but each half closes its
// own loop, whose carry chain is shorter. The low half waits one clock in a register, so that all
// of acc_o belongs to the same term.
//
// Width argument: n terms of TermWidth bits sum to at most n * 2^(TermWidth-1) in magnitude, so
// AccWidth = TermWidth + clog2(n) never overflows; the caller states n.
module ng_exact_acc #(
  parameter int TermWidth = 48,
  parameter int AccWidth  = 64,
  // low bits of the sum that are added a clock before the others; 0: all at once
  parameter int Split     = 0
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        valid_i,
  input  logic                        first_i,
  input  logic signed [TermWidth-1:0] term_i,
  input  logic                        nan_i,
  input  logic                        pinf_i,
  input  logic                        ninf_i,
  output logic signed [AccWidth-1:0]  acc_o,
  output logic                        nan_o,
  output logic                        pinf_o,
  output logic                        ninf_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (TermWidth < 2) begin : gen_check_term_width
    $fatal(1, "ng_exact_acc: TermWidth=%0d; expected 2 or more", TermWidth);
  end
  if (AccWidth < TermWidth) begin : gen_check_acc_width
    $fatal(1, "ng_exact_acc: AccWidth=%0d; expected at least TermWidth=%0d", AccWidth, TermWidth);
  end
  if (Split < 0 || Split >= TermWidth) begin : gen_check_split
    $fatal(1, "ng_exact_acc: Split=%0d; expected 0 to TermWidth-1=%0d", Split, TermWidth - 1);
  end
`endif

  if (Split == 0) begin : gen_whole
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        acc_o  <= '0;
        nan_o  <= 1'b0;
        pinf_o <= 1'b0;
        ninf_o <= 1'b0;
      end else if (valid_i) begin
        acc_o  <= (first_i ? '0 : acc_o) + AccWidth'(term_i);
        nan_o  <= nan_i | (nan_o & ~first_i);
        pinf_o <= pinf_i | (pinf_o & ~first_i);
        ninf_o <= ninf_i | (ninf_o & ~first_i);
      end
    end
  end else begin : gen_split
    localparam int HighWidth = AccWidth - Split;
    // What is left of a term a clock later.
    logic                              valid_q, first_q, nan_q, pinf_q, ninf_q, carry_q;
    logic signed [TermWidth-Split-1:0] high_term_q;
    logic        [Split-1:0]           low_q;
    logic        [Split:0]             low_sum;
    logic        [HighWidth-1:0]       high_sum;
    logic                              unused_half;
    assign low_sum = {1'b0, first_i ? '0 : low_q} + {1'b0, term_i[Split-1:0]};
    // The carry-in as a half-unit column: 1/2 + carry/2. One addition, hence one carry chain.
    assign {high_sum, unused_half} = {first_q ? HighWidth'(0) : acc_o[AccWidth-1:Split], 1'b1}
        + {HighWidth'(high_term_q), carry_q};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q <= 1'b0;
        acc_o   <= '0;
        nan_o   <= 1'b0;
        pinf_o  <= 1'b0;
        ninf_o  <= 1'b0;
      end else begin
        valid_q <= valid_i;
        if (valid_q) begin
          acc_o  <= {high_sum, low_q};
          nan_o  <= nan_q | (nan_o & ~first_q);
          pinf_o <= pinf_q | (pinf_o & ~first_q);
          ninf_o <= ninf_q | (ninf_o & ~first_q);
        end
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) low_q <= '0;
      else if (valid_i) low_q <= low_sum[Split-1:0];
    end
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        first_q <= first_i;
        {nan_q, pinf_q, ninf_q} <= {nan_i, pinf_i, ninf_i};
        carry_q <= low_sum[Split];
        high_term_q <= term_i[TermWidth-1:Split];
      end
    end
  end

endmodule
