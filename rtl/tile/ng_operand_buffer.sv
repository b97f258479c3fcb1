// SPDX-License-Identifier: Apache-2.0
// Two banks of Depth operand images of Width bits: one is filled from a stream while the other is
// computed with.
//
// Filling. The open bank takes images as Words = ceil(Width / StreamWidth) words, lowest word
// first; what the last word has beyond Width is dropped. close_i with the last word of an image
// makes the bank complete, and the other one is next; if that one is still complete, open_o is low,
// and write_i must be.
// Computing. The bank whose turn it is has images_o images; complete_o: no more will come. An image
// read in one cycle stands at image_o from the next one on, until the next read. release_i empties
// the complete bank, even in the cycle of its last read; the other bank's turn comes. Banks
// complete, and are released, in turn.
//
// Each word of an image has its own memory, so that words are written as they come and images are
// read whole.
// Protect: the last word has the parity of the image beside it, and fault_o says that what stands
// at image_o has another one.
// Width argument: a bank's count goes from 0 to Depth = 2^AddrWidth: AddrWidth + 1 bits.
module ng_operand_buffer #(
  parameter int Width       = 576,
  parameter int StreamWidth = 128,
  parameter int Depth       = 512,  // power of two, 2 or more
  parameter bit Protect     = 1'b0,  // a parity bit an image
  localparam int AddrWidth  = $clog2(Depth),
  localparam int CountWidth = AddrWidth + 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Filling.
  output logic                   open_o,
  output logic [CountWidth-1:0]  filled_o,     // images in the bank, if open
  output logic                   last_word_o,  // the next word completes an image
  input  logic                   write_i,
  input  logic [StreamWidth-1:0] data_i,
  input  logic                   close_i,
  // Computing.
  output logic                   complete_o,
  output logic [CountWidth-1:0]  images_o,     // images in that bank, complete or being filled
  input  logic                   read_i,
  input  logic [AddrWidth-1:0]   addr_i,
  output logic [Width-1:0]       image_o,
  output logic                   fault_o,      // parity of image_o is wrong; 0 without Protect
  input  logic                   release_i
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_operand_buffer: Width=%0d; expected 1 or more", Width);
  end
  if (StreamWidth < 1) begin : gen_check_stream_width
    $fatal(1, "ng_operand_buffer: StreamWidth=%0d; expected 1 or more", StreamWidth);
  end
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_check_depth
    $fatal(1, "ng_operand_buffer: Depth=%0d; expected a power of two, 2 or more", Depth);
  end
`endif

  localparam int Words = (Width + StreamWidth - 1) / StreamWidth;
  localparam int WordWidth = Words > 1 ? $clog2(Words) : 1;

  // ---- banks: the one whose turn it is, and the other one; the first of them that is not complete
  // is under fill
  logic                  turn_q;
  logic                  complete_q, other_complete_q, complete_d, other_complete_d;
  logic [CountWidth-1:0] images_q, other_images_q, filled_d, images_d, other_images_d;
  logic [WordWidth-1:0]  word_q;
  logic                  image_end;
  // ng-no-fault: the other bank is complete only where this one is
  assign open_o = ~(complete_q & other_complete_q);
  assign filled_o = complete_q ? other_images_q : images_q;
  assign last_word_o = word_q == WordWidth'(Words - 1);
  assign complete_o = complete_q;
  assign images_o = images_q;
  assign image_end = write_i & last_word_o;
  assign filled_d = filled_o + 1'b1;
  assign images_d = image_end & ~complete_q ? filled_d : images_q;
  assign other_images_d = image_end & complete_q ? filled_d : other_images_q;
  assign complete_d = complete_q | (image_end & close_i);
  assign other_complete_d = other_complete_q | (complete_q & image_end & close_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q           <= 1'b0;
      complete_q       <= 1'b0;
      other_complete_q <= 1'b0;
      images_q         <= '0;
      other_images_q   <= '0;
      word_q           <= '0;
    end else begin
      if (write_i) word_q <= last_word_o ? '0 : word_q + 1'b1;
      turn_q           <= turn_q ^ release_i;
      complete_q       <= release_i ? other_complete_d : complete_d;
      images_q         <= release_i ? other_images_d : images_d;
      other_complete_q <= ~release_i & other_complete_d;
      other_images_q   <= release_i ? '0 : other_images_d;
    end
  end

  // ---- parity of the image that comes, and of the one that stands at the output
  localparam int LastPart = Width - (Words - 1) * StreamWidth;
  logic parity, parity_read;
  if (Protect) begin : gen_parity
    logic parity_q;  // of the words of this image so far
    assign parity = parity_q ^ (^data_i[LastPart-1:0]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) parity_q <= 1'b0;
      else if (write_i) parity_q <= ~last_word_o & (parity_q ^ (^data_i));
    end
    assign fault_o = ^{parity_read, image_o};
  end else begin : gen_no_parity
    assign parity = 1'b0;
    assign fault_o = 1'b0;
    logic unused_parity;
    assign unused_parity = parity ^ parity_read;
  end

  // ---- memories
  for (genvar w = 0; w < Words; w++) begin : gen_word
    localparam int Part = w < Words - 1 ? StreamWidth : LastPart;
    localparam int Extra = Protect && w == Words - 1 ? 1 : 0;
    logic [Part+Extra-1:0] stored, read;
    if (Extra != 0) begin : gen_extra
      assign stored = {parity, data_i[Part-1:0]};
      assign parity_read = read[Part];
    end else begin : gen_no_extra
      assign stored = data_i[Part-1:0];
      if (w == Words - 1) begin : gen_last
        assign parity_read = 1'b0;
      end
    end
    assign image_o[w*StreamWidth +: Part] = read[Part-1:0];
    ng_ram #(
      .Width(Part + Extra),
      .Depth(2 * Depth)
    ) u_ram (
      .clk_i,
      .we_i   (write_i & (word_q == WordWidth'(w))),
      .waddr_i({turn_q ^ complete_q, filled_o[AddrWidth-1:0]}),
      .wdata_i(stored),
      .re_i   (read_i),
      .raddr_i({turn_q, addr_i}),
      .rdata_o(read)
    );
  end
  logic unused_padding;
  assign unused_padding = ^data_i;

endmodule
