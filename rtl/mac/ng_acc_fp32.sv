// SPDX-License-Identifier: Apache-2.0
// Running sum in FP32, rounded to nearest even term by term: their order is part of the result.
//
// valid_i: take the term. first_i: start a new sum, from +0. acc_o is the sum up to the previous
// cycle's term, +0 after a reset.
module ng_acc_fp32 (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  input  logic        first_i,
  input  logic [31:0] term_i,  // FP32
  output logic [31:0] acc_o
);

  logic        normal, special, mantissa;
  logic [31:0] sum;
  assign normal = |term_i[30:23];
  assign special = &term_i[30:23];
  assign mantissa = |term_i[22:0];
  ng_add_fp32 #(
    .SigWidth(24),
    .Unnormal(0),
    .ExpHi   (127)
  ) u_add (
    .clk_i,
    .en_i    (1'b1),
    .x_nan_i (special & mantissa),
    .x_inf_i (special),
    .x_sign_i(term_i[31]),
    .x_exp_i (10'({term_i[30:24], term_i[23] | ~normal}) - 10'd127),
    .x_sig_i ({normal, term_i[22:0]}),
    .c_i     (first_i ? 32'd0 : acc_o),
    .sum_o   (sum)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) acc_o <= '0;
    else if (valid_i) acc_o <= sum;
  end

endmodule
