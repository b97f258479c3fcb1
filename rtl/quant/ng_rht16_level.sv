// SPDX-License-Identifier: Apache-2.0
// A level of ng_rht16_folded across beats: from a and b, Delay beats apart, a + b, and Delay beats
// later a - b, in each lane. Beats come in groups of 2 Delay without a gap inside, first all a,
// then all b; between groups there may be gaps. The sum of a pair is at y_o, not registered, Delay
// + 1 edges after its a was at x_i, edges with a high move_i counted.
//
// A number is two's complement, and the bit that it owes (ng_rht16) stands below it. With p and q
// owed by a and b, a + b + p owes q, and a - b is a + ~b + p, owing ~q, as well as ~(b + ~a + q),
// owing p.
//
//   Delay of 2 and more: a line of Delay numbers gives an a when its b comes, takes the difference,
//   and gives that in the next half, while it takes the next a. Two additions.
//   Delay 1: a and b are kept for another beat, and one addition makes first the sum, then the
//   difference. For LUTs of four inputs that is one less a bit, but it takes 2 Delay numbers, so it
//   is worth it here alone.
//
// Width argument: a sum or difference of two numbers has one bit more than they.
module ng_rht16_level #(
  parameter int Lanes = 4,
  parameter int Width = 17,  // bits of a number at x_i
  parameter int Delay = 2    // power of two
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       move_i,   // the enable of all registers
  input  logic                       valid_i,  // x_i has a beat
  input  logic [Lanes*(Width+1)-1:0] x_i,
  output logic                       valid_o,
  output logic [Lanes*(Width+2)-1:0] y_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1) begin : gen_check_lanes
    $fatal(1, "ng_rht16_level: Lanes=%0d; expected 1 or more", Lanes);
  end
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_rht16_level: Width=%0d; expected 1 or more", Width);
  end
  if (Delay < 1 || (Delay & (Delay - 1)) != 0) begin : gen_check_delay
    $fatal(1, "ng_rht16_level: Delay=%0d; expected a power of two", Delay);
  end
`endif

  localparam int InWidth = Width + 1;
  localparam int Out = Width + 2;
  localparam int CountWidth = $clog2(2 * Delay);

  // ---- beats, counted from reset: a group begins at 0
  logic [CountWidth-1:0] count_q;
  logic [Delay:0]        valid_q;
  logic                  second_q;  // what x_i was is a b
  assign valid_o = valid_q[Delay];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      valid_q <= '0;
    end else if (move_i) begin
      if (valid_i) count_q <= count_q + CountWidth'(1);
      valid_q <= {valid_q[Delay-1:0], valid_i};
    end
  end
  always_ff @(posedge clk_i) if (move_i) second_q <= count_q[CountWidth-1];

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [InWidth-1:0]  entry;
    logic [Out-1:0] out;
    logic           unused_half;
    assign entry = x_i[i*InWidth +: InWidth];
    assign y_o[i*Out +: Out] = out;
    // A bit owed is added as a half-unit column: 1/2 + owed/2. One addition, hence one carry chain.
    if (Delay > 1) begin : gen_feedback
      // a difference adds the complement, so that is registered
      logic [InWidth-1:0]        not_x_q;
      logic [Delay*Out-1:0] line_q;
      logic [Out-1:0]       old, not_x, sum, difference;
      logic                 unused_half_too;
      assign old = line_q[(Delay-1)*Out +: Out];  // an a, its sign twice, or a difference
      assign not_x = {not_x_q[Width], not_x_q};
      assign {sum[Out-1:1], unused_half} = {old[Out-1:1], 1'b1} + {~not_x[Out-1:1], old[0]};
      assign {difference[Out-1:1], unused_half_too} = {old[Out-1:1], 1'b1}
          + {not_x[Out-1:1], old[0]};
      assign {sum[0], difference[0]} = {~not_x[0], not_x[0]};
      assign out = second_q ? sum : old;
      always_ff @(posedge clk_i) if (move_i) begin
        not_x_q <= ~entry;
        line_q  <= {line_q[(Delay-1)*Out-1:0], second_q ? difference : ~not_x};
      end
    end else begin : gen_repeat
      logic [InWidth-1:0]    element_q, last_q, first_q;
      logic [Width-1:0] other;
      logic [Width:0]   sum;
      assign other = second_q ? element_q[Width:1] : ~first_q[Width:1];
      assign {sum, unused_half} = {last_q[Width], last_q[Width:1], 1'b1}
          + {other[Width-1], other, last_q[0]};
      assign out = {sum ^ {(Width+1){~second_q}}, second_q ? element_q[0] : first_q[0]};
      always_ff @(posedge clk_i) if (move_i)
        {first_q, last_q, element_q} <= {last_q, element_q, entry};
    end
  end

endmodule
