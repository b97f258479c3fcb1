// SPDX-License-Identifier: Apache-2.0
// The circuits whose current was measured (measurements.json), written anew from their description: a free-running
// counter of CounterWidth bits and, with Math, two 8-bit counters (+3, +5) multiplied every clock. One clock pin stands
// for every clock source: the source is a coefficient of the fit, not part of the circuit. unused_i are the pins that
// the measured design reads so that they are not left open; they rest.
// Widths: an 8 x 8 product has 16 bits, nothing else grows.
module ng_ice40up_circuit #(
    parameter CounterWidth = 24,
    parameter Math = 0
) (
    input clk_i,
    input [4:0] unused_i,
    output top_o,
    output unused_o
);

  reg [CounterWidth-1:0] count_q = 0;
  always @(posedge clk_i) count_q <= count_q + 1'b1;

  assign unused_o = |unused_i;

  generate
    if (Math) begin : gen_math
      reg [7:0] a_q = 0, b_q = 0;
      wire [15:0] product = a_q * b_q;
      always @(posedge clk_i) begin
        a_q <= a_q + 8'd3;
        b_q <= b_q + 8'd5;
      end
      assign top_o = count_q[CounterWidth-1] | (&a_q) | (&b_q) | (&product);
    end else begin : gen_counter
      assign top_o = count_q[CounterWidth-1];
    end
  endgenerate

endmodule
