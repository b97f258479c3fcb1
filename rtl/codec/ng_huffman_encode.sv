// SPDX-License-Identifier: Apache-2.0
// Encodes tiles of bytes in canonical Huffman codes (docs/codec.md, A tile): a value every cycle,
// for ng_bit_pack.
//
// Values wait in a bank until their block of 64 is whole, since its header says whether it is coded
// or raw: raw if it would be longer in codes, or has a value without one. Three more banks take
// what comes meanwhile.
// ready_o and valid_o come from registers, the other outputs from registers and the memory's
// through multiplexers: no combinational path crosses the unit. The first code of a block is
// offered three cycles after the last of its values was accepted. Blocks follow each other without
// a gap; the header of a tile's last block, which has its number of values, takes a cycle more,
// while the header of any other goes with its first code.
//
// Width argument: excess_q, the bits by which a block's codes are longer than its values, is
// between -7 * 64 = -448 and 4 * 64 = 256: 10 bits, signed.
module ng_huffman_encode (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        table_we_i,    // the table, while no tile is under way
  input  logic [7:0]  table_addr_i,  // value
  // length of its code (0: none), and the code, its first bit the highest, zeros behind
  input  logic [15:0] table_data_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [7:0]  data_i,
  input  logic        last_i,        // the last value of a tile
  output logic        valid_o,
  input  logic        ready_i,
  output logic [13:0] code_o,        // header and code, its first bit the highest, zeros behind
  output logic [3:0]  length_o,      // 1 to 14
  output logic        last_o         // the last code of a tile
);

  // ---- values come in, and their codes are looked up
  logic        take, take_last, take_q, close_q, final_q;
  logic [1:0]  bank_q, write_bank;
  logic [5:0]  write_q, place_q;  // in the bank; of the value that came in the last cycle
  logic [7:0]  value_q;
  logic [15:0] entry;
  logic [3:0]  entry_length;      // of a value's code, 0: it has none
  logic [3:0]  busy_q, whole_q;   // a bank has values, or all of its block
  assign ready_o = ~busy_q[write_bank];
  assign take = valid_i & ready_o;
  assign take_last = last_i | (&write_q);
  ng_ram #(
    .Width(16),
    .Depth(256)
  ) u_codes (
    .clk_i,
    .we_i   (table_we_i),
    .waddr_i(table_addr_i),
    .wdata_i(table_data_i),
    .re_i   (take),
    .raddr_i(data_i),
    .rdata_o(entry)
  );

  // ---- whether the codes are longer than the values
  logic [9:0] excess_q, excess;
  logic       missing_q, missing, raw;
  assign entry_length = entry[15:12];
  assign excess = excess_q + {6'd0, entry_length} - 10'd8;
  assign missing = missing_q | ~|entry_length;
  assign raw = missing | (~excess[9] & |excess[8:0]);

  // ---- blocks go out
  logic       fetch, start_q, count, release_bank, out_final;
  logic [1:0] read_bank;
  logic       end_final, end_raw;
  logic [5:0] read_q, end_place;
  logic [4*8-1:0] ends;  // of each bank: raw, last of its tile, place of its last value
  for (genvar b = 0; b < 4; b++) begin : gen_bank
    logic [7:0] end_q;
    always_ff @(posedge clk_i) if (take_q & close_q & (bank_q == 2'(b)))
      end_q <= {raw, final_q, place_q};
    assign ends[b*8 +: 8] = end_q;
  end
  assign {end_raw, end_final, end_place} = ends[read_bank*8 +: 8];
  assign fetch = whole_q[read_bank] & (~valid_o | ready_i);
  // this fetch is the header with the number of values
  assign count = start_q & end_final;
  assign out_final = ~count & (read_q == end_place);
  assign release_bank = fetch & out_final;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      take_q     <= 1'b0;
      write_q    <= '0;
      write_bank <= '0;
      busy_q     <= '0;
      whole_q    <= '0;
      excess_q   <= '0;
      missing_q  <= 1'b0;
      read_q     <= '0;
      read_bank  <= '0;
      start_q    <= 1'b1;
      valid_o    <= 1'b0;
    end else begin
      take_q <= take;
      if (take) begin
        write_q <= take_last ? '0 : write_q + 6'd1;
        if (take_last) begin
          busy_q[write_bank] <= 1'b1;
          write_bank <= write_bank + 2'd1;
        end
      end
      if (take_q) begin
        excess_q  <= close_q ? '0 : excess;
        missing_q <= ~close_q & missing;
        if (close_q) whole_q[bank_q] <= 1'b1;
      end
      if (fetch) begin
        start_q <= out_final;
        if (~count) read_q <= out_final ? '0 : read_q + 6'd1;
      end
      if (release_bank) begin
        busy_q[read_bank]  <= 1'b0;
        whole_q[read_bank] <= 1'b0;
        read_bank <= read_bank + 2'd1;
      end
      valid_o <= fetch | (valid_o & ~ready_i);
    end
  end
  always_ff @(posedge clk_i) if (take) begin
    value_q <= data_i;
    place_q <= write_q;
    bank_q  <= write_bank;
    close_q <= take_last;
    final_q <= last_i;
  end

  // ---- the banks
  logic        out_raw_q, out_head_q, out_count_q;
  logic [5:0]  out_number_q;
  logic [23:0] held;
  logic [3:0]  held_length;
  logic [11:0] held_code;
  logic [7:0]  held_value;
  assign {held_length, held_code, held_value} = held;
  ng_ram #(
    .Width(24),
    .Depth(256)
  ) u_values (
    .clk_i,
    .we_i   (take_q),
    .waddr_i({bank_q, place_q}),
    .wdata_i({entry, value_q}),
    .re_i   (fetch),
    .raddr_i({read_bank, read_q}),
    .rdata_o(held)
  );
  always_ff @(posedge clk_i) if (fetch) begin
    last_o       <= out_final & end_final;
    out_raw_q    <= end_raw;
    out_head_q   <= start_q;
    out_count_q  <= count;
    out_number_q <= end_place;
  end
  logic [11:0] code;
  logic [3:0]  length;
  assign code = out_raw_q ? {held_value, 4'd0} : held_code;
  assign length = out_raw_q ? 4'd8 : held_length;
  assign code_o = out_count_q ? {out_raw_q, 1'b1, out_number_q, 6'd0}
      : out_head_q ? {out_raw_q, 1'b0, code} : {code, 2'd0};
  assign length_o = out_count_q ? 4'd8 : out_head_q ? length + 4'd2 : length;

endmodule
