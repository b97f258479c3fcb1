// SPDX-License-Identifier: Apache-2.0
// CRC-32 of bytes (IEEE 802.3: polynomial 04C11DB7, the lowest bit first, all ones at the start,
// inverted at the end), a bit a clock: a byte may come every 8 clocks.
//
// crc_o is not inverted. Behind bytes and their CRC, lowest byte first, it is DEBB20E3. A byte that
// is crc_o's lowest one takes it off, and zeros follow from above.
//
// Width argument: none; left_q counts 8 bits.
module ng_crc32_serial (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        valid_i,
  input  logic [7:0]  data_i,
  output logic [31:0] crc_o
);
  logic [7:0]  bits_q;
  // ng-no-fault: the count may go through any values, as long as the run ends after as many cycles
  logic [3:0]  left_q;
  logic        busy;
  logic [31:0] polynomial;
  assign busy = |left_q;
  assign polynomial = crc_o[0] ^ bits_q[0] ? 32'hEDB88320 : 32'h0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
      crc_o  <= '1;
    // ng-no-fault(ng_uart_bridge): an answer's own CRC takes itself off, which clears it for the next
    end else if (clear_i) begin
      left_q <= '0;
      crc_o  <= '1;
    end else begin
      // ng-no-fault: as above
      left_q <= valid_i ? 4'd8 : left_q - 4'(busy);
      if (busy) crc_o <= {1'b0, crc_o[31:1]} ^ polynomial;
    end
  end
  always_ff @(posedge clk_i) bits_q <= valid_i ? data_i : {1'b0, bits_q[7:1]};

endmodule
