// SPDX-License-Identifier: Apache-2.0
// Small LUTs of a Gowin as LUT4, whose upper inputs do not matter, for Yosys' techmap. nextpnr knows
// no delay of the small ones, so a path through one of them would not be timed.
(* techmap_celltype = "LUT1" *)
module ng_gowin_lut1 (output F, input I0);
  parameter [1:0] INIT = 0;
  LUT4 #(.INIT({8{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0));
endmodule

(* techmap_celltype = "LUT2" *)
module ng_gowin_lut2 (output F, input I0, I1);
  parameter [3:0] INIT = 0;
  LUT4 #(.INIT({4{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0), .I1(I1));
endmodule

(* techmap_celltype = "LUT3" *)
module ng_gowin_lut3 (output F, input I0, I1, I2);
  parameter [7:0] INIT = 0;
  LUT4 #(.INIT({2{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0), .I1(I1), .I2(I2));
endmodule
