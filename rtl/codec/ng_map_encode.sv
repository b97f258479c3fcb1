// SPDX-License-Identifier: Apache-2.0
// Tiles of a feature map in bytes made into tiles of a compressed one (docs/codec.md, A tile),
// between two AXI4-Streams: a value every cycle, as it is in the file.
//
//   values -> [ng_zero_runs] -> ng_huffman_encode -> queue of two -> ng_bit_pack -> words
//
// The queue keeps the choice of a code and its shift out of one path. All outputs come from
// registers: no combinational path crosses the unit. A tile takes a cycle more than it has bytes,
// for the header of its last block, and one where its last code ends in a word behind the one that
// it fills.
module ng_map_encode #(
  parameter int Width = 32,  // bits of a word; power of two
  parameter bit Runs  = 1'b1   // runs of zeros can be shortened
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             table_we_i,       // the tables, while no tile is under way; not reset
  // below 256: as ng_huffman_encode has it; 256 + i: i as ng_zero_runs has it
  input  logic [8:0]       table_addr_i,
  input  logic [15:0]      table_data_i,
  input  logic             s_axis_tvalid_i,
  output logic             s_axis_tready_o,
  input  logic [7:0]       s_axis_tdata_i,
  input  logic             s_axis_tlast_i,   // the last value of a tile
  output logic             m_axis_tvalid_o,
  input  logic             m_axis_tready_i,
  output logic [Width-1:0] m_axis_tdata_o,   // the first byte of the file lowest
  output logic             m_axis_tlast_o    // the last word of a tile
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 16 || Width > 64 || (Width & (Width - 1)) != 0) begin : gen_check_width
    $fatal(1, "ng_map_encode: Width=%0d; expected 16 to 64, a power of two", Width);
  end
`endif

  // ---- bytes: the values, or what is left of them where runs of zeros are shortened
  logic       byte_valid, byte_ready, byte_last;
  logic [7:0] byte_data;
  if (Runs) begin : gen_runs
    ng_zero_runs u_runs (
      .clk_i,
      .rst_ni,
      .table_we_i  (table_we_i & table_addr_i[8]),
      .table_addr_i(table_addr_i[2:0]),
      .table_data_i(table_data_i[7:0]),
      .valid_i     (s_axis_tvalid_i),
      .ready_o     (s_axis_tready_o),
      .data_i      (s_axis_tdata_i),
      .last_i      (s_axis_tlast_i),
      .valid_o     (byte_valid),
      .ready_i     (byte_ready),
      .data_o      (byte_data),
      .last_o      (byte_last)
    );
  end else begin : gen_no_runs
    assign byte_valid = s_axis_tvalid_i;
    assign s_axis_tready_o = byte_ready;
    assign byte_data = s_axis_tdata_i;
    assign byte_last = s_axis_tlast_i;
  end

  // ---- their codes
  localparam int CodeBits = 14;  // of the longest one, with a header
  localparam int LengthBits = 4;
  logic                  code_valid, code_ready, code_last, held_valid, held_ready, held_last;
  logic [CodeBits-1:0]   code, held_code;
  logic [LengthBits-1:0] length, held_length;
  ng_huffman_encode u_encode (
    .clk_i,
    .rst_ni,
    .table_we_i  (table_we_i & ~table_addr_i[8]),
    .table_addr_i(table_addr_i[7:0]),
    .table_data_i,
    .valid_i     (byte_valid),
    .ready_o     (byte_ready),
    .data_i      (byte_data),
    .last_i      (byte_last),
    .valid_o     (code_valid),
    .ready_i     (code_ready),
    .code_o      (code),
    .length_o    (length),
    .last_o      (code_last)
  );
  ng_fifo2 #(
    .Width(1 + LengthBits + CodeBits)
  ) u_codes (
    .clk_i,
    .rst_ni,
    .valid_i(code_valid),
    .ready_o(code_ready),
    .data_i ({code_last, length, code}),
    .valid_o(held_valid),
    .ready_i(held_ready),
    .data_o ({held_last, held_length, held_code})
  );

  // ---- and words of these
  logic [Width-1:0] word;  // its first bit the highest
  ng_bit_pack #(
    .Width(Width),
    .CodeBits(CodeBits)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .valid_i (held_valid),
    .ready_o (held_ready),
    .code_i  (held_code),
    .length_i(held_length),
    .last_i  (held_last),
    .valid_o (m_axis_tvalid_o),
    .ready_i (m_axis_tready_i),
    .data_o  (word),
    .last_o  (m_axis_tlast_o)
  );
  for (genvar b = 0; b < Width / 8; b++) begin : gen_byte
    assign m_axis_tdata_o[b*8 +: 8] = word[Width-1-b*8 -: 8];
  end

endmodule
