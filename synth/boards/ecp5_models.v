// SPDX-License-Identifier: Apache-2.0
// What a routed netlist of an ECP5 has beside LUTs and flip-flops, for simulation
// (tools/ngtools/ecp5_netlist.py). Memories begin with zeros.

// LUT RAM, a bit wide.
module trellis_ram (
  input clk, we, wdata,
  input [3:0] waddr, raddr,
  output rdata
);
  reg [15:0] memory = 0;
  assign rdata = memory[raddr];
  always @(posedge clk) if (we) memory[waddr] <= wdata;
endmodule

// Block RAM, written on one side and read on the other: DP16KD of 9 bits, or of 18 and 36 with enables
// of 9 each. A word that is written is not read in the same clock.
module trellis_block_ram #(
  parameter Width = 9,
  parameter Depth = 18432 / Width
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

// MULT18X18D without registers.
module trellis_multiplier (
  input [17:0] a, b,
  input signed_a, signed_b,
  output [35:0] p
);
  wire signed [18:0] wide_a = {signed_a & a[17], a};
  wire signed [18:0] wide_b = {signed_b & b[17], b};
  wire signed [37:0] product = wide_a * wide_b;
  assign p = product[35:0];
endmodule

// EHXPLLL whose output is its input, locked after some clocks.
module trellis_pll (
  input in,
  output out,
  output reg lock
);
  assign out = in;
  reg [3:0] count = 0;
  initial lock = 0;
  always @(posedge in) begin
    count <= count + !(&count);
    lock <= &count;
  end
endmodule
