// SPDX-License-Identifier: Apache-2.0
// Receives bytes from a serial line: 8 data bits, no parity, one stop bit, the lowest bit first.
//
// A bit is sampled in its middle, ClocksPerBit / 2 clocks behind the edge of the start bit. A byte
// whose stop bit is low is `broken_o`. data_o stays until the next byte's first data bit, at least
// 6 clocks. The line passes two registers first.
//
// Width argument: count_q goes down from ClocksPerBit - 1, bit_q up to 9.
module ng_uart_rx #(
  parameter int ClocksPerBit = 8  // 4 or more
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rx_i,
  output logic       valid_o,   // a byte has come, for one clock
  output logic       broken_o,  // a byte without a stop bit has come
  output logic [7:0] data_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ClocksPerBit < 4) begin : gen_check_clocks_per_bit
    $fatal(1, "ng_uart_rx: ClocksPerBit=%0d; expected 4 or more", ClocksPerBit);
  end
`endif

  localparam int CountWidth = $clog2(ClocksPerBit);
  logic                  half_q, line_q, before_q, busy_q, sample, stop;
  logic [CountWidth-1:0] count_q;
  logic [3:0]            bit_q;  // 0 is the start bit, 9 the stop bit
  assign sample = busy_q & ~(|count_q);
  assign stop = bit_q == 4'd9;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      half_q   <= 1'b1;
      line_q   <= 1'b1;
      before_q <= 1'b1;
      busy_q   <= 1'b0;
      count_q  <= '0;
      bit_q    <= '0;
      valid_o  <= 1'b0;
      broken_o <= 1'b0;
    end else begin
      half_q   <= rx_i;
      line_q   <= half_q;
      before_q <= line_q;
      valid_o  <= sample & stop & line_q;
      broken_o <= sample & stop & ~line_q;
      if (!busy_q) begin
        busy_q  <= before_q & ~line_q;
        bit_q   <= '0;
        count_q <= CountWidth'(ClocksPerBit / 2 - 1);
      end else if (sample) begin
        // a start bit that is over in its middle was none
        busy_q  <= ~stop & ((|bit_q) | ~line_q);
        bit_q   <= bit_q + 4'd1;
        count_q <= CountWidth'(ClocksPerBit - 1);
      end else begin
        count_q <= count_q - CountWidth'(1);
      end
    end
  end
  always_ff @(posedge clk_i) if (sample & ~stop) data_o <= {line_q, data_o[7:1]};

endmodule
