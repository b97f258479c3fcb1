// SPDX-License-Identifier: Apache-2.0
// What a routed netlist of a Gowin has beside LUTs, carries and flip-flops, for simulation
// (tools/ngtools/gowin_netlist.py). Memories begin with zeros.

// RAM16SDP4: LUT RAM, four bits wide.
module gowin_lut_ram (
  input clk, we,
  input [3:0] waddr, raddr, wdata,
  output [3:0] rdata
);
  reg [3:0] memory [0:15];
  integer n;
  initial for (n = 0; n < 16; n = n + 1) memory[n] = 0;
  assign rdata = memory[raddr];
  always @(posedge clk) if (we) memory[waddr] <= wdata;
endmodule

// Block RAM, written on one side and read on the other: 9 bits, or 36 with enables of 9 each.
// A word that is written is not read in the same clock.
module gowin_block_ram #(
  parameter Width = 9,
  parameter Depth = Width == 36 ? 512 : 2048
) (
  input wclk, rclk, we, re,
  input [$clog2(Depth)-1:0] waddr, raddr,
  input [Width/9-1:0] be,
  input [Width-1:0] wdata,
  output reg [Width-1:0] rdata
);
  reg [Width-1:0] memory [0:Depth-1];
  integer i, n;
  initial begin
    rdata = 0;
    for (n = 0; n < Depth; n = n + 1) memory[n] = 0;
  end
  always @(posedge wclk)
    for (i = 0; i < Width / 9; i = i + 1)
      if (we && be[i]) memory[waddr][9*i +: 9] <= wdata[9*i +: 9];
  always @(posedge rclk) if (re) rdata <= memory[raddr];
endmodule
