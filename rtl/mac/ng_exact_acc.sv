// SPDX-License-Identifier: Apache-2.0
// Exact accumulator: adds signed terms without rounding, and keeps what fixed point cannot hold (NaN, infinities) in
// sticky flags. One register, one adder; the sum of the terms seen so far appears one clock after each term.
//
// valid_i: take term_i. first_i: start a new sum with this term (flags too).
//
// Width argument: n terms of TermWidth bits sum to at most n * 2^(TermWidth-1) in magnitude, so
// AccWidth = TermWidth + clog2(n) never overflows; the caller states n.
module ng_exact_acc #(
  parameter int TermWidth = 48,
  parameter int AccWidth  = 64
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

`ifndef __ICARUS__ // which has no elaboration tasks
  if (TermWidth < 2) begin : gen_check_term_width $fatal(1, "ng_exact_acc: TermWidth=%0d; expected 2 or more", TermWidth); end
  if (AccWidth < TermWidth) begin : gen_check_acc_width $fatal(1, "ng_exact_acc: AccWidth=%0d; expected at least TermWidth=%0d", AccWidth, TermWidth); end
`endif

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

endmodule
