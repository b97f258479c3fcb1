// SPDX-License-Identifier: Apache-2.0
// Digilent's Arty A7-35T: a tile behind the USB serial port, at 48 MHz from the oscillator of 100 MHz,
// 3 Mbaud at 16 clocks a bit. The reset ends when the PLL is locked. Vivado takes the parameters,
// those of ng_tile, from the project (synth/boards/xilinx.tcl).
// Lights: led_o[0] lives, [1] the loop runs, [2] a good frame has come.
module ng_board_arty_a7 #(
  parameter int Rows           = 2,
  parameter int Cols           = 2,
  parameter int Lanes          = 16,
  parameter int FormatSet      = ng_format_set_pkg::Nvfp4,
  parameter int StreamWidth    = 32,
  parameter int ADepth         = 32,
  parameter int BDepth         = 32,
  parameter int MaxBeats       = 65536,
  parameter bit Counters       = 1'b1,
  parameter bit LoadCuts       = 1'b0,
  parameter int CommandCuts    = 0,
  parameter int CellCuts       = 0,
  parameter int ConvertCuts    = 0,
  parameter int ScaleCuts      = 0,
  parameter bit Requantize     = 1'b0,
  parameter int RequantizeCuts = 0,
  parameter bit Sparse         = 1'b0,
  parameter int Codec          = 0,
  parameter int Encoders       = 0,
  parameter bit Protect        = 1'b0,
  parameter bit Deadline       = 1'b0,
  parameter bit Integers       = 1'b0,
  parameter bit Mx             = 1'b0
) (
  input  logic clk_100mhz_i,
  input  logic rx_i,   // from the FTDI chip
  output logic tx_o,
  output logic [2:0] led_o
);
  localparam int ClocksPerBit = 16;

  logic clk_pll, clk, feedback, locked, rst_n;
  PLLE2_BASE #(
    .CLKIN1_PERIOD (10.0),
    .DIVCLK_DIVIDE (1),
    .CLKFBOUT_MULT (12),  // an oscillator of 1200 MHz
    .CLKOUT0_DIVIDE(25)
  ) u_pll (
    .CLKIN1  (clk_100mhz_i),
    .CLKFBIN (feedback),
    .CLKFBOUT(feedback),
    .RST     (1'b0),
    .PWRDWN  (1'b0),
    .CLKOUT0 (clk_pll),
    .CLKOUT1 (),
    .CLKOUT2 (),
    .CLKOUT3 (),
    .CLKOUT4 (),
    .CLKOUT5 (),
    .LOCKED  (locked)
  );
  BUFG u_clk (
    .I(clk_pll),
    .O(clk)
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
    .ClocksPerBit  (ClocksPerBit),
    .Rows          (Rows),
    .Cols          (Cols),
    .Lanes         (Lanes),
    .FormatSet     (FormatSet),
    .StreamWidth   (StreamWidth),
    .ADepth        (ADepth),
    .BDepth        (BDepth),
    .MaxBeats      (MaxBeats),
    .Counters      (Counters),
    .LoadCuts      (LoadCuts),
    .CommandCuts   (CommandCuts),
    .CellCuts      (CellCuts),
    .ConvertCuts   (ConvertCuts),
    .ScaleCuts     (ScaleCuts),
    .Requantize    (Requantize),
    .RequantizeCuts(RequantizeCuts),
    .Sparse        (Sparse),
    .Codec         (Codec),
    .Encoders      (Encoders),
    .Protect       (Protect),
    .Deadline      (Deadline),
    .Integers      (Integers),
    .Mx            (Mx)
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
