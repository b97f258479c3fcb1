// SPDX-License-Identifier: Apache-2.0
// EXAQ's codes of a row of scores, and how many scores have code k or more: the second pass of a
// softmax. Twin of narrowgauge::exaq_key_code and exaq_counts.
//
//   code = #{k : key >= T_k},  c_k = #{scores : key >= T_k},  n = #{attended scores}
//
// A key is an unsigned integer in the order of the scores (ng_row_max), T_1 to T_(2^Bits-1) are the
// thresholds of the row, in rising order. They need not stand longer than the beats that they are
// for. 2^Bits - 1 comparators a lane; nothing is subtracted, exponentiated or stored in a table.
//
// Three stages: comparisons; codes and their counts in the beat; counts of the row, beside a queue
// of two beats (ng_fifo2). A beat passes every cycle; the counts wait in registers of their own
// until the row's last beat is taken, so the last beats of two rows are two cycles apart at least.
// All outputs come from registers.
//
// Width argument: a beat adds Lanes at most, clog2(Lanes + 1) bits, and no count is above n, which
// has CountBits bits; too_long_o tells that n had more.
module ng_exaq_codes #(
  parameter int Bits      = 2,   // of a code
  parameter int Lanes     = 16,  // scores of a beat
  parameter int CountBits = 12,  // of a count
  localparam int Codes = 1 << Bits
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [16*Lanes-1:0]        keys_i,
  input  logic [Lanes-1:0]           mask_i,        // lanes that are attended
  input  logic                       first_i,       // a row begins
  input  logic                       last_i,        // the row ends
  input  logic [16*(Codes-1)-1:0]    thresholds_i,  // T_1 in the low bits
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [Bits*Lanes-1:0]      codes_o,       // 0 in lanes that are not attended
  output logic [Lanes-1:0]           mask_o,
  output logic                       last_o,
  output logic [CountBits*Codes-1:0] counts_o,      // n in the low bits, c_1 ...; beside last_o
  // a row had 2^CountBits attended scores or more; until reset
  output logic                       too_long_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Bits < 2 || Bits > 4) begin : gen_check_bits
    $fatal(1, "ng_exaq_codes: Bits=%0d; expected 2, 3 or 4", Bits);
  end
  if (Lanes < 1 || Lanes > 64) begin : gen_check_lanes
    $fatal(1, "ng_exaq_codes: Lanes=%0d; expected 1 to 64", Lanes);
  end
  if (CountBits < 8 || CountBits > 16) begin : gen_check_count_bits
    $fatal(1, "ng_exaq_codes: CountBits=%0d; expected 8 to 16", CountBits);
  end
`endif

  localparam int Steps = Codes - 1;
  localparam int BeatBits = $clog2(Lanes + 1);

  logic [2:1] valid_q, first_q, last_q;  // of the beats behind stages 1 and 2
  logic       move, room, push, counts_wait_q;
  assign move = room & ~(valid_q[2] & last_q[2] & counts_wait_q);
  assign push = move & valid_q[2];
  assign ready_o = move;

  // ---- stage 1: comparisons; bit 0 of a lane says that it is attended, which all codes reach
  logic [Codes*Lanes-1:0] reached_q;
  logic [Bits*Lanes-1:0]  codes, codes_q;
  logic [Lanes-1:0]       mask_q;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [Steps-1:0] reached;
    ng_exaq_compare #(
      .Bits(Bits)
    ) u_compare (
      .key_i         (keys_i[16*i +: 16]),
      .mask_i        (mask_i[i]),
      .thresholds_n_i(~thresholds_i),
      .reached_o     (reached)
    );
    always_ff @(posedge clk_i) if (move) reached_q[Codes*i +: Codes] <= {reached, mask_i[i]};
    ng_exaq_encode #(
      .Bits(Bits)
    ) u_encode (
      .reached_i(reached_q[Codes*i+1 +: Steps]),
      .code_o   (codes[Bits*i +: Bits])
    );
    always_ff @(posedge clk_i) if (move) mask_q[i] <= reached_q[Codes*i];
  end
  always_ff @(posedge clk_i) if (move) begin
    codes_q <= codes;
    first_q <= {first_q[1], first_i};
    last_q  <= {last_q[1], last_i};
  end

  // ---- stages 2 and 3: counts
  logic [CountBits*Codes-1:0] counts;
  logic                       carry;  // of n
  for (genvar k = 0; k < Codes; k++) begin : gen_count
    logic [BeatBits-1:0]  beat, beat_q;
    logic [CountBits-1:0] row_q, kept;
    logic [CountBits:0]   sum;
    always_comb begin
      beat = '0;
      for (int i = 0; i < Lanes; i++) beat = beat + BeatBits'(reached_q[Codes*i+k]);
    end
    assign kept = first_q[2] ? '0 : row_q;
    assign sum = {1'b0, kept} + (CountBits+1)'(beat_q);
    always_ff @(posedge clk_i) begin
      if (move) beat_q <= beat;
      if (push) row_q <= sum[CountBits-1:0];
    end
    assign counts[CountBits*k +: CountBits] = sum[CountBits-1:0];
    if (k == 0) begin : gen_carry
      assign carry = sum[CountBits];
    end else begin : gen_no_carry
      logic unused_carry;
      assign unused_carry = sum[CountBits];
    end
  end

  ng_fifo2 #(
    .Width(Bits * Lanes + Lanes + 1)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(push),
    .ready_o(room),
    .data_i ({codes_q, mask_q, last_q[2]}),
    .valid_o,
    .ready_i,
    .data_o ({codes_o, mask_o, last_o})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q       <= '0;
      counts_wait_q <= 1'b0;
      too_long_o    <= 1'b0;
    end else begin
      if (move) valid_q <= {valid_q[1], valid_i};
      if (push & last_q[2]) counts_wait_q <= 1'b1;
      else if (valid_o & ready_i & last_o) counts_wait_q <= 1'b0;
      if (push & carry) too_long_o <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (push & last_q[2]) counts_o <= counts;

endmodule
