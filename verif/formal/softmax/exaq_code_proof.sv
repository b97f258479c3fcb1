// SPDX-License-Identifier: Apache-2.0
// Comparisons and encoder of a lane of ng_exaq_codes, in parts: a bit of the thermometer says whether an attended key reaches
// its threshold; of two thresholds in rising order, what reaches the second reaches the first, so under rising thresholds no
// bit is high above a low one; and of such a thermometer the code is the number of bits that are high, in 2, 3 and 4 bits.
module exaq_code_proof (
  input logic         mask_i,
  input logic [15:0]  key_i,
  input logic [239:0] thresholds_i,
  input logic [14:0]  thermometer_i
);
  for (genvar b = 2; b <= 4; b++) begin : gen_bits
    localparam int Steps = (1 << b) - 1;
    logic [Steps-1:0] reached, expected;
    logic [b-1:0]     code, number;
    ng_exaq_compare #(
      .Bits(b)
    ) u_compare (
      .key_i         (key_i),
      .mask_i        (mask_i),
      .thresholds_n_i(~thresholds_i[16*Steps-1:0]),
      .reached_o     (reached)
    );
    ng_exaq_encode #(
      .Bits(b)
    ) u_encode (
      .reached_i(thermometer_i[Steps-1:0]),
      .code_o   (code)
    );
    for (genvar k = 0; k < Steps; k++) begin : gen_step
      logic [15:0] threshold;
      assign threshold = thresholds_i[16*k +: 16];
`ifdef CODE_FALSE
      assign expected[k] = mask_i & (key_i > threshold);  // a key at its threshold does not reach it
`else
      assign expected[k] = mask_i & (key_i >= threshold);
`endif
      always_comb assert (reached[k] == expected[k]);
      if (k > 0) begin : gen_order
        always_comb begin
          if (threshold >= thresholds_i[16*(k-1) +: 16] && reached[k]) assert (reached[k-1]);
        end
      end
    end
    always_comb begin
      number = '0;
      for (int k = 0; k < Steps; k++) number = number + b'(thermometer_i[k]);
      // No bit is high above a low one: the bits above the lowest are high only where the one below is.
      if ((thermometer_i[Steps-1:1] & ~thermometer_i[Steps-2:0]) == '0) assert (code == number);
    end
  end
endmodule
