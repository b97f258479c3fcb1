// SPDX-License-Identifier: Apache-2.0
// Largest attended key of a row of scores, 16 keys a beat: the first pass of a softmax. A key is an
// unsigned integer; of a BF16 code s it is s ^ (s[15] ? 16'hFFFF : 16'h8000), in the order of the
// numbers. Twin of narrowgauge::exaq_row_max.
//
// Three stages of two comparisons each. Groups of four lanes: lanes 0, 1 and 2 in stage 1, lane 3
// and the pairs of groups in stage 2, the halves and the row so far in stage 3. A node takes one
// operand complemented (ng_max_node), so in a chain that takes a lane at a time only the first node
// needs inverters: 4 of 16 lanes have them.
//
// A cut of TreeCuts is a register between the two comparisons of a stage: behind the first one of
// each group in stage 1, behind the groups in stage 2, behind the beat in stage 3. With all three, no
// cycle has more than one comparison.
//
// The result is offered three cycles and one for each cut after the row's last beat came, the cycle
// of the beat not counted, and waits in a register of its own: a beat passes every cycle, but the
// unit stands still while a result waits and the next row's last beat has come to the comparison
// with the row. All outputs come from registers. No width grows.
module ng_row_max #(
  parameter int Width    = 16,  // bits of a key
  parameter int TreeCuts = 0    // bits of ng_softmax_pkg::RowMaxCut*
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [16*Width-1:0] keys_i,
  input  logic [15:0]         mask_i,   // lanes that are attended
  input  logic                first_i,  // a row begins
  input  logic                last_i,   // the row ends
  output logic                valid_o,
  input  logic                ready_i,
  output logic [Width-1:0]    max_o,    // without meaning where any_o is low
  output logic                any_o     // a key of the row was attended
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 2 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_row_max: Width=%0d; expected 2 to 32", Width);
  end
  if (TreeCuts < 0 || TreeCuts > 7) begin : gen_check_cuts
    $fatal(1, "ng_row_max: TreeCuts=%0d; expected 0 to 7", TreeCuts);
  end
`endif

  localparam int CutPairs = TreeCuts & ng_softmax_pkg::RowMaxCutPairs;
  localparam int CutGroups = TreeCuts & ng_softmax_pkg::RowMaxCutGroups;
  localparam int CutBeat = TreeCuts & ng_softmax_pkg::RowMaxCutBeat;
  localparam int Depth = 2 + ng_prim_pkg::cut_count(TreeCuts);

  // Of the beats behind stages 1 and 2 and behind the cuts; the last is compared with its row.
  logic [Depth:1] valid_q, first_q, last_q;
  logic           move;
  assign move = ~(valid_o & valid_q[Depth] & last_q[Depth]);
  assign ready_o = move;

  // ---- stages 1 and 2: groups
  for (genvar g = 0; g < 4; g++) begin : gen_group
    logic [3:0]         mask;
    logic [4*Width-1:0] keys;
    logic               first_any, pair_any, three_any, three_any_q, late_q, four_any, any;
    logic [Width-1:0]   first_n, pair_n, three_n, three_n_q, late_key_q, four, largest;
    logic [1:0]         upper_mask;  // of lanes 2 and 3, which meet the pair
    logic [2*Width-1:0] upper_keys;
    assign mask = mask_i[4*g +: 4];
    assign keys = keys_i[4*g*Width +: 4*Width];
    ng_max_node #(
      .Width     (Width),
      .Complement(1'b1)
    ) u_pair (
      .a_valid_i(mask[0]),
      .a_i      (keys[0 +: Width]),
      .b_valid_i(mask[1]),
      .b_n_i    (~keys[Width +: Width]),
      .valid_o  (first_any),
      .max_o    (first_n)
    );
    ng_cut #(
      .Width (3 * Width + 3),
      .Enable(CutPairs)
    ) u_cut_pairs (
      .clk_i,
      .en_i(move),
      .d_i ({first_any, first_n, mask[3:2], keys[2*Width +: 2*Width]}),
      .q_o ({pair_any, pair_n, upper_mask, upper_keys})
    );
    ng_max_node #(
      .Width     (Width),
      .Complement(1'b1)
    ) u_three (
      .a_valid_i(upper_mask[0]),
      .a_i      (upper_keys[0 +: Width]),
      .b_valid_i(pair_any),
      .b_n_i    (pair_n),
      .valid_o  (three_any),
      .max_o    (three_n)
    );
    always_ff @(posedge clk_i) if (move) begin
      three_any_q <= three_any;
      three_n_q   <= three_n;
      late_q      <= upper_mask[1];
      late_key_q  <= upper_keys[Width +: Width];
    end
    ng_max_node #(
      .Width     (Width),
      .Complement(g % 2 == 1)
    ) u_four (
      .a_valid_i(late_q),
      .a_i      (late_key_q),
      .b_valid_i(three_any_q),
      .b_n_i    (three_n_q),
      .valid_o  (four_any),
      .max_o    (four)
    );
    ng_cut #(
      .Width (Width + 1),
      .Enable(CutGroups)
    ) u_cut_groups (
      .clk_i,
      .en_i(move),
      .d_i ({four_any, four}),
      .q_o ({any, largest})
    );
  end

  // ---- stages 2 and 3: halves of a beat
  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic             any, any_q;
    logic [Width-1:0] largest, largest_q;
    ng_max_node #(
      .Width     (Width),
      .Complement(h == 1)
    ) u_eight (
      .a_valid_i(gen_group[2*h].any),
      .a_i      (gen_group[2*h].largest),
      .b_valid_i(gen_group[2*h+1].any),
      .b_n_i    (gen_group[2*h+1].largest),
      .valid_o  (any),
      .max_o    (largest)
    );
    always_ff @(posedge clk_i) if (move) begin
      any_q     <= any;
      largest_q <= largest;
    end
  end

  // ---- stage 3: the row
  logic             both_any, beat_any, row_any, row_any_q;
  logic [Width-1:0] both_n, beat_n, row_max, row_max_q;
  ng_max_node #(
    .Width     (Width),
    .Complement(1'b1)
  ) u_beat (
    .a_valid_i(gen_half[0].any_q),
    .a_i      (gen_half[0].largest_q),
    .b_valid_i(gen_half[1].any_q),
    .b_n_i    (gen_half[1].largest_q),
    .valid_o  (both_any),
    .max_o    (both_n)
  );
  ng_cut #(
    .Width (Width + 1),
    .Enable(CutBeat)
  ) u_cut_beat (
    .clk_i,
    .en_i(move),
    .d_i ({both_any, both_n}),
    .q_o ({beat_any, beat_n})
  );
  ng_max_node #(
    .Width(Width)
  ) u_row (
    .a_valid_i(row_any_q & ~first_q[Depth]),
    .a_i      (row_max_q),
    .b_valid_i(beat_any),
    .b_n_i    (beat_n),
    .valid_o  (row_any),
    .max_o    (row_max)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      row_any_q <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      if (move) valid_q <= {valid_q[Depth-1:1], valid_i};
      if (move & valid_q[Depth]) row_any_q <= row_any;
      valid_o <= (valid_o & ~ready_i) | (move & valid_q[Depth] & last_q[Depth]);
    end
  end
  always_ff @(posedge clk_i) if (move) begin
    first_q <= {first_q[Depth-1:1], first_i};
    last_q  <= {last_q[Depth-1:1], last_i};
    if (valid_q[Depth]) row_max_q <= row_max;
    if (valid_q[Depth] & last_q[Depth]) begin
      max_o <= row_max;
      any_o <= row_any;
    end
  end

endmodule
