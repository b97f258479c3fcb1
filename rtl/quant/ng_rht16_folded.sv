// SPDX-License-Identifier: Apache-2.0
// ng_rht16 over several cycles: Lanes of the 16 BF16 numbers of a block a beat, results as many a
// beat, in the same order. Twin of narrowgauge::rht16; what window, exact_o and special numbers
// mean is in ng_rht16.
//
//   beats -> buffer of two blocks -> Lanes x align -> levels across beats | levels across lanes |
//              normalize | round -> beats largest exponent
//
// A block waits until its last beat has come, since the unit that all are aligned to is that of its
// largest exponent. Then its beats leave the buffer one after the other and go down a pipe which
// stands still as a whole while a result waits at its end. The transform factors into four levels
// of butterflies in any order: first those of the index's high bits, whose pairs are Delay beats
// apart (ng_rht16_level), then those of its low bits, whose pairs are in one beat. With the largest
// distance first the results of a level come in the order of their indices, so those of the block
// do.
//
// ready_o follows the state of the buffer; valid_o, y_o and exact_o are registers: no combinational
// path crosses the unit. While beats come and go in every cycle none is refused: a bank is read in
// the cycles in which the other is filled.
//
// Width argument, as of ng_rht16: 8 + Window bits and a sign, a bit more at each level, beside each
// number the bit that it owes. Exponents: as there.
module ng_rht16_folded #(
  parameter int Lanes  = 4,
  parameter int Window = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [Lanes*16-1:0] x_i,      // the block's next elements, the first in the low bits
  output logic                valid_o,
  input  logic                ready_i,
  output logic [Lanes*16-1:0] y_o,
  output logic                exact_o   // of the block, beside each of its beats
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 8 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_rht16_folded: Lanes=%0d; expected 1 to 8, a power of two", Lanes);
  end
  if (Window < 0 || Window > 253) begin : gen_check_window
    $fatal(1, "ng_rht16_folded: Window=%0d; expected 0 to 253", Window);
  end
