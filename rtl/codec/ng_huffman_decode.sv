// SPDX-License-Identifier: Apache-2.0
// Decodes tiles of canonical Huffman codes (docs/codec.md, A tile): a value every cycle.
//
// The length of a code is found by comparing the next 12 bits with one limit for each length, its
// symbol by adding the length's base to its bits: an address of a block RAM. ready_o, valid_o and
// the other outputs come from registers, data_o from one through a multiplexer: no combinational
// path crosses the unit.
// A fault ends the tile with a beat that has last_o and fault_o; words up to the tile's last are
// then dropped, and the next tile is decoded as if nothing had been. No stream stops the unit:
// every cycle that has bits takes at least one of them.
//
// Bits: this_q holds the word in which the next bit is, next_q the one behind it. place_q points
// two bits before the next code, where a block's header is if one comes: so header and first code
// are looked at in the same cycle. The window of 14 bits from a place below Width, at least 16,
// ends within both words.
// Width arguments: a cycle takes at most 14 bits (the longest code, and the next header), so
// place_q + 14 is below 2 Width; place_q has a bit more than a place in a word for the end of a
// tile's last word, behind which nothing is shifted in.
module ng_huffman_decode #(
  parameter int Width = 32  // bits of a word; power of two
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             table_we_i,    // the table, while no tile is under way
  // below 256: a symbol, by its rank among the codes; 256 + l: limit and base of length l
  input  logic [8:0]       table_addr_i,
  // the symbol; {limit, base}, the limit as 12 bits of a code and one above
  input  logic [20:0]      table_data_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,        // the first bit is the highest
  input  logic             last_i,        // the last word of a tile
  output logic             valid_o,
  input  logic             ready_i,
  output logic [7:0]       data_o,        // 0 in a beat that stands for no value
  output logic             last_o,        // the last beat of a tile
  // beside last_o: the tile is broken, or has words behind its last value
  output logic             fault_o,
  output logic             void_o         // beside fault_o: this beat stands for no value
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 16 || Width > 64 || (Width & (Width - 1)) != 0) begin : gen_check_width
    $fatal(1, "ng_huffman_decode: Width=%0d; expected 16 to 64, a power of two", Width);
  end
