// SPDX-License-Identifier: Apache-2.0
// What ng_zap_predict's first filter hands to the second: the sum plus a bias, shifted down, 0 where
// it is negative and 255 where it is larger. Twin of narrowgauge::zap_hidden. Two registers, behind
// the addition and behind the result.
//
// Width argument: 20 bits and 24 bits add up to 25.
module ng_zap_hidden (
  input  logic               clk_i,
  input  logic               move_i,   // enable of both registers
  input  logic signed [19:0] sum_i,
  input  logic signed [23:0] bias_i,
  input  logic [3:0]         shift_i,
  output logic [7:0]         hidden_o
);

  logic signed [24:0] biased_q, shifted;
  assign shifted = biased_q >>> shift_i;
  always_ff @(posedge clk_i) begin
    if (move_i) begin
      biased_q <= 25'(sum_i) + 25'(bias_i);
      hidden_o <= {8{~shifted[24]}} & (shifted[7:0] | {8{|shifted[23:8]}});
    end
  end

endmodule
