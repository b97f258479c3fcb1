// SPDX-License-Identifier: Apache-2.0
// Makes of tiles of results the images in which the loader takes operand A: blocks of Lanes numbers
// along the rows of C, which are the next product's k, quantized to a format of the set; elements
// of row 0 lowest, then, with NVFP4 in the set, the block scales, which are zero in the other
// formats.
//
// A tile has Rows rows of Cols BF16 numbers, row after row, Numbers of them a beat. Tiles side by
// side are put together: their beats wait in a memory until Lanes columns have come, or a tile with
// end_i, behind which the columns of the image are zero. So an image takes Lanes / Cols tiles or
// fewer, and leaves as words, of which the codes of the first rows leave first.
//
//   beat -> FP8, INT4: codes -> memory of two images -> NVFP4: codes, scales -> words of the image
//        -> amax
//
// FP8 by ng_quantize_fp8 and INT4 by ng_quantize_int4, number by number as they come. NVFP4 by
// ng_quantize_nvfp4_folded, a beat of the memory a cycle; where a beat has 16 numbers or more, by a
// ng_quantize_nvfp4 for each 16 of them.
//
// Cuts: of the FP8 and INT4 codes RequantizeNumberCuts (ng_tile_pkg) of QuantizeCuts. Where
// ng_quantize_nvfp4 is, RequantizeBlockCuts are its Cuts; the folded quantizer needs none.
//
// While one image is collected in one half of the memory, the one before is read from the other, a
// beat a cycle. So beats of whole images pass without a stall while ready_i is high. An image that
// ends early takes as long to read as a whole one. ready_o, valid_o and data_o come from registers
// only.
//
// amax_o: largest magnitude of all numbers taken since the reset or clear_amax_i, as a BF16 code
// without its sign: a NaN is above all. Numbers taken in the cycle of clear_amax_i count.
//
// Width argument: no arithmetic but counters of beats in a row, rows and tiles in an image.
module ng_tile_requantize #(
  parameter int Rows         = 8,
  parameter int Cols         = 8,
  parameter int Lanes        = 16,   // columns of an image
  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ, whose operand A is INT4
  parameter int FormatSet    = ng_format_set_pkg::Nvfp4,
  parameter int StreamWidth  = 128,
  // Cuts of ng_quantize_nvfp4 where beats have 16 numbers or more, and 32 times those of
  // ng_quantize_fp8 and ng_quantize_int4
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
  // FP32: in NVFP4 beside the last beat of an image, else beside each
  input  logic [31:0]            tensor_scale_i,
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
  // beats on their way to the memory, and images that have not left
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
  localparam int Segments = Lanes < Numbers ? 1 : Lanes / Numbers;  // beats of a row of an image
  localparam int Groups = Cols < Numbers ? 1 : Cols / Numbers;  // beats of a row of a tile
  localparam int Tiles = Segments < Groups ? 1 : Segments / Groups;  // side by side in an image
  localparam int Blocks = HasFp4 ? Lanes / 16 : 0;
  localparam int TileWidth = Tiles > 1 ? $clog2(Tiles) : 1;
  localparam int GroupWidth = Groups > 1 ? $clog2(Groups) : 1;
  localparam int RowWidth = Rows > 1 ? $clog2(Rows) : 1;

  logic move;  // beats until they are in the memory
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
  logic                  beat, group_end, row_end, image_end, complete;
  logic [GroupWidth-1:0] group_q;
  logic [RowWidth-1:0]   row_q;
  logic [TileWidth-1:0]  tile_q;
  assign beat = beat_valid[SingleStages] & move;
  assign group_end = Groups == 1 || group_q == GroupWidth'(Groups - 1);
  // ng-no-fault: three rows leave values of their counter that never come
  assign row_end = Rows == 1 || row_q == RowWidth'(Rows - 1);
  assign image_end = beat_out.image_end || Tiles == 1 || tile_q == TileWidth'(Tiles - 1);
  assign complete = beat & group_end & row_end & image_end;
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

  // ---- two images: one is collected, and one is read or waits to be read
  localparam int SegmentBits = $clog2(Segments);
  localparam int ReadBits = (Rows > 1 ? RowWidth : 0) + SegmentBits;  // of a beat in its image
  localparam int AddrWidth = ReadBits + 1;
  localparam int PlaceWidth = ReadBits > 0 ? ReadBits : 1;
  // an address is a half of the memory, a row, and a segment
  logic                      write_half_q, read_half_q, reading_q, waits_q;
  logic [PlaceWidth-1:0]     read_q;  // a row, and a segment
  logic [AddrWidth-1:0]      write_at, read_at;
  ng_tile_pkg::image_flags_t ended, waiting_q, read_flags_q;
  logic [TileWidth-1:0]      waiting_tile_q, read_tile_q;  // the image's last one
  logic                      fetch, read_end, finish;
  assign write_at = AddrWidth'({write_half_q, {ReadBits{1'b0}}}) | AddrWidth'(row_q) << SegmentBits
      | AddrWidth'(tile_q) << $clog2(Groups) | AddrWidth'(group_q);
  assign read_at = AddrWidth'({read_half_q, {ReadBits{1'b0}}}) | AddrWidth'(read_q);
  // ng-no-fault: three rows leave values of their counter that never come
  assign read_end = read_q == PlaceWidth'(Rows * Segments - 1);
  assign finish = fetch & read_end;
  assign move = ~waits_q;
  assign ended.fp4 = beat_out.fp4;
  assign ended.packet_last = beat_out.packet_last;
  assign ended.irq = beat_out.irq;
  assign ended.scale = beat_out.scale;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_half_q <= 1'b0;
      read_half_q  <= 1'b0;
      reading_q    <= 1'b0;
      waits_q      <= 1'b0;
      read_q       <= '0;
    end else begin
      write_half_q <= write_half_q ^ complete;
      read_half_q  <= read_half_q ^ finish;
      reading_q    <= complete | waits_q | (reading_q & ~finish);
      waits_q      <= (complete | waits_q) & reading_q & ~finish;
      if (fetch) read_q <= read_end ? '0 : read_q + PlaceWidth'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (complete) begin
      waiting_q      <= ended;
      waiting_tile_q <= tile_q;
    end
    if (~reading_q | finish) begin
      read_flags_q <= waits_q ? waiting_q : ended;
      read_tile_q  <= waits_q ? waiting_tile_q : tile_q;
    end
  end

  // ---- the beat that was read
  localparam int FlagsDepth = Rows * Lanes < 128 ? 16 : 4;  // images in the quantizer and on their way to it
  logic                         held_q, held_empty_q, held_fp4_q, sent, flags_ready, unused_fp4;
  logic [31:0]                  held_scale_q;
  logic [Numbers*WaitWidth-1:0] waited, held;
  // ng-no-fault(ng_tile_requantize): the FIFO of marks is deeper than the images behind it are many
  assign fetch = reading_q & (~held_q | sent) & (flags_ready | (|read_q));
  ng_ram #(
    .Width(Numbers * WaitWidth),
    .Depth(1 << AddrWidth)
  ) u_ram (
    .clk_i,
    .we_i   (beat),
    .waddr_i(write_at),
    .wdata_i(number),
    .re_i   (fetch),
    .raddr_i(read_at),
    .rdata_o(waited)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= fetch | (held_q & ~sent);
  end
  // ng-no-fault(ng_tile_requantize): a scale whose sign is set is refused, whatever its other bits are
  always_ff @(posedge clk_i) begin
    if (fetch) begin
      held_empty_q <= Tiles > 1 && TileWidth'(read_q >> $clog2(Groups)) > read_tile_q;
      held_fp4_q   <= read_flags_q.fp4;
      held_scale_q <= read_flags_q.scale;
    end
  end
  // ng-no-fault(ng_tile_requantize): the low bits of a number are far below the least scale
  assign held = held_empty_q ? '0 : waited;

  // What the images are that have begun to be read: the first of them is the one that leaves.
  ng_tile_pkg::image_mark_t mark_in, mark;
  logic                     mark_valid, slot_valid, slot_ready, slot_end, image_busy;
  logic [$clog2(FlagsDepth+1)-1:0] unused_space;
  assign mark_in.fp4 = read_flags_q.fp4;
  assign mark_in.packet_last = read_flags_q.packet_last;
  assign mark_in.irq = read_flags_q.irq;
  ng_fifo #(
    .Width($bits(mark)),
    .Depth(FlagsDepth)
  ) u_marks (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .valid_i(fetch & ~(|read_q)),
    .ready_o(flags_ready),
    .data_i (mark_in),
    .valid_o(mark_valid),
    .ready_i(slot_valid & slot_ready & slot_end),
    .data_o (mark),
    .space_o(unused_space)
  );

  // ---- quantize to NVFP4
  localparam int Together = Numbers < 16 ? 1 : Numbers / 16;  // blocks of a beat
  logic                        fp4_ready, fp4_valid, fp4_end;
  logic [Numbers*4-1:0]        nvfp4;
  logic [Together*8-1:0]       scales;
  if (!HasFp4) begin : gen_no_nvfp4
    logic unused_scale;
    assign unused_scale = ^{held_scale_q, fp4_ready, fp4_valid, fp4_end, nvfp4, scales};
    assign fp4_ready = 1'b0;
    assign fp4_valid = 1'b0;
    assign fp4_end = 1'b0;
    assign nvfp4 = '0;
    assign scales = '0;
  end else if (Numbers < 16) begin : gen_folded
    ng_quantize_nvfp4_folded #(
      .Lanes   (Numbers),
      .RandBits(1)
    ) u_quantize (
      .clk_i,
      .rst_ni,
      .valid_i       (held_q & held_fp4_q),
      .ready_o       (fp4_ready),
      .a_i           (held),
      .rand_i        ({Numbers{1'b0}}),
      .tensor_scale_i(held_scale_q),
      .stochastic_i  (1'b0),
      .valid_o       (fp4_valid),
      .ready_i       (slot_ready),
      .codes_o       (nvfp4),
      .scale_o       (scales),
      .last_o        (fp4_end)
    );
  end else begin : gen_blocks
    localparam int BlockCuts = QuantizeCuts & ng_tile_pkg::RequantizeBlockCuts;
    localparam int Stages = ng_prim_pkg::cut_count(BlockCuts);
    logic [Stages:0] valid;  // [0] goes in, the highest comes out
    logic            unused_valid;
    assign unused_valid = ^valid;
    assign fp4_valid = valid[Stages];
    assign fp4_ready = ~fp4_valid | slot_ready;
    assign fp4_end = 1'b1;
    ng_valid_pipe #(
      .Depth(Stages)
    ) u_valid (
      .clk_i,
      .rst_ni,
      .en_i   (fp4_ready),
      .valid_i(held_q & held_fp4_q),
      .valid_o(valid)
    );
    for (genvar b = 0; b < Together; b++) begin : gen_block
      ng_quantize_nvfp4 #(
        .TinyScales(1'b0),
        .Cuts      (BlockCuts)
      ) u_quantize (
        .clk_i,
        .en_i          (fp4_ready),
        .a_i           (held[b*256 +: 256]),
        .tensor_scale_i(held_scale_q),
        .codes_o       (nvfp4[b*64 +: 64]),
        .scale_o       (scales[b*8 +: 8])
      );
    end
  end

  // ---- the image: codes of other formats pass the quantizer when nothing is in it that came before
  logic [Numbers*ElemWidth-1:0] slot;
  logic                         direct, leaves_fp4, block_end;
  assign leaves_fp4 = HasFp4 && (!HasSingle || mark.fp4);
  assign direct = held_q & ~held_fp4_q & mark_valid & ~leaves_fp4;
  assign sent = held_q & (held_fp4_q ? fp4_ready : direct & slot_ready);
  assign slot_valid = leaves_fp4 ? fp4_valid : direct;
  for (genvar n = 0; n < Numbers; n++) begin : gen_slot
    assign slot[n*ElemWidth +: ElemWidth] = leaves_fp4 ? ElemWidth'(nvfp4[n*4 +: 4])
        : held[n*WaitWidth +: ElemWidth];
  end
  logic [Together*8-1:0] slot_scales;
  assign slot_scales = leaves_fp4 ? scales : '0;
  // The scales of other formats than NVFP4 are zero: they come with the end of a block, too.
  if (HasFp4 && HasSingle && Numbers < 16) begin : gen_block_end
    logic [$clog2(16/Numbers)-1:0] beat_q;  // of a block
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) beat_q <= '0;
      // ng-no-fault: other orders of its values begin and end alike, and no value is seen
      else if (slot_valid & slot_ready) beat_q <= beat_q + 1'b1;
    end
    assign block_end = &beat_q;
    assign unused_fp4 = fp4_end;
  end else begin : gen_fp4_end
    assign block_end = HasFp4 && fp4_end;
    assign unused_fp4 = 1'b0;
  end
  ng_tile_image #(
    .SlotWidth  (Numbers * ElemWidth),
    .Slots      (Rows * Segments),
    .ScaleWidth (Together * 8),
    .Scales     (Rows * Blocks * 8),
    .StreamWidth(StreamWidth)
  ) u_image (
    .clk_i,
    .rst_ni,
    .valid_i (slot_valid),
    .ready_o (slot_ready),
    .slot_i  (slot),
    .scaled_i(block_end),
    .scale_i (slot_scales),
    .last_i  (mark.packet_last),
    .irq_i   (mark.irq),
    .end_o   (slot_end),
    .valid_o,
    .ready_i,
    .data_o,
    .last_o,
    .irq_o,
    .busy_o  (image_busy)
  );
  if (SingleStages == 0) begin : gen_busy
    assign busy_o = reading_q | mark_valid | image_busy;
  end else begin : gen_busy_stages
    assign busy_o = (|beat_valid[SingleStages:1]) | reading_q | mark_valid | image_busy;
  end

endmodule
