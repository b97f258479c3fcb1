// SPDX-License-Identifier: Apache-2.0
// Zeros and bit flips of the operand images of one side of the array, for ng_tile_counters: two
// cycles after an image is taken, zeros_o is the number of its elements whose bits but the sign
// (with int4_i, and of MXINT8, all bits) are zero, in enabled vectors, and flips_o the number of bits in which it
// differs from the image taken before, where vectors that are not enabled count as zero.
//
// Bits are counted vector by vector and the counts added: Yosys' $countones is slow beyond some
// hundred bits. Width argument: a count is at most the number of bits counted, Width; counts are
// given in 64 bits, as they are added.
module ng_tile_activity #(
  parameter int Vectors   = 8,
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::All,
  parameter bit Mx        = 1'b0,  // the formats of the set are MX's
  localparam int Bits8 = Mx ? ng_format_set_pkg::MxBits8 : ng_format_set_pkg::Bits8,
  localparam int ElemWidth = (FormatSet & Bits8) != 0 ? 8 : 4,
  localparam int Elements  = Vectors * Lanes,
  localparam int Part      = Lanes * ElemWidth,  // bits of a vector
  localparam int Width     = Vectors * Part
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               take_i,
  // 4 bits: the payload of an element is its three lowest bits, else seven
  input  logic               fp4_i,
  input  logic               int4_i,    // INT4: all four bits are payload; ignored without LUQ
  input  logic [Vectors-1:0] enable_i,
  input  logic [Width-1:0]   data_i,
  output logic [63:0]        zeros_o,
  output logic [63:0]        flips_o
);

  logic [Width-1:0] enable, image, image_q, flips_q, payload, zeros_q;
  for (genvar v = 0; v < Vectors; v++) begin : gen_vector
    assign enable[v*Part +: Part] = {Part{enable_i[v]}};
  end
  assign image = data_i & enable;

  // Bit 0 of each element: whether its payload has a one. For all elements at once: simulates fast.
  logic [Width-1:0] three;
  assign three = image | (image >> 1) | (image >> 2);
  logic [Width-1:0] narrow;
  if ((FormatSet & ng_format_set_pkg::Luq) != 0) begin : gen_luq
    assign narrow = int4_i ? three | (image >> 3) : three;
  end else begin : gen_no_luq
    logic unused_int4;
    assign unused_int4 = int4_i;
    assign narrow = three;
  end
  if (ElemWidth == 4) begin : gen_fp4
    logic unused_fp4;
    assign unused_fp4 = fp4_i;
    assign payload = narrow;
  end else begin : gen_fp8
    localparam bit Int8 = Mx && FormatSet == ng_format_set_pkg::Luq;
    assign payload = Int8 ? three | (three >> 3) | (image >> 6) | (image >> 7)
        : fp4_i ? narrow : three | (three >> 3) | (image >> 6);
  end

  localparam int CountWidth = $clog2(Width + 1);
  logic [CountWidth-1:0] zeros, flips;
  always_comb begin
    zeros = '0;
    flips = '0;
    for (int v = 0; v < Vectors; v++) begin
      zeros = zeros + CountWidth'($countones(zeros_q[v*Part +: Part]));
      flips = flips + CountWidth'($countones(flips_q[v*Part +: Part]));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) image_q <= '0;
    else if (take_i) image_q <= image;
  end
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      flips_q <= image ^ image_q;
      zeros_q <= enable & ~payload & {Elements{ElemWidth'(1)}};
    end
    zeros_o <= 64'(zeros);
    flips_o <= 64'(flips);
  end

endmodule
