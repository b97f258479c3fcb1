// SPDX-License-Identifier: Apache-2.0
// Smooth-SwiGLU by channels: finds the largest magnitude of every channel over the rows of a block,
// then divides rows by the powers of two of these magnitudes, channel by channel, or multiplies
// rows of the next weights with them. A row is its channels, a beat Lanes of them; a memory of a
// row's exponents is all that is kept, rows themselves are not.
//
// A beat passes in every cycle, whatever op_i and the lengths of rows are, and a divided or
// multiplied one is offered two cycles after it was accepted. ready_o and valid_o come from
// registers, the other outputs from those of memory and beat, through a sum of exponents: no
// combinational path crosses the unit.
//
// Width argument: an exponent is 1 to 254, a scale less its bias -126 to 127. Their sum or
// difference is -126 to 381: 10 bits with sign.
module ng_smooth_channel #(
  parameter int Lanes    = 8,   // numbers of a beat
  parameter int MaxBeats = 64   // beats of the longest row; power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  // beside a row's first beat: 0 measure, as first row of a block; 1 measure; 2 divide; 3 multiply
  input  logic [1:0]          op_i,
  input  logic [Lanes*16-1:0] data_i,
  input  logic                last_i,      // the last beat of a row
  output logic                valid_o,     // of rows that are divided or multiplied
  input  logic                ready_i,
  output logic [Lanes*16-1:0] data_o,
  output logic [Lanes*8-1:0]  scale_o,     // E8M0, of each channel of the beat
  output logic                last_o,
  // a row had more than MaxBeats beats and was cut; until reset
  output logic                too_long_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 64) begin : gen_check_lanes
    $fatal(1, "ng_smooth_channel: Lanes=%0d; expected 1 to 64", Lanes);
  end
  if (MaxBeats < 2 || (MaxBeats & (MaxBeats - 1)) != 0) begin : gen_check_max_beats
    $fatal(1, "ng_smooth_channel: MaxBeats=%0d; expected a power of two, 2 or more", MaxBeats);
  end
`endif

  // 1: so that a wrong MaxBeats gets as far as the message
  localparam int IndexWidth = MaxBeats > 1 ? $clog2(MaxBeats) : 1;

  // ---- the beat that comes, behind a queue, so that ready_i does not reach ready_o
  logic                came, take, last;
  logic [1:0]          work;
  logic [Lanes*16-1:0] data;
  assign take = came & (~valid_o | ready_i);
  ng_fifo2 #(
    .Width(Lanes * 16 + 3)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i ({op_i, last_i, data_i}),
    .valid_o(came),
    .ready_i(take),
    .data_o ({work, last, data})
  );

  // ---- its place in the row; channels of beats from length_q on were not measured in this block
  logic [IndexWidth-1:0] index_q;
  logic [IndexWidth:0]   length_q;
  logic [1:0]            work_q;  // of the row, and of the beat that is worked at
  logic                  first, gives, multiply, close, fresh;
  assign first = index_q == '0;
  assign {gives, multiply} = first ? work : work_q;
  assign close = last | (&index_q);
  assign fresh = (first & ~(|work)) | ({1'b0, index_q} >= length_q);

  // ---- the beat that is worked at, beside the exponents of its channels
  logic [Lanes*16-1:0]   data_q;
  logic [IndexWidth-1:0] place_q;
  logic                  measures_q;  // the beat's maxima are written at the next edge
  logic                  fresh_q;
  // the beat before it wrote its word, which the memory does not have yet: rows of one beat
  logic                  again_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q    <= '0;
      length_q   <= '0;
      measures_q <= 1'b0;
      valid_o    <= 1'b0;
      too_long_o <= 1'b0;
    end else begin
      measures_q <= take & ~gives;
      valid_o <= (take & gives) | (valid_o & ~ready_i);
      if (take) begin
        index_q <= close ? '0 : index_q + IndexWidth'(1);
        if (close & ~last) too_long_o <= 1'b1;
        if (fresh & ~gives) length_q <= {1'b0, index_q} + (IndexWidth+1)'(1);
      end
    end
  end
  always_ff @(posedge clk_i) if (take) begin
    work_q    <= {gives, multiply};
    data_q  <= data;
    place_q    <= index_q;
    last_o  <= close;
    fresh_q <= fresh;
    again_q <= measures_q & first & (place_q == '0);
  end

  // ---- exponents of the channels: the largest so far, 0 where there were only zeros and
  // subnormals
  logic [Lanes*8-1:0] held, largest, written_q;
  ng_ram #(
    .Width(Lanes * 8),
    .Depth(MaxBeats)
  ) u_ram (
    .clk_i,
    .we_i   (measures_q),
    .waddr_i(place_q),
    .wdata_i(largest),
    .re_i   (take),
    .raddr_i(index_q),
    .rdata_o(held)
  );
  always_ff @(posedge clk_i) if (measures_q) written_q <= largest;

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    // ---- the maximum; infinities and NaNs have no say
    logic       sign, finite;
    logic [7:0] exponent, candidate, known, scale;
    logic [6:0] mantissa;
    assign {sign, exponent, mantissa} = data_q[i*16 +: 16];
    assign finite = ~&exponent;
    assign candidate = finite ? exponent : 8'd0;
    assign known = fresh_q ? 8'd0 : again_q ? written_q[i*8 +: 8] : held[i*8 +: 8];
    assign largest[i*8 +: 8] = candidate > known ? candidate : known;
    assign scale = known == 8'd0 ? 8'd127 : known;
    assign scale_o[i*8 +: 8] = scale;

    // ---- exponent - (scale - 127), which is exponent + ~(scale - 128), or exponent + (scale -
    // 128) + 1
    logic [7:0] offset;
    logic [9:0] moved;
    logic       zero, beyond;
    assign offset = {~scale[7], scale[6:0]} ^ {8{~work_q[0]}};
    assign moved = {2'b0, exponent} + {{2{offset[7]}}, offset} + {9'b0, work_q[0]};
    assign zero = ~(|exponent) | moved[9] | ~(|moved[8:0]);
    assign beyond = moved[8] | (&moved[7:0]);
    assign data_o[i*16 +: 16] = {sign, !finite ? data_q[i*16 +: 15] : zero ? 15'd0
        : beyond ? 15'h7F80 : {moved[7:0], mantissa}};
  end

endmodule
