// SPDX-License-Identifier: Apache-2.0
// Tiles of a compressed feature map (docs/codec.md, A tile) made into those of the map again,
// between two AXI4-Streams: a value every cycle.
//
//   words -> ng_huffman_decode -> [ng_zero_expand] -> values counted -> values
//
// With the first word of a tile comes how many values it has. No more of them leave, and a tile
// that is broken, goes on behind its end or has another number of values ends in a beat with a
// fault; what is left of it is dropped, and the next tile is decoded as if nothing had been. No
// stream stops the unit.
// All outputs come from registers, s_axis_tready_o and ready inside through gates: no combinational
// path crosses the unit.
//
// Width argument: count_q is the values that have left of a tile, at most as many as it has, less
// 1: CountBits, as that number.
module ng_map_decode #(
  parameter int Width     = 32,  // bits of a word; power of two
  parameter bit Runs      = 1'b1,  // runs of zeros can be expanded
  parameter int CountBits = 20   // bits of a tile's number of values, less 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // the tables, while no tile is under way; not reset
  input  logic                 table_we_i,
  // below 512: as ng_huffman_decode has it; 512 + i: i as ng_zero_expand has it
  input  logic [9:0]           table_addr_i,
  input  logic [20:0]          table_data_i,
  input  logic                 s_axis_tvalid_i,
  output logic                 s_axis_tready_o,
  input  logic [Width-1:0]     s_axis_tdata_i,   // the first byte of the file lowest
  // beside the first word of a tile: its number of values, less 1
  input  logic [CountBits-1:0] s_axis_tuser_i,
  input  logic                 s_axis_tlast_i,   // the last word of a tile
  output logic                 m_axis_tvalid_o,
  input  logic                 m_axis_tready_i,
  output logic [7:0]           m_axis_tdata_o,   // 0 in a beat that stands for no value
  // low beside a fault: this beat stands for no value
  output logic                 m_axis_tkeep_o,
  output logic                 m_axis_tuser_o,   // beside the last beat: a fault
  output logic                 m_axis_tlast_o    // the last beat of a tile
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 16 || Width > 64 || (Width & (Width - 1)) != 0) begin : gen_check_width
    $fatal(1, "ng_map_decode: Width=%0d; expected 16 to 64, a power of two", Width);
  end
  if (CountBits < 1 || CountBits > 20) begin : gen_check_count_bits
    $fatal(1, "ng_map_decode: CountBits=%0d; expected 1 to 20", CountBits);
  end
`endif

  // ---- the tile's number of values waits for them
  logic                 first_q, number_room, unused_number_valid, word_ready, finish;
  logic [CountBits-1:0] number;
  logic [Width-1:0]     word;  // its first bit the highest
  assign s_axis_tready_o = word_ready & (~first_q | number_room);
  for (genvar b = 0; b < Width / 8; b++) begin : gen_byte
    assign word[Width-1-b*8 -: 8] = s_axis_tdata_i[b*8 +: 8];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (s_axis_tvalid_i & s_axis_tready_o) first_q <= s_axis_tlast_i;
  end
  ng_fifo2 #(
    .Width(CountBits)
  ) u_numbers (
    .clk_i,
    .rst_ni,
    .valid_i(s_axis_tvalid_i & first_q & word_ready),
    .ready_o(number_room),
    .data_i (s_axis_tuser_i),
    .valid_o(unused_number_valid),  // before a value of the tile is
    .ready_i(finish),
    .data_o (number)
  );

  // ---- bytes
  logic       byte_valid, byte_ready, byte_last, byte_fault, byte_void;
  logic [7:0] byte_data;
  ng_huffman_decode #(
    .Width(Width)
  ) u_decode (
    .clk_i,
    .rst_ni,
    .table_we_i  (table_we_i & ~table_addr_i[9]),
    .table_addr_i(table_addr_i[8:0]),
    .table_data_i,
    .valid_i     (s_axis_tvalid_i & (~first_q | number_room)),
    .ready_o     (word_ready),
    .data_i      (word),
    .last_i      (s_axis_tlast_i),
    .valid_o     (byte_valid),
    .ready_i     (byte_ready),
    .data_o      (byte_data),
    .last_o      (byte_last),
    .fault_o     (byte_fault),
    .void_o      (byte_void)
  );

  // ---- values: the bytes, with runs of zeros expanded
  logic       value_valid, value_ready, value_last, value_fault, value_void;
  logic [7:0] value_data;
  if (Runs) begin : gen_runs
    ng_zero_expand u_expand (
      .clk_i,
      .rst_ni,
      .table_we_i  (table_we_i & table_addr_i[9]),
      .table_addr_i(table_addr_i[2:0]),
      .table_data_i(table_data_i[7:0]),
      .valid_i     (byte_valid),
      .ready_o     (byte_ready),
      .data_i      (byte_data),
      .last_i      (byte_last),
      .fault_i     (byte_fault),
      .void_i      (byte_void),
      .valid_o     (value_valid),
      .ready_i     (value_ready),
      .data_o      (value_data),
      .last_o      (value_last),
      .fault_o     (value_fault),
      .void_o      (value_void)
    );
  end else begin : gen_no_runs
    assign value_valid = byte_valid;
    assign byte_ready = value_ready;
    assign value_data = byte_data;
    assign {value_last, value_fault, value_void} = {byte_last, byte_fault, byte_void};
  end

  // ---- as many as the tile has
  logic [CountBits-1:0] count_q;
  logic                 room, dropping_q, full, void_beat;
  assign value_ready = room | dropping_q;
  assign full = count_q == number;
  assign finish = value_valid & room & ~dropping_q & (value_last | full);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q    <= '0;
      dropping_q <= 1'b0;
    end else if (value_valid & value_ready) begin
      if (~dropping_q) count_q <= value_last | full ? '0 : count_q + CountBits'(1);
      dropping_q <= ~value_last & (dropping_q | full);
    end
  end
  ng_fifo2 #(
    .Width(11)
  ) u_values (
    .clk_i,
    .rst_ni,
    .valid_i(value_valid & ~dropping_q),
    .ready_o(room),
    .data_i ({value_void, value_fault | (value_last ^ full), value_last | full, value_data}),
    .valid_o(m_axis_tvalid_o),
    .ready_i(m_axis_tready_i),
    .data_o ({void_beat, m_axis_tuser_o, m_axis_tlast_o, m_axis_tdata_o})
  );
  assign m_axis_tkeep_o = ~void_beat;

endmodule
