// SPDX-License-Identifier: Apache-2.0
// Words of an image, of its codes as they come and of block scales behind them: elements of row 0
// lowest, then the scales, one after another, and zeros to the end of the last word.
//
// A slot is a beat of codes. Slots fill a word from below, and a full word goes to the register of
// the output. Codes that are left when the image ends share the words of its tail with the scales.
// The tail waits in registers of its own, so that slots of the next image can come while it leaves.
//
// A slot that ends a word or an image waits until the word and the tail before it have left, so
// slots pass without a stall while ready_i is high and a tail has at most two words. ready_o and
// all outputs come from registers only.
//
// Width argument: no arithmetic but counters of slots in an image and of words in a tail.
module ng_tile_image #(
  parameter int SlotWidth   = 16,   // bits of the codes of a beat: a power of two
  parameter int Slots       = 32,   // beats of an image
  parameter int ScaleWidth  = 8,    // bits of scales that come together
  parameter int Scales      = 32,   // bits of all scales of an image; 0 without
  parameter int StreamWidth = 128   // at least twice SlotWidth
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [SlotWidth-1:0]   slot_i,
  input  logic                   scaled_i,   // the slot ends blocks, of which these are the scales
  input  logic [ScaleWidth-1:0]  scale_i,
  input  logic                   last_i,     // of the image: last_o with its last word
  input  logic                   irq_i,      // of the image: irq_o with it
  output logic                   end_o,      // the slot is the image's last one
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   irq_o,
  output logic                   busy_o      // words wait
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (SlotWidth < 1 || (SlotWidth & (SlotWidth - 1)) != 0) begin : gen_check_slot_width
    $fatal(1, "ng_tile_image: SlotWidth=%0d; expected a power of two", SlotWidth);
  end
  if (Slots < 1) begin : gen_check_slots
    $fatal(1, "ng_tile_image: Slots=%0d; expected 1 or more", Slots);
  end
  if (StreamWidth < 2 * SlotWidth || StreamWidth % SlotWidth != 0) begin : gen_check_stream_width
    $fatal(1, "ng_tile_image: StreamWidth=%0d with SlotWidth=%0d; expected twice as many bits, four times, and so on",
           StreamWidth, SlotWidth);
  end
`endif

  localparam int PerWord = StreamWidth / SlotWidth;
  localparam int WordBits = $clog2(PerWord);
  localparam int CountBits = $clog2(Slots) > WordBits ? $clog2(Slots) : WordBits;
  localparam int Rest = Slots * SlotWidth % StreamWidth;  // bits of codes in the tail
  localparam int TailWords = (Rest + Scales + StreamWidth - 1) / StreamWidth;

  // ng-no-fault: other orders of its values begin and end alike, and no value is seen
  logic [CountBits-1:0]             slot_q;
  logic [StreamWidth-SlotWidth-1:0] word_q;  // a word but for the slot that comes
  logic [StreamWidth-1:0]           word;
  logic                             push, word_end, tail_waits;
  assign end_o = slot_q == CountBits'(Slots - 1);
  assign word_end = &slot_q[WordBits-1:0];
  assign ready_o = ~(word_end | end_o) | ~(valid_o | tail_waits);
  assign push = valid_i & ready_o;
  assign word = {slot_i, word_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) slot_q <= '0;
    else if (push) slot_q <= end_o ? '0 : slot_q + CountBits'(1);
  end
  always_ff @(posedge clk_i) if (push) word_q <= word[StreamWidth-1:SlotWidth];

  // ---- the tail
  logic                   tail_moves, tail_last, tail_packet_last, tail_irq;
  logic [StreamWidth-1:0] tail_word;
  assign tail_moves = tail_waits & (~valid_o | ready_i);
  if (TailWords > 0) begin : gen_tail
    localparam int LeftBits = $clog2(TailWords + 1);
    localparam int Width = TailWords * StreamWidth;
    logic [LeftBits-1:0] left_q;
    logic [Width-1:0]    tail, tail_q;
    logic                last_q, irq_q;
    if (Scales > 0) begin : gen_scales
      logic [Scales-1:0] scales;
      if (Scales > ScaleWidth) begin : gen_more
        logic [Scales-ScaleWidth-1:0] scales_q;  // all but those that come
        always_ff @(posedge clk_i) if (push & scaled_i) scales_q <= scales[Scales-1:ScaleWidth];
        assign scales = {scale_i, scales_q};
      end else begin : gen_all
        logic unused_scaled;
        assign unused_scaled = scaled_i;
        assign scales = scale_i;
      end
      if (Rest > 0) begin : gen_rest
        assign tail = Width'({scales, word[StreamWidth-1 -: Rest]});
      end else begin : gen_alone
        assign tail = Width'(scales);
      end
    end else begin : gen_rest
      assign tail = Width'(word[StreamWidth-1 -: Rest]);
      logic unused_scale;
      assign unused_scale = ^{scaled_i, scale_i};
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q <= '0;
      else if (push & end_o) left_q <= LeftBits'(TailWords);
      else if (tail_moves) left_q <= left_q - LeftBits'(1);
    end
    always_ff @(posedge clk_i) begin
      if (push & end_o) begin
        tail_q <= tail;
        last_q <= last_i;
        irq_q  <= irq_i;
      end else if (tail_moves) begin
        tail_q <= tail_q >> StreamWidth;
      end
    end
    assign tail_waits = |left_q;
    assign tail_last = left_q == LeftBits'(1);
    assign tail_packet_last = last_q;
    assign tail_irq = irq_q;
    assign tail_word = tail_q[StreamWidth-1:0];
  end else begin : gen_no_tail
    logic unused_scale;
    assign unused_scale = ^{scaled_i, scale_i};
    assign tail_waits = 1'b0;
    assign tail_last = 1'b0;
    assign tail_packet_last = 1'b0;
    assign tail_irq = 1'b0;
    assign tail_word = '0;
  end

  // ---- the word that leaves
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= (push & word_end) | tail_moves | (valid_o & ~ready_i);
  end
  always_ff @(posedge clk_i) begin
    if (push & word_end) begin
      data_o <= word;
      last_o <= end_o & last_i & (TailWords == 0);
      irq_o  <= irq_i;
    end else if (tail_moves) begin
      data_o <= tail_word;
      last_o <= tail_last & tail_packet_last;
      irq_o  <= tail_irq;
    end
  end
  assign busy_o = valid_o | tail_waits;

endmodule
