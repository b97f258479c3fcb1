// SPDX-License-Identifier: Apache-2.0
// 1BitSquared's iCEBreaker with an iCE40UP5K: a tile behind the USB serial port, at 24 MHz from the
// oscillator of 12 MHz, 3 Mbaud at 8 clocks a bit. The reset ends when the PLL is locked.
// Lights, on while low: led_no[0], green, a good frame has come; [1], red, the loop runs.
module ng_board_icebreaker (
  input  logic clk_12mhz_i,
  input  logic rx_i,   // from the FTDI chip
  output logic tx_o,
  output logic [1:0] led_no
);
  localparam int ClocksPerBit = 8;

  logic clk, locked, rst_n;
  SB_PLL40_PAD #(
    .FEEDBACK_PATH("SIMPLE"),
    .DIVR         (4'b0000),
    .DIVF         (7'b0111111),  // 12 MHz times 64
    .DIVQ         (3'b101),      // over 32
    .FILTER_RANGE (3'b001)
  ) u_pll (
    .PACKAGEPIN  (clk_12mhz_i),
    .PLLOUTGLOBAL(clk),
    .LOCK        (locked),
    .RESETB      (1'b1),
    .BYPASS      (1'b0)
  );
  ng_reset_sync #(
    .Stages(4)
  ) u_reset (
    .clk_i (clk),
    .rst_ni(locked),
    .rst_no(rst_n)
  );

  logic irq, good, runs;
  ng_board #(
    .ClocksPerBit(ClocksPerBit)
  ) u_board (
    .clk_i    (clk),
    .rst_ni   (rst_n),
    .rx_i,
    .tx_o,
    .locked_o (good),
    .running_o(runs),
    .irq_o    (irq)
  );
  assign led_no = ~{runs, good};
  logic unused;  // the host asks
  assign unused = irq;

endmodule
