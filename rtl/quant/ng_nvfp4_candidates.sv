// SPDX-License-Identifier: Apache-2.0
// The two candidates N and N + 1 for the significand of an NVFP4 block scale, from its estimate
// 8 + f and its exponent field. A subnormal scale has d bits fewer, 0 to 4. Combinational.
//
//   N = (8 + f) >> d;  the midpoint between N and N + 1 is T / 2^(d+1), T = (2 N + 1) 2^d
module ng_nvfp4_candidates (
  input  logic [2:0] frac_i,      // f
  input  logic [4:0] field_i,     // exponent field of the scale, -4 to 14; below 0 it is -d
  output logic [3:0] midpoint_o,  // T - 16
  output logic [3:0] low_o,       // N
  output logic [3:0] unit_o       // 2^d; 0 for 16
);
  always_comb begin
    midpoint_o = {frac_i, 1'b1};
    low_o = {1'b1, frac_i};
    unit_o = 4'd1;
    if (field_i[4]) begin
      unique case (field_i[1:0])
        2'd3: begin
          midpoint_o = {frac_i[2:1], 2'b10};
          low_o = {2'b01, frac_i[2:1]};
          unit_o = 4'd2;
        end
        2'd2: begin
          midpoint_o = {frac_i[2], 3'b100};
          low_o = {3'b001, frac_i[2]};
          unit_o = 4'd4;
        end
        2'd1: begin
          midpoint_o = 4'b1000;
          low_o = 4'd1;
          unit_o = 4'd8;
        end
        2'd0: begin
          midpoint_o = 4'b0000;
          low_o = 4'd0;
          unit_o = 4'd0;
        end
      endcase
    end
  end
  logic unused;
  assign unused = ^field_i[3:2];
endmodule
