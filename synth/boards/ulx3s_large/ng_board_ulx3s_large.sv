// SPDX-License-Identifier: Apache-2.0
// Radiona's ULX3S with an ECP5-85F: a tile of many cells behind the USB serial port, at 50 MHz from the
// oscillator of 25 MHz, 2 Mbaud at 25 clocks a bit. The reset ends when the PLL is locked.
// Lights: led_o[0] lives, [1] the loop runs, [2] a good frame has come.
module ng_board_ulx3s_large (
  input  logic clk_25mhz_i,
  input  logic rx_i,   // from the FTDI chip
  output logic tx_o,
  output logic [2:0] led_o
);
  localparam int ClocksPerBit = 25;

  logic clk, locked, rst_n;
  // As ecppll of Project Trellis gives it.
  (* FREQUENCY_PIN_CLKI = "25", FREQUENCY_PIN_CLKOP = "50" *)
  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .PLLRST_ENA      ("DISABLED"),
    .INTFB_WAKE      ("DISABLED"),
    .STDBY_ENABLE    ("DISABLED"),
    .DPHASE_SOURCE   ("DISABLED"),
    .OUTDIVIDER_MUXA ("DIVA"),
    .OUTDIVIDER_MUXB ("DIVB"),
    .OUTDIVIDER_MUXC ("DIVC"),
    .OUTDIVIDER_MUXD ("DIVD"),
    .CLKI_DIV        (1),
    .CLKFB_DIV       (2),   // times 2
    .CLKOP_ENABLE    ("ENABLED"),
    .CLKOP_DIV       (12),  // of an oscillator of 600 MHz
    .CLKOP_CPHASE    (5),
    .CLKOP_FPHASE    (0),
    .FEEDBK_PATH     ("CLKOP")
  ) u_pll (
    .RST         (1'b0),
    .STDBY       (1'b0),
    .CLKI        (clk_25mhz_i),
    .CLKFB       (clk),
    .PHASESEL0   (1'b0),
    .PHASESEL1   (1'b0),
    .PHASEDIR    (1'b1),
    .PHASESTEP   (1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC (1'b0),
    .ENCLKOP     (1'b0),
    .CLKOP       (clk),
    .LOCK        (locked)
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
