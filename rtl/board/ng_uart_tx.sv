// SPDX-License-Identifier: Apache-2.0
// Sends bytes over a serial line: 8 data bits, no parity, one stop bit, the lowest bit first.
//
// Width argument: count_q goes down from ClocksPerBit - 1; left_q counts the ten bits of a byte.
module ng_uart_tx #(
  parameter int ClocksPerBit = 8  // 4 or more
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       tx_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ClocksPerBit < 4) begin : gen_check_clocks_per_bit
    $fatal(1, "ng_uart_tx: ClocksPerBit=%0d; expected 4 or more", ClocksPerBit);
  end
`endif

  localparam int CountWidth = $clog2(ClocksPerBit);
  logic [CountWidth-1:0] count_q;
  logic [3:0]            left_q;
  logic [8:0]            bits_q;  // the lowest is on the line
  assign ready_o = ~(|left_q);
  assign tx_o = bits_q[0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      left_q  <= '0;
      bits_q  <= '1;
    end else if (ready_o) begin
      count_q <= CountWidth'(ClocksPerBit - 1);
      left_q  <= valid_i ? 4'd10 : 4'd0;
      bits_q  <= valid_i ? {data_i, 1'b0} : '1;
    end else begin
      count_q <= (|count_q) ? count_q - CountWidth'(1) : CountWidth'(ClocksPerBit - 1);
      // ng-no-fault: with an even number of clocks a bit, a bit that is inverted in each of them comes back
      left_q  <= left_q - 4'(!(|count_q));
      bits_q  <= (|count_q) ? bits_q : {1'b1, bits_q[8:1]};
    end
  end

endmodule
