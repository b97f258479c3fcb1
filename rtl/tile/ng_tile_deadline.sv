// SPDX-License-Identifier: Apache-2.0
// The deadline of ng_tile: DEADLINE and PROGRESS of its registers.
//
// start_i: from the next cycle on there is a deadline, clocks_i + 1 cycles away, or none, and the
// beats are counted from 0.
//
// Width argument: clocks_q starts at the complement of clocks_i, so that its carry is the end; the
// count of beats is as wide as its field and wraps.
module ng_tile_deadline (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic        armed_i,   // with start_i: there is one
  input  logic [30:0] clocks_i,
  input  logic        beat_i,    // images are taken for a sum
  output logic        late_o,    // it is past
  output logic [30:0] beats_o
);

  logic        armed_q;
  logic [30:0] clocks_q;
  logic [31:0] clocks_d;
  assign clocks_d = {1'b0, clocks_q} + {31'd0, armed_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      armed_q  <= 1'b0;
      clocks_q <= '0;
      late_o   <= 1'b0;
      beats_o  <= '0;
    end else if (start_i) begin
      armed_q  <= armed_i;
      clocks_q <= ~clocks_i;
      late_o   <= 1'b0;
      beats_o  <= '0;
    end else begin
      clocks_q <= clocks_d[30:0];
      late_o   <= late_o | clocks_d[31];
      if (beat_i) beats_o <= beats_o + 31'd1;
    end
  end

endmodule
