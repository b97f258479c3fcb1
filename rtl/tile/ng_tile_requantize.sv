// SPDX-License-Identifier: Apache-2.0
// Makes of tiles of results the images in which the loader takes operand A: blocks of Lanes numbers
// along the rows of C, which are the next product's k, quantized to a format of the set; elements
// of row 0 lowest, then, with NVFP4 in the set, the block scales, which are zero in the other
// formats.
//
// FP8 by ng_quantize_fp8 and INT4 by ng_quantize_int4, number by number as they come; NVFP4 by
// ng_quantize_nvfp4, when 16 of a row are there.
//
// A tile has Rows rows of Cols BF16 numbers, row after row, Numbers of them a beat. Tiles side by
// side are put together: their rows wait in memories until Lanes columns have come, or a tile with
// end_i, behind which the columns of the image are zero. So an image takes Lanes / Cols tiles or
// fewer, and leaves as Words words.
//
//   beat -> codes of FP8, INT4 -> memories, | block -> NVFP4 -> | image: a block a row
//        -> amax                            | -> image that leaves, a word a cycle
//
// Cuts: the Cuts of ng_quantize_nvfp4 are RequantizeBlockCuts of QuantizeCuts, those of the FP8 and
// INT4 codes RequantizeNumberCuts (ng_tile_pkg).
//
// All but the leaving image stands still while one image waits behind another. An image leaves in
// Words cycles and one more, which is at most the beats of a whole image unless that is one, so
// else beats of whole images pass without a stall while ready_i is high. ready_o, valid_o and
// data_o come from registers only.
//
// amax_o: largest magnitude of all numbers taken since the reset or clear_amax_i, as a BF16 code
// without its sign: a NaN is above all. Numbers taken in the cycle of clear_amax_i count.
//
// Width argument: no arithmetic but counters of beats in a row, rows, tiles in an image and words.
module ng_tile_requantize #(
  parameter int Rows         = 8,
  parameter int Cols         = 8,
  parameter int Lanes        = 16,   // columns of an image
  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ, whose operand A is INT4
  parameter int FormatSet    = ng_format_set_pkg::Nvfp4,
  parameter int StreamWidth  = 128,
  // Cuts of ng_quantize_nvfp4, and 32 times those of ng_quantize_fp8 and ng_quantize_int4
  parameter int QuantizeCuts = 0,
  localparam int Units = StreamWidth / 32,
  // 1: so that a wrong Cols gets as far as the message
  localparam int Numbers = Cols < 1 ? 1 : Units < Cols ? Units : Cols
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Results.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [Numbers*16-1:0]  data_i,          // BF16, the first column lowest
  // a bit of FormatSet; ignored if that has no other
  input  logic [3:0]             format_i,
  input  logic [31:0]            tensor_scale_i,  // FP32
  // of all beats of a tile: its image has no columns behind it
  input  logic                   end_i,
  // with the last beat of an image: last_o with its last word
  input  logic                   last_i,
  input  logic                   irq_i,           // with the last beat of an image: irq_o with it
  // Images.
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   irq_o,           // irq_i of the image that leaves
  // beats on their way to the memories, and blocks that have not left
  output logic                   busy_o,
  input  logic                   clear_amax_i,    // amax_o begins again
  output logic [14:0]            amax_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Rows < 1 || Rows > 255) begin : gen_check_rows
    $fatal(1, "ng_tile_requantize: Rows=%0d; expected 1 to 255", Rows);
  end
  if (Cols < 1 || Cols > 128 || (Cols & (Cols - 1)) != 0) begin : gen_check_cols
    $fatal(1, "ng_tile_requantize: Cols=%0d; expected 1 to 128, a power of two", Cols);
  end
  if (Lanes < 2 || Lanes > 128 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_tile_requantize: Lanes=%0d; expected 2 to 128, a power of two", Lanes);
  end
  if (Cols > Lanes) begin : gen_check_columns
    $fatal(1, "ng_tile_requantize: Cols=%0d with Lanes=%0d; expected at most as many", Cols, Lanes);
  end
  if (FormatSet < 1 || FormatSet > ng_format_set_pkg::All) begin : gen_check_format_set
    $fatal(1, "ng_tile_requantize: FormatSet=%0d; expected 1 to 15", FormatSet);
  end
  if ((FormatSet & ng_format_set_pkg::Nvfp4) != 0 && Lanes % 16 != 0) begin : gen_check_blocks
    $fatal(1, "ng_tile_requantize: Lanes=%0d with NVFP4 in the set; expected a multiple of 16",
           Lanes);
  end
  if (StreamWidth < 32 || StreamWidth > 1024
      || (StreamWidth & (StreamWidth - 1)) != 0) begin : gen_check_stream_width
    $fatal(1, "ng_tile_requantize: StreamWidth=%0d; expected 32 to 1024, a power of two",
           StreamWidth);
  end
  if (QuantizeCuts < 0 || QuantizeCuts > 127) begin : gen_check_quantize_cuts
    $fatal(1, "ng_tile_requantize: QuantizeCuts=%0d; expected 0 to 127", QuantizeCuts);
  end
`endif

  localparam bit HasFp4 = (FormatSet & ng_format_set_pkg::Nvfp4) != 0;
  localparam bit HasFp8 = (FormatSet & ng_format_set_pkg::Fp8) != 0;
  localparam bit HasInt4 = (FormatSet & ng_format_set_pkg::Luq) != 0;
  localparam bit HasSingle = HasFp8 || HasInt4;  // formats of single numbers
  // of format_i
  localparam int BitNvfp4 = $clog2(ng_format_set_pkg::Nvfp4);
  localparam int BitE5m2 = $clog2(ng_format_set_pkg::E5m2);
  localparam int BitInt4 = $clog2(ng_format_set_pkg::Luq);
  localparam int ElemWidth = (FormatSet & ng_format_set_pkg::Bits8) != 0 ? 8 : 4;
  localparam int WaitWidth = HasFp4 ? 16 : ElemWidth;  // of a number in the memories
  localparam int Segments = Lanes < Numbers ? 1 : Lanes / Numbers;  // beats of a block
  localparam int Groups = Cols / Numbers;  // beats of a row of a tile
  localparam int Tiles = Segments < Groups ? 1 : Segments / Groups;  // side by side in an image
  localparam int Blocks = HasFp4 ? Lanes / 16 : 0;
  localparam int TileWidth = Tiles > 1 ? $clog2(Tiles) : 1;
  localparam int GroupWidth = Groups > 1 ? $clog2(Groups) : 1;
  localparam int RowWidth = Rows > 1 ? $clog2(Rows) : 1;
  localparam int Elements = Rows * Lanes * ElemWidth;
  localparam int Image = Elements + Rows * Blocks * 8;
  localparam int Words = (Image + StreamWidth - 1) / StreamWidth;
  localparam int WordWidth = Words > 1 ? $clog2(Words) : 1;

  logic move;  // beats, blocks and the image that is put together
  assign ready_o = move;

  // ---- the largest magnitude
  logic        taken_beat;
  logic [14:0] amax, beat_amax, amax_before;
  assign taken_beat = valid_i & move;
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
    else amax <= taken_beat && beat_amax > amax_before ? beat_amax : amax_before;
  end
  assign amax_o = amax;

  // ---- numbers to codes of FP8 and INT4; those of NVFP4 go along as they are
  localparam int SingleCuts = HasSingle
      ? (QuantizeCuts & ng_tile_pkg::RequantizeNumberCuts) >> ng_tile_pkg::RequantizeNumberShift : 0;
  localparam int SingleStages = ng_prim_pkg::cut_count(SingleCuts);
  ng_tile_pkg::beat_side_t      beat_in, beat_out;
  localparam int FlagsWidth = $bits(beat_out);
  localparam int SideWidth = FlagsWidth + (HasFp4 ? Numbers * 16 : 0);
  logic [SingleStages:0]        beat_valid;  // [0] goes in, the highest comes out
  logic [(SingleStages+1)*SideWidth-1:0] side;
  logic [SideWidth-1:0]         side_out;
  logic [Numbers*WaitWidth-1:0] number;
  logic                         in_int4;
  assign in_int4 = HasInt4 && (FormatSet == ng_format_set_pkg::Luq || format_i[BitInt4]);
  ng_valid_pipe #(
    .Depth(SingleStages)
  ) u_beat_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i,
    .valid_o(beat_valid)
  );
  assign beat_in.fp4 = HasFp4 && (!HasSingle || format_i[BitNvfp4]);
  assign beat_in.image_end = end_i;
  assign beat_in.packet_last = last_i;
  assign beat_in.irq = irq_i;
  if (HasFp4) begin : gen_side_numbers
    assign beat_in.scale = tensor_scale_i;
    assign side[SideWidth-1:0] = {data_i, beat_in};
  end else begin : gen_side
    assign beat_in.scale = '0;
    assign side[SideWidth-1:0] = beat_in;
  end
  for (genvar s = 0; s < SingleStages; s++) begin : gen_single_stage
    ng_cut #(
      .Width (SideWidth),
      .Enable(1)
    ) u_side (
      .clk_i,
      .en_i (move),
      .d_i  (side[s*SideWidth +: SideWidth]),
      .q_o  (side[(s+1)*SideWidth +: SideWidth])
    );
  end
  assign side_out = side[SingleStages*SideWidth +: SideWidth];
  assign beat_out = side_out[FlagsWidth-1:0];
  if (HasSingle) begin : gen_single
    logic [Numbers*8-1:0]         fp8;
    logic [Numbers*4-1:0]         int4;
    logic                         out_int4;
    logic [Numbers*ElemWidth-1:0] code;
    if (HasFp8) begin : gen_fp8
      // Any other number than a power of two counts as a scale of NaN.
      logic [7:0] exponent;
      assign exponent = tensor_scale_i[30:23] | {8{tensor_scale_i[31] | (|tensor_scale_i[22:0])}};
      ng_quantize_fp8 #(
        .Lanes     (Numbers),
        .FormatSet (FormatSet & ng_format_set_pkg::Fp8),
        .RandBits  (1),
        .TinyScales(1'b0),
        .Cuts      (SingleCuts)
      ) u_fp8 (
        .clk_i,
        .en_i        (move),
        .a_i         (data_i),
        .scale_i     (exponent),
        .fmt_i       (format_i[BitE5m2]),
        .stochastic_i(1'b0),
        .rand_i      ({Numbers{1'b0}}),  // one bit each
        .codes_o     (fp8)
      );
    end else begin : gen_no_fp8
      assign fp8 = '0;
    end
    if (HasInt4) begin : gen_int4
      logic [SingleStages:0] is_int4;
      logic                  unused_special;
      ng_quantize_int4 #(
        .Lanes(Numbers),
        .Cuts (SingleCuts)
      ) u_int4 (
        .clk_i,
        .en_i     (move),
        .a_i      (data_i),
        .scale_i  (tensor_scale_i[30:0]),
        .codes_o  (int4),
        .special_o(unused_special)
      );
      assign is_int4[0] = in_int4;
      for (genvar s = 0; s < SingleStages; s++) begin : gen_stage
        ng_cut #(
          .Width (1),
          .Enable(1)
        ) u_format (
          .clk_i,
          .en_i (move),
          .d_i  (is_int4[s]),
          .q_o  (is_int4[s+1])
        );
      end
      assign out_int4 = is_int4[SingleStages];
    end else begin : gen_no_int4
      assign int4 = '0;
      assign out_int4 = in_int4;
    end
    for (genvar n = 0; n < Numbers; n++) begin : gen_number
      if (HasFp8) begin : gen_either
        assign code[n*ElemWidth +: ElemWidth] = out_int4 ? ElemWidth'(int4[n*4 +: 4])
            : ElemWidth'(fp8[n*8 +: 8]);
      end else begin : gen_int4_code
        assign code[n*ElemWidth +: ElemWidth] = int4[n*4 +: 4];
      end
      if (HasFp4) begin : gen_with_fp4
        assign number[n*16 +: 16] = beat_out.fp4 ? side_out[FlagsWidth+n*16 +: 16]
            : 16'(code[n*ElemWidth +: ElemWidth]);
      end else begin : gen_without
        assign number[n*ElemWidth +: ElemWidth] = code[n*ElemWidth +: ElemWidth];
      end
    end
    logic unused_single;
    assign unused_single = ^{fp8, out_int4};
  end else begin : gen_no_single
    logic unused_format;
    assign unused_format = in_int4;
    assign number = side_out[SideWidth-1:FlagsWidth];
  end

  logic unused;  // each set has its own bits of them
  assign unused = ^{format_i, tensor_scale_i};

  // ---- where the beat belongs
  logic                  beat, group_end, row_end, image_end;
  logic [GroupWidth-1:0] group_q;
  logic [RowWidth-1:0]   row_q;
  logic [TileWidth-1:0]  tile_q;
  assign beat = beat_valid[SingleStages] & move;
  assign group_end = Groups == 1 || group_q == GroupWidth'(Groups - 1);
  // ng-no-fault: three rows leave values of their counter that never come
  assign row_end = Rows == 1 || row_q == RowWidth'(Rows - 1);
  assign image_end = beat_out.image_end || Tiles == 1 || tile_q == TileWidth'(Tiles - 1);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      group_q <= '0;
      row_q   <= '0;
      tile_q  <= '0;
    end else if (beat) begin
      if (Groups > 1) group_q <= group_q + 1'b1;
      if (group_end) row_q <= row_end ? '0 : row_q + 1'b1;
      if (group_end & row_end) tile_q <= image_end ? '0 : tile_q + 1'b1;
    end
  end

  // ---- rows that wait, and the block
  logic                         block_valid_q;
  logic [Numbers*WaitWidth-1:0] beat_q;
  logic [TileWidth-1:0]         last_tile_q;  // of the block
  logic [31:0]                  tensor_scale_q;
  ng_tile_pkg::block_flags_t    block_flags, put_flags;  // of the next block; of what was one
  localparam int BlockFlagsWidth = $bits(put_flags);
  logic [BlockFlagsWidth-1:0]   flags_q;
  logic [Lanes*WaitWidth-1:0]   block;
  assign block_flags.fp4 = beat_out.fp4;
  assign block_flags.image_last = row_end;
  assign block_flags.packet_last = beat_out.packet_last;
  assign block_flags.irq = beat_out.irq;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) block_valid_q <= 1'b0;
    else if (move) block_valid_q <= beat_valid[SingleStages] & group_end & image_end;
  end
  always_ff @(posedge clk_i) begin
    if (beat) begin
      beat_q         <= number;
      last_tile_q    <= tile_q;
      tensor_scale_q <= beat_out.scale;
      flags_q        <= block_flags;
    end
  end
  for (genvar s = 0; s < Segments; s++) begin : gen_segment
    localparam int Tile = s / Groups;
    // the beat ends its row of a tile; what is before it has waited
    logic [Numbers*WaitWidth-1:0] part;
    if (s < Segments - 1) begin : gen_memory
      logic [Numbers*WaitWidth-1:0] waited;
      ng_ram #(
        .Width(Numbers * WaitWidth),
        .Depth(Rows > 1 ? Rows : 2)
      ) u_ram (
        .clk_i,
        // ng-no-fault: what the memory takes before its own beat is overwritten before it is read;
        //   the prover does not know
        .we_i   (beat && tile_q == TileWidth'(Tile) && group_q == GroupWidth'(s % Groups)),
        .waddr_i(row_q),
        .wdata_i(number),
        .re_i   (beat),
        .raddr_i(row_q),
        .rdata_o(waited)
      );
      assign part = s % Groups == Groups - 1 && last_tile_q == TileWidth'(Tile) ? beat_q : waited;
    end else begin : gen_beat
      assign part = beat_q;
    end
    assign block[s*Numbers*WaitWidth +: Numbers*WaitWidth] = Tile == 0
        || last_tile_q >= TileWidth'(Tile) ? part : '0;
  end

  // ---- quantize to NVFP4
  localparam int BlockCuts = HasFp4 ? QuantizeCuts & ng_tile_pkg::RequantizeBlockCuts : 0;
  localparam int Stages = ng_prim_pkg::cut_count(BlockCuts);
  localparam int BlockWidth = Lanes * ElemWidth;
  logic [Stages:0]       valid;  // [0] goes in, the highest comes out
  logic [(Stages+1)*BlockFlagsWidth-1:0] flags;
  logic [BlockWidth-1:0] codes;
  logic [(Blocks > 0 ? Blocks : 1)*8-1:0] scales;
  logic                  unused_scales;
  assign unused_scales = ^scales;
  ng_valid_pipe #(
    .Depth(Stages)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(block_valid_q),
    .valid_o(valid)
  );
  assign flags[BlockFlagsWidth-1:0] = flags_q;
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    ng_cut #(
      .Width (BlockFlagsWidth),
      .Enable(1)
    ) u_flags (
      .clk_i,
      .en_i (move),
      .d_i  (flags[s*BlockFlagsWidth +: BlockFlagsWidth]),
      .q_o  (flags[(s+1)*BlockFlagsWidth +: BlockFlagsWidth])
    );
  end
  if (HasFp4) begin : gen_nvfp4
    logic [Lanes*4-1:0] nvfp4;
    for (genvar b = 0; b < Blocks; b++) begin : gen_block
      ng_quantize_nvfp4 #(
        .TinyScales(1'b0),
        .Cuts      (BlockCuts)
      ) u_quantize (
        .clk_i,
        .en_i          (move),
        .a_i           (block[b*256 +: 256]),
        .tensor_scale_i(tensor_scale_q),
        .codes_o       (nvfp4[b*64 +: 64]),
        .scale_o       (scales[b*8 +: 8])
      );
    end
    if (HasSingle) begin : gen_either
      logic [(Stages+1)*BlockWidth-1:0] along;
      for (genvar i = 0; i < Lanes; i++) begin : gen_lane
        assign along[i*ElemWidth +: ElemWidth] = block[i*16 +: ElemWidth];
        assign codes[i*ElemWidth +: ElemWidth] =
            put_flags.fp4 ? ElemWidth'(nvfp4[i*4 +: 4])
                : along[Stages*BlockWidth+i*ElemWidth +: ElemWidth];
      end
      for (genvar s = 0; s < Stages; s++) begin : gen_along
        ng_cut #(
          .Width (BlockWidth),
          .Enable(1)
        ) u_along (
          .clk_i,
          .en_i (move),
          .d_i  (along[s*BlockWidth +: BlockWidth]),
          .q_o  (along[(s+1)*BlockWidth +: BlockWidth])
        );
      end
    end else begin : gen_always
      assign codes = nvfp4;
    end
  end else begin : gen_no_nvfp4
    logic unused_scale;
    assign unused_scale = ^{tensor_scale_q, put_flags.fp4};
    assign codes = block;
    assign scales = '0;
  end

  // ---- the image that is put together
  logic                put;
  logic [RowWidth-1:0] put_row_q;
  logic                full_q, full_last_q, full_irq_q, leave;
  logic [Words*StreamWidth-1:0] image;
  assign put = valid[Stages] & move;
  assign put_flags = flags[Stages*BlockFlagsWidth +: BlockFlagsWidth];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_row_q <= '0;
      full_q    <= 1'b0;
    end else begin
      if (put) put_row_q <= put_flags.image_last ? '0 : put_row_q + 1'b1;
      full_q <= (put & put_flags.image_last) | (full_q & ~leave);
    end
  end
  always_ff @(posedge clk_i) begin
    if (put & put_flags.image_last) begin
      full_last_q <= put_flags.packet_last;
      full_irq_q  <= put_flags.irq;
    end
  end
  if (Words * StreamWidth > Image) begin : gen_padding
    assign image[Words*StreamWidth-1:Image] = '0;
  end
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic                  put_row;
    logic [BlockWidth-1:0] codes_q;
    // ng-no-fault: three rows leave values of their counter that never come
    assign put_row = put && (Rows == 1 || put_row_q == RowWidth'(r));
    always_ff @(posedge clk_i) if (put_row) codes_q <= codes;
    assign image[r*BlockWidth +: BlockWidth] = codes_q;
    for (genvar b = 0; b < Blocks; b++) begin : gen_scale
      logic [6:0] scale_q;  // UE4M3 has no sign
      always_ff @(posedge clk_i) if (put_row) scale_q <= scales[b*8 +: 7] & {7{put_flags.fp4}};
      assign image[Elements+(r*Blocks+b)*8 +: 8] = {1'b0, scale_q};
    end
  end

  // ---- the image that leaves
  logic [Words*StreamWidth-1:0] leaving_q;
  logic [WordWidth-1:0]         word_q;
  logic                         word_last, taken, leaving_last_q, leaving_irq_q;
  // ng-no-fault: thirteen words leave values of their counter that never come
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
      // ng-no-fault: only the number of words shows, so any walk of thirteen states serves: with
      //   bit 3 of the sum inverted where bit 0 is one, 0 1 10 11 4 5 14 15 8 9 2 3 12 is as good
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
  if (SingleStages == 0) begin : gen_busy
    assign busy_o = (|valid) | full_q | valid_o;
  end else begin : gen_busy_stages
    assign busy_o = (|beat_valid[SingleStages:1]) | (|valid) | full_q | valid_o;
  end

endmodule
