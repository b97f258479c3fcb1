// SPDX-License-Identifier: Apache-2.0
// Smooth-SwiGLU by tokens: divides a row of BF16 numbers by the power of two of its own largest
// magnitude, which leaves beside the row as an E8M0 scale. The row is held until its last beat has
// come; a second bank takes the next row meanwhile.
//
// ready_o and valid_o come from registers, data_o from those of the memory through a subtraction of
// exponents: no combinational path crosses the unit. The first beat is offered two cycles after the
// last one of its row was accepted; from then on a beat comes and one leaves in every cycle, as
// long as rows are of one length.
module ng_smooth_token #(
  parameter int Lanes    = 8,   // numbers of a beat
  parameter int MaxBeats = 64   // beats of the longest row; power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [Lanes*16-1:0] data_i,
  input  logic                last_i,      // the last beat of a row
  output logic                valid_o,
  input  logic                ready_i,
  output logic [Lanes*16-1:0] data_o,
  output logic                last_o,
  // E8M0, of the whole row: data_o * 2^(scale_o - 127) is the row that came
  output logic [7:0]          scale_o,
  // a row had more than MaxBeats beats and was cut; until reset
  output logic                too_long_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 64) begin : gen_check_lanes
    $fatal(1, "ng_smooth_token: Lanes=%0d; expected 1 to 64", Lanes);
  end
  if (MaxBeats < 2 || (MaxBeats & (MaxBeats - 1)) != 0) begin : gen_check_max_beats
    $fatal(1, "ng_smooth_token: MaxBeats=%0d; expected a power of two, 2 or more", MaxBeats);
  end
`endif

  // 1: so that a wrong MaxBeats gets as far as the message
  localparam int IndexWidth = MaxBeats > 1 ? $clog2(MaxBeats) : 1;

  // ---- the largest exponent of a row, infinities and NaNs left out; 0 if there are only zeros and
  // subnormals
  logic [Lanes*9-1:0] exponents;
  logic [7:0]         beat_max, row_max_q, row_max;
  for (genvar i = 0; i < Lanes; i++) begin : gen_exponent
    logic [7:0] exponent;
    assign exponent = data_i[i*16+7 +: 8];
    assign exponents[i*9 +: 9] = &exponent ? 9'd0 : {1'b0, exponent};
  end
  ng_amax #(
    .Lanes(Lanes),
    .Width(9)
  ) u_amax (
    .a_i   (exponents),
    .amax_o(beat_max)
  );
  assign row_max = beat_max > row_max_q ? beat_max : row_max_q;

  // ---- two banks: one is filled while the other is read
  logic [IndexWidth:0] write_q, read_q;  // bank, and beat in it
  logic [1:0]          full_q;
  logic                push, close, fetch, final_beat, write_bank, read_bank;
  assign write_bank = write_q[IndexWidth];
  assign read_bank = read_q[IndexWidth];
  assign ready_o = ~full_q[write_bank];
  assign push = valid_i & ready_o;
  assign close = last_i | (&write_q[IndexWidth-1:0]);
  assign fetch = full_q[read_bank] & (~valid_o | ready_i);
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic [IndexWidth-1:0] end_q;    // the last beat of its row
    logic [7:0]            scale_q;  // scale of the bank's row
    always_ff @(posedge clk_i) if (push & close & (write_bank == 1'(b))) begin
      end_q   <= write_q[IndexWidth-1:0];
      scale_q <= row_max == 8'd0 ? 8'd127 : row_max;
    end
  end
  assign final_beat = read_q[IndexWidth-1:0] == (read_bank ? gen_bank[1].end_q : gen_bank[0].end_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q    <= '0;
      read_q     <= '0;
      full_q     <= '0;
      row_max_q  <= '0;
      valid_o    <= 1'b0;
      too_long_o <= 1'b0;
    end else begin
      if (push) begin
        write_q   <= close ? {~write_bank, IndexWidth'(0)} : write_q + (IndexWidth+1)'(1);
        row_max_q <= close ? 8'd0 : row_max;
        if (close) full_q[write_bank] <= 1'b1;
        if (close & ~last_i) too_long_o <= 1'b1;
      end
      if (fetch) begin
        read_q <= final_beat ? {~read_bank, IndexWidth'(0)} : read_q + (IndexWidth+1)'(1);
        if (final_beat) full_q[read_bank] <= 1'b0;
      end
      valid_o <= fetch | (valid_o & ~ready_i);
    end
  end
  always_ff @(posedge clk_i) if (fetch) begin
    last_o  <= final_beat;
    scale_o <= read_bank ? gen_bank[1].scale_q : gen_bank[0].scale_q;
  end

  // ---- the rows
  logic [Lanes*16-1:0] held;
  ng_ram #(
    .Width(Lanes * 16),
    .Depth(2 * MaxBeats)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(write_q),
    .wdata_i(data_i),
    .re_i   (fetch),
    .raddr_i(read_q),
    .rdata_o(held)
  );

  // ---- the division: no number of a row is above its scale, so exponents become -127 to 127; what
  // falls below the normal numbers is zero, and what is not finite stays
  logic [7:0] offset;  // of exponents, two's complement; once for all lanes
  assign offset = 8'd127 - scale_o;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic       sign, finite, normal;
    logic [7:0] exponent, divided;
    logic [6:0] mantissa;
    assign {sign, exponent, mantissa} = held[i*16 +: 16];
    assign finite = ~&exponent;
    assign divided = exponent + offset;
    assign normal = (|exponent) & ~divided[7] & (|divided[6:0]);
    assign data_o[i*16 +: 16] = {sign, !finite ? held[i*16 +: 15]
        : normal ? {1'b0, divided[6:0], mantissa} : 15'd0};
  end

endmodule
