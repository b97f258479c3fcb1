// SPDX-License-Identifier: Apache-2.0
// Makes of tiles of results the images in which the loader takes operand A: blocks of 16 numbers along the rows of C, which are
// the next product's k, quantized to NVFP4 by ng_quantize_nvfp4; codes of row 0 lowest, then the block scales.
//
// A tile has Rows rows of Cols BF16 numbers, row after row, Numbers of them a beat. Tiles side by side are put together: their
// rows wait in memories until 16 columns have come, or a tile with end_i, behind which the columns of the image are zero. So an
// image takes 16 / Cols tiles or fewer, and leaves as Words words.
//
//   beat -> memories, | block -> quantize (QuantizeCuts) | image: a block a row | image that leaves, a word a cycle
//           amax
//
// All but the leaving image stands still while one image waits behind another. An image leaves in Words cycles and one more, which
// is at most the beats of a whole image unless that is one, so else beats of whole images pass without a stall while ready_i is
// high. ready_o, valid_o and data_o come from registers only.
//
// amax_o: largest magnitude of all numbers taken since the reset or clear_amax_i, as a BF16 code without its sign: a NaN is above
// all. Numbers taken in the cycle of clear_amax_i count.
//
// Width argument: no arithmetic but counters of beats in a row, rows, tiles in an image and words.
module ng_tile_requantize #(
  parameter int Rows         = 8,
  parameter int Cols         = 8,
  parameter int StreamWidth  = 128,
  parameter int ElemWidth    = 4,    // bits of an element in an image, 4 or 8
  parameter int QuantizeCuts = 0,    // Cuts of ng_quantize_nvfp4
  localparam int Units = StreamWidth / 32,
  localparam int Numbers = Cols < 1 ? 1 : Units < Cols ? Units : Cols  // 1: so that a wrong Cols gets as far as the message
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Results.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [Numbers*16-1:0]  data_i,          // BF16, the first column lowest
  input  logic [31:0]            tensor_scale_i,  // FP32
  input  logic                   end_i,           // of all beats of a tile: its image has no columns behind it
  input  logic                   last_i,          // of its last beat: last_o with the image's last word
  input  logic                   irq_i,           // likewise
  // Images.
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   irq_o,
  output logic                   busy_o,          // blocks that have not left
  input  logic                   clear_amax_i,
  output logic [14:0]            amax_o
);

