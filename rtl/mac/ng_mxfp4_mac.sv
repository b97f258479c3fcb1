// SPDX-License-Identifier: Apache-2.0
// MXFP4 multiply-accumulate: a block of 32 pairs a cycle. The block's dot product is rounded to
// FP32 (ng_dot_mxfp4) and added in FP32, nearest even, to the running sum: E8M0 scales span too far
// for an exact accumulator, so the order of the blocks is part of the result. Twin of the golden
// product (gemm.hpp) of one row and one column.
//
// valid_i: take the block. first_i: start a new sum, from +0. acc_o is the sum up to the previous
// cycle's block, with Pipelined up to the one before.
module ng_mxfp4_mac #(
  // a register between the dot product and its addition, as in the array's cell
  parameter bit Pipelined = 1'b0
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  input  logic         first_i,
  input  logic [127:0] a_i,
  input  logic [127:0] b_i,
  input  logic [7:0]   a_scale_i,
  input  logic [7:0]   b_scale_i,
  output logic [31:0]  acc_o
);

  logic [31:0] dot, term;
  logic        valid, first;
  ng_dot_mxfp4 u_dot (
    .clk_i,
    .en_i     (1'b1),
    .a_i,
    .b_i,
    .a_scale_i,
    .b_scale_i,
    .fp32_o   (dot)
  );

  if (Pipelined) begin : gen_register
    logic        valid_q, first_q;
    logic [31:0] term_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= valid_i;
    end
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        term_q  <= dot;
        first_q <= first_i;
      end
    end
    assign {valid, first, term} = {valid_q, first_q, term_q};
  end else begin : gen_no_register
    assign {valid, first, term} = {valid_i, first_i, dot};
  end

  ng_acc_fp32 u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .first_i(first),
    .term_i (term),
    .acc_o
  );

endmodule
