// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_4over6 under one of the two scales: its code to nearest even, and
// whether that is above it. Combinational.
//
// The unit u is scale times tensor scale, U 2^e with U from 1 to 2, |x| is X 2^(e + place_i - 3).
// An octave of |x| / u between two powers of two has four quarters, whose bounds are U, 5/4 U, 3/2
// U, 7/4 U, and with them X decides, being above the first or not, in which octave and quarter x
// is: a bound of 2 and more is halved, and belongs to the octave below. Bounds are both the
// midpoints of two codes and, in between, codes:
//
//   octave     1/4     1/2              1                       2                   4
//   quarter            0, 1   2, 3      0    1    2    3        0    1    2    3    0    1    2, 3
//   code       1/2     1/2    1         1    3/2  3/2  2        2    3    3    4    4    6    6
//   above x    yes     no     yes       no   yes  no   yes      no   yes  no   yes  no   yes  no
//
// Even codes are at the ends of those octaves, so midpoints of the first and third bound go to them
// if "above" is strict at U and 5/4 U and not at 3/2 U and 7/4 U. Where x is a code, above_o may be
// either.
module ng_quantize_4over6_lane (
  input  logic [6:0]  man_i,     // the fraction of X
  input  logic [2:0]  place_i,   // 0: too small or 2^-3; 7: 2^4 or more
  // fractions of bounds in the order 7/4, 3/2, 5/4, 1, what is rounded down, complements
  input  logic [27:0] bounds_n,
  input  logic [2:0]  halved_i,  // the bounds of 7/4, 3/2, 5/4
  output logic [2:0]  code_o,
  output logic        above_o
);

  // ---- X > bound is the carry of X + ~bound
  logic [3:0] over;
  for (genvar k = 0; k < 4; k++) begin : gen_bound
    logic [6:0] unused_sum;
    assign {over[k], unused_sum} = {1'b0, man_i} + {1'b0, bounds_n[7*k +: 7]};
  end

  // ---- octave and quarter
  logic [2:0] octave;  // 1 is that from 1/4 on; what is 6 in it is 8 and more
  logic [2:0] past;    // 7/4, 3/2, 5/4
  logic [1:0] quarter;
  logic       down, odd, last;
  assign down = ~over[0] & (place_i != 3'd0);
  assign octave = {place_i[2] & (~down | place_i[1] | place_i[0]),
      place_i[1] ^ (down & ~place_i[0]), place_i[0] ^ down};
  for (genvar k = 0; k < 3; k++) begin : gen_past
    assign past[k] = halved_i[k] ? ~over[0] & over[k+1] : ~over[0] | over[k+1];
  end
  assign quarter = {past[1], past[1] ? past[2] : past[0]};

  assign odd = ^quarter;
  assign last = &quarter;
  always_comb begin
    above_o = quarter[0];
    case (octave)
      3'd0: begin code_o = 3'd0; above_o = 1'b0; end
      3'd1: begin code_o = 3'd1; above_o = 1'b1; end
      3'd2: begin code_o = {1'b0, quarter[1], ~quarter[1]}; above_o = quarter[1]; end
      3'd3: code_o = {last, ~last, odd};
      3'd4: code_o = {1'b1, last, odd};
      3'd5: begin code_o = {2'b11, |quarter}; above_o = quarter == 2'd1; end
      default: begin code_o = 3'd7; above_o = 1'b0; end
    endcase
  end
endmodule
