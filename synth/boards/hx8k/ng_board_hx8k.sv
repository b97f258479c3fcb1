// SPDX-License-Identifier: Apache-2.0
// Lattice's iCE40-HX8K breakout board: a tile behind the USB serial port, at 48 MHz from the
// oscillator of 12 MHz, 3 Mbaud at 16 clocks a bit. The reset ends when the PLL is locked.
// Lights: led_o[0] lives, [1] the loop runs, [2] a good frame has come.
module ng_board_hx8k (
  input  logic clk_12mhz_i,
  input  logic rx_i,   // from the FTDI chip
  output logic tx_o,
  output logic [2:0] led_o
);
  localparam int ClocksPerBit = 16;

  logic clk, locked, rst_n;
  SB_PLL40_CORE #(
    .FEEDBACK_PATH("SIMPLE"),
    .DIVR         (4'b0000),
    .DIVF         (7'b0111111),  // 12 MHz times 64
    .DIVQ         (3'b100),      // over 16
    .FILTER_RANGE (3'b001)
  ) u_pll (
    .REFERENCECLK(clk_12mhz_i),
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

  logic irq;
  ng_board #(
    .ClocksPerBit(ClocksPerBit)
  ) u_board (
    .clk_i    (clk),
    .rst_ni   (rst_n),
    .rx_i,
    .tx_o,
    .locked_o (led_o[2]),
    .running_o(led_o[1]),
    .irq_o    (irq)
  );

  logic [24:0] lives_q;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) lives_q <= '0;
    else lives_q <= lives_q + 1'b1;
  end
  assign led_o[0] = lives_q[24] ^ irq;

endmodule