`endif

  // 1: so that a wrong Width gets as far as the message
  localparam int PlaceWidth = Width > 1 ? $clog2(Width) : 1;

  // ---- words
  logic             word_valid, word_last, word_take;
  logic [Width-1:0] word, this_q, next_q;
  logic             this_valid_q, this_last_q, next_valid_q, next_last_q, shift;
  ng_fifo2 #(
    .Width(Width + 1)
  ) u_words (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i ({last_i, data_i}),
    .valid_o(word_valid),
    .ready_i(word_take),
    .data_o ({word_last, word})
  );
  assign word_take = ~next_valid_q | ~this_valid_q | shift;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      this_valid_q <= 1'b0;
      next_valid_q <= 1'b0;
    end else begin
      if (shift | ~this_valid_q) this_valid_q <= next_valid_q;
      if (word_take) next_valid_q <= word_valid;
    end
  end
  always_ff @(posedge clk_i) begin
    if (shift | ~this_valid_q) begin
      this_q      <= next_q;
      this_last_q <= next_last_q;
    end
    if (word_take) begin
      next_q      <= word;
      next_last_q <= word_last;
    end
  end

  logic [13:0] window;  // a header and the next 12 bits

  // ---- limits and bases; the limit of length l is a multiple of 2^(12 - l), so that 1 + l bits of
  // it are held and compared
  logic [12:0]     table_limit;
  logic [7:0]      table_base;
  logic [11:0]     below;  // the next 12 bits are below the limits of lengths 1 to 12
  logic [12*8-1:0] bases_q;
  assign {table_limit, table_base} = table_data_i;
  for (genvar i = 0; i < 12; i++) begin : gen_length
    logic [i+1:0] limit_q;
    always_ff @(posedge clk_i) if (table_we_i & table_addr_i[8] & (table_addr_i[3:0] == 4'(i + 1)))
    begin
      limit_q <= table_limit[12 -: i+2];
      bases_q[i*8 +: 8] <= table_base;
    end
    assign below[i] = {1'b0, window[11 -: i+1]} < limit_q;
  end

  // ---- the next code
  // code_end: of what this cycle takes, without the next header
  logic [PlaceWidth:0]  place_q, taken_place, code_end;
  logic [Width+12:0]    words;
  logic [11:0]          only;  // the length is this one
  logic [3:0]           length, taken;
  logic                 head_q, raw_q, raw, ends_q, counting, found, past, decoding, enable,
      last_value,
      broken, too_long, block_end;
  logic [5:0]           left_q, left;  // values behind this one in its block
  logic                 dropping_q;
  assign words = {this_q, next_q[Width-1 -: 13]};
  assign window = 14'((words << place_q[PlaceWidth-1:0]) >> (Width - 1));
  for (genvar i = 0; i < 12; i++) begin : gen_only
    if (i == 0) begin : gen_first
      assign only[i] = below[i];
    end else begin : gen_other
      assign only[i] = below[i] & ~below[i-1];  // the limits of longer codes are no lower
    end
  end
  assign raw = head_q ? window[13] : raw_q;
  // this cycle takes the header of a tile's last block, and its number of values
  assign counting = head_q & window[12];
  always_comb begin
    length = '0;
    for (int i = 0; i < 12; i++) length |= 4'(i + 1) & {4{only[i]}};
    if (raw) length = 4'd8;
    taken = counting ? 4'd6 : length;
  end
  assign found = raw | below[11];
  assign left = head_q ? 6'd63 : left_q;
  assign block_end = ~|left;
  assign last_value = block_end & ends_q;
  assign code_end = place_q + (PlaceWidth+1)'(taken) + (PlaceWidth+1)'(2);
  assign past = code_end > (PlaceWidth+1)'(Width);        // it ends behind this word
  assign broken = (this_last_q & past) | (~counting & ~found);
  assign too_long = last_value & ~(past ? next_last_q : this_last_q);
  assign enable = ~valid_o | ready_i;
  assign decoding = this_valid_q & (next_valid_q | this_last_q) & ~dropping_q & enable;
  assign taken_place = place_q + (PlaceWidth+1)'(taken) + (PlaceWidth+1)'(block_end ? 2 : 0);
  assign shift = dropping_q ? this_valid_q
      : decoding & ~broken & ~last_value & taken_place[PlaceWidth] & ~this_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      place_q    <= '0;
      head_q     <= 1'b1;
      ends_q     <= 1'b0;
      dropping_q <= 1'b0;
    end else if (dropping_q) begin
      if (this_valid_q & this_last_q) dropping_q <= 1'b0;
    end else if (decoding) begin
      if (broken | last_value) begin
        place_q    <= '0;
        head_q     <= 1'b1;
        ends_q     <= 1'b0;
        dropping_q <= 1'b1;
      end else begin
        place_q <= {taken_place[PlaceWidth] & this_last_q, taken_place[PlaceWidth-1:0]};
        head_q  <= block_end;
        ends_q  <= ends_q | counting;
      end
    end
  end
  always_ff @(posedge clk_i) if (decoding) begin
    raw_q  <= raw;
    left_q <= counting ? window[11:6] : left - 6'd1;
  end

  // ---- its symbol
  logic        value_q, last_q, fault_q, void_q, code_raw_q, out_raw_q;
  logic [11:0] code_q, only_q;
  logic [7:0]  address, bits, symbol, out_bits_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      value_q <= 1'b0;
      valid_o <= 1'b0;
    end else if (enable) begin
      value_q <= decoding & (~counting | broken);
      valid_o <= value_q;
    end
  end
  always_ff @(posedge clk_i) if (enable) begin
    code_q     <= window[11:0];
    only_q     <= only;
    code_raw_q <= raw | broken;
    last_q     <= broken | last_value;
    fault_q    <= broken | too_long;
    void_q     <= broken;
    out_raw_q  <= code_raw_q;
    out_bits_q <= void_q ? 8'd0 : code_q[11:4];
    last_o     <= last_q;
    fault_o    <= fault_q;
    void_o     <= void_q;
  end
  always_comb begin
    address = '0;
    bits = '0;
    for (int i = 0; i < 12; i++) begin
      address |= bases_q[i*8 +: 8] & {8{only_q[i]}};
      bits |= 8'(code_q >> (11 - i)) & {8{only_q[i]}};
    end
  end
  ng_ram #(
    .Width(8),
    .Depth(256)
  ) u_symbols (
    .clk_i,
    .we_i   (table_we_i & ~table_addr_i[8]),
    .waddr_i(table_addr_i[7:0]),
    .wdata_i(table_data_i[7:0]),
    .re_i   (enable),
    .raddr_i(address + bits),
    .rdata_o(symbol)
  );
  assign data_o = out_raw_q ? out_bits_q : symbol;

endmodule
