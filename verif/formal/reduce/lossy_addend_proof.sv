// SPDX-License-Identifier: Apache-2.0
// ng_lossy_addend gives a BF16 number in units of 2^-134, and ng_lossy_product a byte times 24 bits, for all inputs.
module lossy_addend_proof (
  input logic [15:0] value_i,
  input logic [7:0]  byte_i,
  input logic [23:0] factor_i
);
  logic [3:0]  digit;
  logic [23:0] addend;
  logic        nan;
  ng_lossy_addend u_addend (
    .value_i (value_i),
    .digit_o (digit),
    .addend_o(addend),
    .nan_o   (nan)
  );
  // The number: its significand, subnormal ones at the least exponent, which is 1.
  logic [7:0]         exponent, places;
  logic signed [23:0] magnitude;
`ifdef ADDEND_FALSE
  assign exponent = value_i[14:7];  // subnormal numbers at exponent 0
`else
  assign exponent = value_i[14:7] == 8'd0 ? 8'd1 : value_i[14:7];
`endif
  assign places = exponent - {digit, 4'b0000};
  assign magnitude = 24'({value_i[14:7] != 8'd0, value_i[6:0]}) << places;
  always_comb begin
    assert (places < 8'd16);
    assert (nan == (value_i[14:7] == 8'd255));
    assert ($signed(addend) == (value_i[15] ? -magnitude : magnitude));
  end

  logic [27:0] low, high;
  ng_lossy_product u_product (
    .byte_i  (byte_i),
    .factor_i(factor_i),
    .low_o   (low),
    .high_o  (high)
  );
  logic [27:0] rows [8];
  for (genvar i = 0; i < 8; i++) begin : gen_row
    assign rows[i] = byte_i[i] ? 28'(factor_i) << (i % 4) : 28'd0;
  end
  always_comb begin
    assert (low == (rows[0] + rows[1]) + (rows[2] + rows[3]));
    assert (high == (rows[4] + rows[5]) + (rows[6] + rows[7]));
  end
endmodule
