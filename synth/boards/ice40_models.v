// SPDX-License-Identifier: Apache-2.0
// What a bitstream of an iCE40 that was read back to Verilog has beside LUTs and flip-flops, for
// simulation: block RAM of 16, 8, 4 and 2 bits (Lattice TN-02002), and a PLL whose output is its
// input, locked after some clocks.
module SB_RAM40_4K (
  output reg [15:0] RDATA,
  input RCLK, RCLKE, RE,
  input [10:0] RADDR,
  input WCLK, WCLKE, WE,
  input [10:0] WADDR,
  input [15:0] MASK, WDATA
);
  parameter READ_MODE = 0, WRITE_MODE = 0;
  parameter [255:0] INIT_0 = 0, INIT_1 = 0, INIT_2 = 0, INIT_3 = 0, INIT_4 = 0, INIT_5 = 0;
  parameter [255:0] INIT_6 = 0, INIT_7 = 0, INIT_8 = 0, INIT_9 = 0, INIT_A = 0, INIT_B = 0;
  parameter [255:0] INIT_C = 0, INIT_D = 0, INIT_E = 0, INIT_F = 0;
  localparam [4095:0] INIT = {INIT_F, INIT_E, INIT_D, INIT_C, INIT_B, INIT_A, INIT_9, INIT_8,
                              INIT_7, INIT_6, INIT_5, INIT_4, INIT_3, INIT_2, INIT_1, INIT_0};
  reg [15:0] memory [0:255];

  // Of a narrow word, bit j is bit (j << mode) + part of a row, the part being the address above the
  // row's, and travels on pin (j << mode) + lead.
  localparam READ_LEAD = READ_MODE == 3 ? 3 : READ_MODE == 2 ? 1 : 0;
  localparam WRITE_LEAD = WRITE_MODE == 3 ? 3 : WRITE_MODE == 2 ? 1 : 0;
  wire [3:0] read_part = {1'b0, RADDR[10:8]} & ((1 << READ_MODE) - 1);
  wire [3:0] write_part = {1'b0, WADDR[10:8]} & ((1 << WRITE_MODE) - 1);
  reg [15:0] row, word;
  integer i, j, n;
  initial begin
    RDATA = 0;
    for (n = 0; n < 256; n = n + 1) memory[n] = INIT[16 * n +: 16];
  end
  always @(posedge WCLK) begin
    if (WE && WCLKE) begin
      if (WRITE_MODE == 0) begin
        memory[WADDR[7:0]] <= (WDATA & ~MASK) | (memory[WADDR[7:0]] & MASK);
      end else begin
        row = memory[WADDR[7:0]];
        for (i = 0; i < 16; i = i + (1 << WRITE_MODE))
          row[i[3:0] + write_part] = WDATA[i + WRITE_LEAD];
        memory[WADDR[7:0]] <= row;
      end
    end
  end
  always @(posedge RCLK) begin
    if (RE && RCLKE) begin
      if (READ_MODE == 0) begin
        RDATA <= memory[RADDR[7:0]];
      end else begin
        word = memory[RADDR[7:0]] >> read_part;
        for (j = 0; j < 16; j = j + (1 << READ_MODE)) RDATA[j + READ_LEAD] <= word[j];
      end
    end
  end
endmodule

module SB_PLL40_CORE (
  input REFERENCECLK, BYPASS, RESETB, EXTFEEDBACK, LATCHINPUTVALUE, SDI, SCLK,
  input [7:0] DYNAMICDELAY,
  output PLLOUTCORE, PLLOUTGLOBAL, SDO,
  output reg LOCK
);
  parameter FEEDBACK_PATH = "SIMPLE", PLLOUT_SELECT = "GENCLK", SHIFTREG_DIV_MODE = 0;
  parameter DELAY_ADJUSTMENT_MODE_FEEDBACK = "FIXED", DELAY_ADJUSTMENT_MODE_RELATIVE = "FIXED";
  parameter FDA_FEEDBACK = 0, FDA_RELATIVE = 0, DIVR = 0, DIVF = 0, DIVQ = 0;
  parameter FILTER_RANGE = 0, ENABLE_ICEGATE = 0, TEST_MODE = 0;
  assign PLLOUTCORE = REFERENCECLK;
  assign PLLOUTGLOBAL = REFERENCECLK;
  assign SDO = 1'b0;
  reg [3:0] count = 0;
  initial LOCK = 0;
  always @(posedge REFERENCECLK) begin
    count <= count + !(&count);
    LOCK <= &count;
  end
endmodule

// The same behind the clock's own pin.
module SB_PLL40_PAD (
  input PACKAGEPIN, BYPASS, RESETB, EXTFEEDBACK, LATCHINPUTVALUE, SDI, SCLK,
  input [7:0] DYNAMICDELAY,
  output PLLOUTCORE, PLLOUTGLOBAL, SDO, LOCK
);
  parameter FEEDBACK_PATH = "SIMPLE", PLLOUT_SELECT = "GENCLK", SHIFTREG_DIV_MODE = 0;
  parameter DELAY_ADJUSTMENT_MODE_FEEDBACK = "FIXED", DELAY_ADJUSTMENT_MODE_RELATIVE = "FIXED";
  parameter FDA_FEEDBACK = 0, FDA_RELATIVE = 0, DIVR = 0, DIVF = 0, DIVQ = 0;
  parameter FILTER_RANGE = 0, ENABLE_ICEGATE = 0, TEST_MODE = 0;
  SB_PLL40_CORE pll (
    .REFERENCECLK(PACKAGEPIN), .BYPASS, .RESETB, .EXTFEEDBACK, .LATCHINPUTVALUE, .SDI, .SCLK,
    .DYNAMICDELAY, .PLLOUTCORE, .PLLOUTGLOBAL, .SDO, .LOCK
  );
endmodule