`ifndef __ICARUS__ // which has no elaboration tasks
  if (Rows < 1 || Rows > 255) begin : gen_check_rows $fatal(1, "ng_tile_requantize: Rows=%0d; expected 1 to 255", Rows); end
  if (Cols < 1 || Cols > 16 || (Cols & (Cols - 1)) != 0) begin : gen_check_cols $fatal(1, "ng_tile_requantize: Cols=%0d; expected 1 to 16, a power of two", Cols); end
  if (StreamWidth < 32 || StreamWidth > 1024 || (StreamWidth & (StreamWidth - 1)) != 0) begin : gen_check_stream_width $fatal(1, "ng_tile_requantize: StreamWidth=%0d; expected 32 to 1024, a power of two", StreamWidth); end
  if (ElemWidth < 4 || ElemWidth > 8 || ElemWidth % 4 != 0) begin : gen_check_elem_width $fatal(1, "ng_tile_requantize: ElemWidth=%0d; expected 4 to 8, a multiple of 4", ElemWidth); end
  if (QuantizeCuts < 0 || QuantizeCuts > 31) begin : gen_check_quantize_cuts $fatal(1, "ng_tile_requantize: QuantizeCuts=%0d; expected 0 to 31", QuantizeCuts); end
`endif

  localparam int Segments = 16 / Numbers;  // beats of a block
  localparam int Groups = Cols / Numbers;  // beats of a row of a tile
  localparam int Tiles = Segments / Groups;  // side by side in an image
  localparam int TileWidth = Tiles > 1 ? $clog2(Tiles) : 1;
  localparam int GroupWidth = Groups > 1 ? $clog2(Groups) : 1;
  localparam int RowWidth = Rows > 1 ? $clog2(Rows) : 1;
  localparam int Elements = Rows * 16 * ElemWidth;
  localparam int Image = Elements + Rows * 8;
  localparam int Words = (Image + StreamWidth - 1) / StreamWidth;
  localparam int WordWidth = Words > 1 ? $clog2(Words) : 1;

  logic move;  // beats, blocks and the image that is put together
  assign ready_o = move;

  // ---- where the beat belongs
  logic                  beat, group_end, row_end, image_end;
  logic [GroupWidth-1:0] group_q;
  logic [RowWidth-1:0]   row_q;
  logic [TileWidth-1:0]  tile_q;
  assign beat = valid_i & move;
  assign group_end = Groups == 1 || group_q == GroupWidth'(Groups - 1);
  assign row_end = Rows == 1 || row_q == RowWidth'(Rows - 1);
  assign image_end = end_i || Tiles == 1 || tile_q == TileWidth'(Tiles - 1);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      group_q <= '0;
      row_q   <= '0;
      tile_q  <= '0;
    end else if (beat) begin
      group_q <= group_end ? '0 : group_q + 1'b1;
      if (group_end) row_q <= row_end ? '0 : row_q + 1'b1;
      if (group_end & row_end) tile_q <= image_end ? '0 : tile_q + 1'b1;
    end
  end

  // ---- rows that wait, and the block
  logic                  block_valid_q;
  logic [Numbers*16-1:0] beat_q;
  logic [TileWidth-1:0]  last_tile_q;  // of the block
  logic [31:0]           tensor_scale_q;
  logic [2:0]            flags_q;  // of the block: last of its image; of its packet; irq
  logic [255:0]          block;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) block_valid_q <= 1'b0;
    else if (move) block_valid_q <= valid_i & group_end & image_end;
  end
  always_ff @(posedge clk_i) begin
    if (beat) begin
      beat_q         <= data_i;
      last_tile_q    <= tile_q;
      tensor_scale_q <= tensor_scale_i;
      flags_q        <= {row_end, last_i, irq_i};
    end
  end
  for (genvar s = 0; s < Segments; s++) begin : gen_segment
    localparam int Tile = s / Groups;
    logic [Numbers*16-1:0] number;  // the beat ends its row of a tile; what is before it has waited
    if (s < Segments - 1) begin : gen_memory
      logic [Numbers*16-1:0] waited;
      ng_ram #(
        .Width(Numbers * 16),
        .Depth(Rows > 1 ? Rows : 2)
      ) u_ram (
        .clk_i  (clk_i),
        .we_i   (beat && tile_q == TileWidth'(Tile) && group_q == GroupWidth'(s % Groups)),
        .waddr_i(row_q),
        .wdata_i(data_i),
        .re_i   (beat),
        .raddr_i(row_q),
        .rdata_o(waited)
      );
      assign number = s % Groups == Groups - 1 && last_tile_q == TileWidth'(Tile) ? beat_q : waited;
    end else begin : gen_beat
      assign number = beat_q;
    end
    assign block[s*Numbers*16 +: Numbers*16] = Tile == 0 || last_tile_q >= TileWidth'(Tile) ? number : '0;
  end

  logic [14:0] amax, beat_amax, amax_before;
  ng_amax #(
    .Lanes(Numbers),
    .Width(16)
  ) u_amax (
    .a_i   (data_i),
    .amax_o(beat_amax)
  );
  assign amax_before = clear_amax_i ? '0 : amax;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) amax <= '0;
    else amax <= beat && beat_amax > amax_before ? beat_amax : amax_before;
  end
  assign amax_o = amax;

  // ---- quantize
  localparam int Stages = (QuantizeCuts & 1) + ((QuantizeCuts >> 1) & 1) + ((QuantizeCuts >> 2) & 1) + ((QuantizeCuts >> 3) & 1) +
                          ((QuantizeCuts >> 4) & 1);
  logic [Stages:0]     valid;  // [0] goes in, the highest comes out
  logic [Stages*3+2:0] flags;
  logic [63:0]         codes;
  logic [7:0]          scale;
  ng_quantize_nvfp4 #(
    .TinyScales(0),
    .Cuts      (QuantizeCuts)
  ) u_quantize (
    .clk_i         (clk_i),
    .en_i          (move),
    .a_i           (block),
    .tensor_scale_i(tensor_scale_q),
    .codes_o       (codes),
    .scale_o       (scale)
  );
  assign valid[0] = block_valid_q;
  assign flags[2:0] = flags_q;
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    logic valid_q;
    assign valid[s+1] = valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= 1'b0;
      else if (move) valid_q <= valid[s];
    end
    ng_cut #(
      .Width (3),
      .Enable(1)
    ) u_flags (
      .clk_i(clk_i),
      .en_i (move),
      .d_i  (flags[s*3 +: 3]),
      .q_o  (flags[(s+1)*3 +: 3])
    );
  end

  // ---- the image that is put together
  logic                put, put_image_last, put_last, put_irq;
  logic [RowWidth-1:0] put_row_q;
  logic                full_q, full_last_q, full_irq_q, leave;
  logic [Words*StreamWidth-1:0] image;
  assign put = valid[Stages] & move;
  assign {put_image_last, put_last, put_irq} = flags[Stages*3 +: 3];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_row_q <= '0;
      full_q    <= 1'b0;
    end else begin
      if (put) put_row_q <= put_image_last ? '0 : put_row_q + 1'b1;
      full_q <= (put & put_image_last) | (full_q & ~leave);
    end
  end
  always_ff @(posedge clk_i) begin
    if (put & put_image_last) begin
      full_last_q <= put_last;
      full_irq_q  <= put_irq;
    end
  end
  if (Words * StreamWidth > Image) begin : gen_padding
    assign image[Words*StreamWidth-1:Image] = '0;
  end
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [63:0] codes_q;
    logic [7:0]  scale_q;
    always_ff @(posedge clk_i) begin
      if (put && (Rows == 1 || put_row_q == RowWidth'(r))) begin
        codes_q <= codes;
        scale_q <= scale;
      end
    end
    assign image[Elements+r*8 +: 8] = scale_q;
    for (genvar i = 0; i < 16; i++) begin : gen_element
      assign image[(r*16+i)*ElemWidth +: ElemWidth] = ElemWidth'(codes_q[i*4 +: 4]);
    end
  end

  // ---- the image that leaves
  logic [Words*StreamWidth-1:0] leaving_q;
  logic [WordWidth-1:0]         word_q;
  logic                         word_last, taken, leaving_last_q, leaving_irq_q;
  assign word_last = Words == 1 || word_q == WordWidth'(Words - 1);
  assign taken = valid_o & ready_i;
  assign leave = full_q & ~valid_o;
  assign move = ~(full_q & valid_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      word_q  <= '0;
    end else begin
      valid_o <= leave | (valid_o & ~(taken & word_last));
      if (taken) word_q <= word_last ? '0 : word_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (leave) begin
      leaving_q      <= image;
      leaving_last_q <= full_last_q;
      leaving_irq_q  <= full_irq_q;
    end else if (taken) begin
      leaving_q <= leaving_q >> StreamWidth;
    end
  end
  assign data_o = leaving_q[StreamWidth-1:0];
  assign last_o = leaving_last_q & word_last;
  assign irq_o = leaving_irq_q;
  assign busy_o = (|valid) | full_q | valid_o;

endmodule
