// SPDX-License-Identifier: Apache-2.0
// Whether a pattern of ZAP computes the place of a map that comes row by row. Twin of
// narrowgauge::zap_computed; kinds above 10 compute every place.
//
// A pattern is a small tile, repeated: kinds 5 to 10 have one each, and kind k below 5 computes what
// kind 10 - k leaves out. Two counters go through the tile. A row is told by the bits of its number
// that differ within the tile, so that there is no case for rows beyond it.
module ng_zap_pattern (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       step_i,      // the place is taken
  input  logic       row_end_i,   // it is the last of its row
  input  logic       map_end_i,   // it is the last of the map
  input  logic [3:0] kind_i,
  output logic       computed_o
);

  logic       invert;
  logic [3:0] kind;
  logic [2:0] end_at;  // of the tile's rows and columns
  logic [4:0] places;  // of the tile's row
  logic [2:0] row_q, column_q;
  assign invert = kind_i < 4'd5;
  assign kind = invert ? 4'd10 - kind_i : kind_i;
  always_comb begin
    case (kind)
      4'd5, 4'd8: end_at = 3'd1;
      4'd6: end_at = 3'd4;
      default: end_at = 3'd2;
    endcase
    casez ({kind, row_q})
      7'b0101_??0: places = 5'b00001;
      7'b0101_??1: places = 5'b00010;
      7'b0110_000: places = 5'b01011;
      7'b0110_001: places = 5'b10101;
      7'b0110_010: places = 5'b11010;
      7'b0110_011: places = 5'b01101;
      7'b0110_1??: places = 5'b10110;
      7'b0111_?00: places = 5'b00011;
      7'b0111_?01: places = 5'b00101;
      7'b0111_?1?: places = 5'b00110;
      7'b1000_??1: places = 5'b00001;
      7'b1001_?01: places = 5'b00101;
      7'b1001_?1?: places = 5'b00110;
      7'b1010_?01: places = 5'b00101;
      default: places = 5'b11111;
    endcase
  end
  assign computed_o = places[column_q] ^ invert;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q    <= '0;
      column_q <= '0;
    end else if (step_i) begin
      column_q <= row_end_i || column_q == end_at ? '0 : column_q + 1'b1;
      if (row_end_i) row_q <= map_end_i || row_q == end_at ? '0 : row_q + 1'b1;
    end
  end

endmodule
