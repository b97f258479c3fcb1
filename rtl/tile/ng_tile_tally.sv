// SPDX-License-Identifier: Apache-2.0
// Number of cycles with event_i since the reset, from the next cycle on: DONE and LOADS of the
// tile.
//
// Width argument: 32 bits as in the register map; it wraps.
module ng_tile_tally (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        event_i,
  output logic [31:0] count_o
);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_o <= '0;
    else if (event_i) count_o <= count_o + 32'd1;
  end

endmodule
