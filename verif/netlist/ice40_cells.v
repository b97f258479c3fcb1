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