`endif

  localparam logic [15:0] Signs = 16'hD7E8;
  // of a block; of wrong Lanes, too, for the message
  localparam int Beats = Lanes < 2 ? 16 : Lanes < 4 ? 8 : Lanes < 8 ? 4 : 2;
  localparam int BeatLevels = $clog2(Beats);
  localparam int LaneLevels = 4 - BeatLevels;
  localparam int Results = 16 / Beats;  // of a beat: Lanes
  localparam int InWidth = Window + 9;  // with the sign
  localparam int SumWidth = Window + 13;
  localparam int ShiftWidth = $clog2(SumWidth);

  // ---- two banks: one is filled while the other is read
  logic [BeatLevels:0]  write_q, read_q;  // bank, and beat in it
  logic [1:0]           full_q;
  logic                 push, close, move, fetch, final_beat, write_bank, read_bank;
  logic [BeatLevels-1:0] read_beat;
  assign {write_bank, read_bank} = {write_q[BeatLevels], read_q[BeatLevels]};
  assign read_beat = read_q[BeatLevels-1:0];
  assign ready_o = ~full_q[write_bank];
  assign push = valid_i & ready_o;
  assign close = push & (&write_q[BeatLevels-1:0]);
  assign move = ~valid_o | ready_i;
  assign fetch = full_q[read_bank] & move;
  assign final_beat = &read_beat;

  // ---- the largest exponent as its distance to 255: a field is larger if the sum of both has a
  // carry
  logic [7:0] gap_d, gap_q;  // of the beats so far
  for (genvar i = 0; i <= Lanes; i++) begin : gen_gap
    logic [7:0] gap;
    if (i == 0) begin : gen_before
      assign gap = gap_q;
    end else begin : gen_lane
      logic [7:0] field, unused_sum;
      logic       larger;
      assign field = x_i[16*i-9 +: 8];
      assign {larger, unused_sum} = {1'b0, field} + {1'b0, gen_gap[i-1].gap};
      assign gap = larger ? ~field : gen_gap[i-1].gap;
    end
  end
  assign gap_d = gen_gap[Lanes].gap;

  for (genvar right = 0; right < 2; right++) begin : gen_bank
    logic [7:0] held_gap_q;
    always_ff @(posedge clk_i) if (close & (write_bank == 1'(right))) held_gap_q <= gap_d;
  end

  logic there_q;  // a beat has left the buffer
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      full_q  <= '0;
      gap_q   <= '1;
      there_q <= 1'b0;
    end else begin
      if (push) begin
        write_q <= write_q + (BeatLevels+1)'(1);
        gap_q   <= close ? '1 : gap_d;
        if (close) full_q[write_bank] <= 1'b1;
      end
      if (fetch) begin
        read_q <= read_q + (BeatLevels+1)'(1);
        if (final_beat) full_q[read_bank] <= 1'b0;
      end
      if (move) there_q <= fetch;
    end
  end

  logic [Lanes*16-1:0] held;
  ng_ram #(
    .Width(Lanes * 16),
    .Depth(2 * Beats)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(write_q),
    .wdata_i(x_i),
    .re_i   (fetch),
    .raddr_i(read_q),
    .rdata_o(held)
  );

  // ---- aligned
  logic [BeatLevels-1:0] beat_q;   // of held
  logic [7:0]            block_gap_q, gap;
  logic [Lanes-1:0]      lost;
  logic                  lost_d, lost_q;
  logic [Lanes*(InWidth+1)-1:0] aligned;
  // subnormals have the exponent of field 1
  assign gap = {block_gap_q[7:1], block_gap_q[0] & ~(&block_gap_q)};
  assign lost_d = (|lost) | (lost_q & (|beat_q));
  always_ff @(posedge clk_i) if (fetch) begin
    beat_q <= read_beat;
    if (read_beat == '0) block_gap_q <= read_bank ? gen_bank[1].held_gap_q : gen_bank[0].held_gap_q;
  end
  always_ff @(posedge clk_i) if (move) lost_q <= lost_d;
  for (genvar i = 0; i < Lanes; i++) begin : gen_align
    logic negate, negative;
    always_comb begin
      negate = 1'b0;
      for (int beat = 0; beat < Beats; beat++) if (beat_q == BeatLevels'(beat))
        negate = Signs[beat*Lanes+i];
    end
    assign negative = held[16*i+15] ^ negate;
    assign {aligned[i*(InWidth+1)+InWidth], aligned[i*(InWidth+1)]} = {2{negative}};
    ng_rht16_align #(
      .Window(Window)
    ) u_align (
      .code_i   (held[16*i +: 16]),
      .largest_i(~gap),
      .negate_i (negate),
      .aligned_o(aligned[i*(InWidth+1)+1 +: InWidth-1]),
      .lost_o   (lost[i])
    );
  end

  // ---- the block's flags: taken with its last beat, and BeatLevels edges later again, when its
  // first sums are
  logic [BeatLevels-1:0] flags_q;
  logic [7:0]            last_limit_q, limit_q;  // the normalizers' limit, as its distance to 255
  logic                  last_lost_q, sum_lost_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flags_q <= '0;
    else if (move) flags_q <= BeatLevels'({flags_q, there_q & (&beat_q)});
  end
  always_ff @(posedge clk_i) if (move) begin
    if (&beat_q) {last_limit_q, last_lost_q} <= {gap - 8'd1, lost_d};
    if (flags_q[BeatLevels-1]) {limit_q, sum_lost_q} <= {last_limit_q, last_lost_q};
  end

  // ---- levels across beats: level l has numbers of InWidth + l bits
  for (genvar l = 0; l <= BeatLevels; l++) begin : gen_level
    localparam int NodeWidth = InWidth + l + 1;  // with the bit owed
    logic               valid;
    logic [Lanes*NodeWidth-1:0] turned;
    if (l == 0) begin : gen_aligned
      assign valid = there_q;
      assign turned = aligned;
    end else begin : gen_butterflies
      ng_rht16_level #(
        .Lanes(Lanes),
        .Width(NodeWidth - 2),
        .Delay(Beats >> l)
      ) u_level (
        .clk_i,
        .rst_ni,
        .move_i (move),
        .valid_i(gen_level[l-1].valid),
        .x_i    (gen_level[l-1].turned),
        .valid_o(valid),
        .y_o    (turned)
      );
    end
  end

  // ---- levels across lanes, as in ng_rht16
  for (genvar l = 0; l <= LaneLevels; l++) begin : gen_across
    localparam int NodeWidth = InWidth + BeatLevels + l;
    for (genvar i = 0; i < Results; i++) begin : gen_node
      logic [NodeWidth-1:0] sum;
      logic         owed;
      if (l == 0) begin : gen_element
        assign {sum, owed} = gen_level[BeatLevels].turned[i*(NodeWidth+1) +: NodeWidth+1];
      end else begin : gen_butterfly
        localparam int Half = 1 << (l - 1);
        localparam bit Minus = (i & Half) != 0;
        logic [NodeWidth-2:0] left, right;
        logic         owed_a, unused_half;
        assign left = gen_across[l-1].gen_node[i & ~Half].sum;
        assign right = gen_across[l-1].gen_node[i | Half].sum ^ {(NodeWidth-1){Minus}};
        assign owed_a = gen_across[l-1].gen_node[i & ~Half].owed;
        assign {sum, unused_half} = {left[NodeWidth-2], left, 1'b1}
            + {right[NodeWidth-2], right, owed_a};
        assign owed = gen_across[l-1].gen_node[i | Half].owed ^ Minus;
      end
    end
  end

  // ---- summed, normalized, rounded
  logic summed_q, normalized_q, special_q, lost_out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid_o, normalized_q, summed_q} <= '0;
    else if (move) {valid_o, normalized_q, summed_q} <=
        {normalized_q, summed_q, gen_level[BeatLevels].valid};
  end
  always_ff @(posedge clk_i) if (move) begin
    special_q  <= &limit_q;  // the limit is 0: the largest field is 255
    lost_out_q <= sum_lost_q;
    exact_o    <= ~(special_q | lost_out_q);
  end
  for (genvar i = 0; i < Results; i++) begin : gen_result
    logic [SumWidth-1:0] sum_q;
    logic                owed_q;
    always_ff @(posedge clk_i) if (move) begin
      sum_q  <= gen_across[LaneLevels].gen_node[i].sum;
      owed_q <= gen_across[LaneLevels].gen_node[i].owed;
    end

    // Bit 8, of windows from 244 on, is 0: the limit is 255 at most.
    // verilator lint_off UNUSEDSIGNAL
    logic [ShiftWidth-1:0] shift;
    // verilator lint_on UNUSEDSIGNAL
    logic [7:0]            field, sig;
    logic                  sign, guard, sticky;
    ng_rht16_normalize #(
      .Width(SumWidth)
    ) u_normalize (
      .sum_i   (sum_q),
      .owed_i  (owed_q),
      .limit_i (~limit_q),
      .sign_o  (sign),
      .sig_o   (sig),
      .guard_o (guard),
      .sticky_o(sticky),
      .shift_o (shift)
    );
    assign field = ~(limit_q + 8'(shift));  // limit - shift

    logic [7:0]  field_q, sig_q;
    logic        sign_q, guard_q, sticky_q, round_up, over, unused_half;
    logic [15:0] code;
    always_ff @(posedge clk_i) if (move) begin
      {sign_q, sig_q, guard_q, sticky_q} <= {sign, sig, guard, sticky};
      field_q <= field & {8{sig[7]}};
    end
    // The hidden bit and a carry of the mantissa run into the field; "up" as a half-unit column.
    assign round_up = guard_q & (sticky_q | sig_q[0]);
    assign {code, unused_half} = {1'b0, field_q, 8'd1} + {8'b0, sig_q, round_up};
    assign over = code[15] | (&code[14:7]);
    always_ff @(posedge clk_i) if (move) begin
      y_o[16*i +: 16] <= special_q ? 16'h7FC0 : over ? {sign_q, 15'h7F80} : {sign_q, code[14:0]};
    end
  end

endmodule
