// SPDX-License-Identifier: Apache-2.0
// Techmap from the iCE40 cells that synth_ice40 emits back to Yosys' generic cells of the same function, for simulation:
// write_verilog prints $lut as a shifted constant and each flip-flop as its always block, which Verilator runs fast.
// (The inverse of Yosys' own ice40/ff_map.v. Its cells_sim.v takes over a minute to elaborate, block RAMs mostly.)

module \SB_LUT4 (output O, input I0, input I1, input I2, input I3);
  parameter [15:0] LUT_INIT = 0;
  \$lut #(.WIDTH(4), .LUT(LUT_INIT)) _TECHMAP_REPLACE_ (.A({I3, I2, I1, I0}), .Y(O));
endmodule

module \SB_CARRY (output CO, input I0, input I1, input CI);
  assign CO = (I0 & I1) | ((I0 | I1) & CI);
endmodule

module \SB_DFF (output Q, input C, input D);
  \$_DFF_P_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C));
endmodule
module \SB_DFFE (output Q, input C, input E, input D);
  \$_DFFE_PP_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .E(E));
endmodule

// Asynchronous reset and set.
module \SB_DFFR (output Q, input C, input R, input D);
  \$_DFF_PP0_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .R(R));
endmodule
module \SB_DFFS (output Q, input C, input S, input D);
  \$_DFF_PP1_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .R(S));
endmodule
module \SB_DFFER (output Q, input C, input E, input R, input D);
  \$_DFFE_PP0P_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .E(E), .R(R));
endmodule
module \SB_DFFES (output Q, input C, input E, input S, input D);
  \$_DFFE_PP1P_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .E(E), .R(S));
endmodule

// Synchronous reset and set; the enable gates them too.
module \SB_DFFSR (output Q, input C, input R, input D);
  \$_SDFF_PP0_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .R(R));
endmodule
module \SB_DFFSS (output Q, input C, input S, input D);
  \$_SDFF_PP1_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .R(S));
endmodule
module \SB_DFFESR (output Q, input C, input E, input R, input D);
  \$_SDFFCE_PP0P_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .E(E), .R(R));
endmodule
module \SB_DFFESS (output Q, input C, input E, input S, input D);
  \$_SDFFCE_PP1P_ _TECHMAP_REPLACE_ (.D(D), .Q(Q), .C(C), .E(E), .R(S));
endmodule

// Block RAM: 256 words of 16 bits; mode m has words of 16 >> m bits, bit j of which is pin (j << m) + ((1 << m) - 1) / 2.
// Initial contents, of which our RTL has none, are ignored.
module \SB_RAM40_4K (output [15:0] RDATA, input RCLK, input RCLKE, input RE, input [10:0] RADDR,
                     input WCLK, input WCLKE, input WE, input [10:0] WADDR, input [15:0] MASK, input [15:0] WDATA);
  parameter WRITE_MODE = 0;
  parameter READ_MODE = 0;
  parameter INIT_0 = 0, INIT_1 = 0, INIT_2 = 0, INIT_3 = 0, INIT_4 = 0, INIT_5 = 0, INIT_6 = 0, INIT_7 = 0;
  parameter INIT_8 = 0, INIT_9 = 0, INIT_A = 0, INIT_B = 0, INIT_C = 0, INIT_D = 0, INIT_E = 0, INIT_F = 0;
  wire [1023:0] _TECHMAP_DO_ = "proc; opt; memory -nomap; opt_clean";
  localparam W = 1 << WRITE_MODE;
  localparam R = 1 << READ_MODE;
  localparam [15:0] FIRST = WRITE_MODE == 1 ? 16'h5555 : WRITE_MODE == 2 ? 16'h1111 : 16'h0101;
  localparam [2:0] WPARTS = W - 1;
  localparam [2:0] RPARTS = R - 1;
  reg  [15:0] memory [0:255];
  reg  [15:0] word;
  reg  [2:0]  part;
  wire [15:0] write = WRITE_MODE == 0 ? ~MASK : FIRST << (WADDR[10:8] & WPARTS);
  wire [15:0] read = READ_MODE == 0 ? word : word >> part;
  genvar i;
  for (i = 0; i < 16; i = i + 1) begin
    always @(posedge WCLK) if (WE && WCLKE && write[i]) memory[WADDR[7:0]][i] <= WDATA[i / W * W + (W - 1) / 2];
    assign RDATA[i] = i % R == (R - 1) / 2 ? read[i / R * R] : 1'b0;
  end
  always @(posedge RCLK)
    if (RE && RCLKE) begin
      word <= memory[RADDR[7:0]];
      part <= RADDR[10:8] & RPARTS;
    end
endmodule
