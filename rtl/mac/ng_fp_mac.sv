// SPDX-License-Identifier: Apache-2.0
// Floating-point multiply-accumulate: acc = a * b + acc, each step rounded once to FP32
// (ng_fma_fp32), in every cycle in which valid_i is set. first_i: start a new sum, from +0. acc_o
// is the sum up to the previous cycle's product.
// Not pipelined: multiplication, addition and rounding lie between two clocks, so that sums do not
// wait for each other.
module ng_fp_mac #(
  parameter int ExpBits = 8,   // of a and b: 8/7 BF16, 5/10 FP16, 8/10 TF32, 8/23 FP32
  parameter int ManBits = 7,
  localparam int Bits = 1 + ExpBits + ManBits
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  input  logic            first_i,
  input  logic [Bits-1:0] a_i,
  input  logic [Bits-1:0] b_i,
  output logic [31:0]     acc_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ExpBits < 2 || ExpBits > 8) begin : gen_check_exp_bits
    $fatal(1, "ng_fp_mac: ExpBits=%0d; expected 2 to 8", ExpBits);
  end
  if (ManBits < 1 || ManBits > 23) begin : gen_check_man_bits
    $fatal(1, "ng_fp_mac: ManBits=%0d; expected 1 to 23", ManBits);
  end
`endif

  logic [31:0] sum;
  ng_fma_fp32 #(
    .ExpBits(ExpBits),
    .ManBits(ManBits)
  ) u_fma (
    .clk_i,
    .en_i  (1'b1),
    .a_i,
    .b_i,
    .c_i   (first_i ? 32'd0 : acc_o),
    .fp32_o(sum)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acc_o <= '0;
    end else if (valid_i) begin
      acc_o <= sum;
    end
  end

endmodule
