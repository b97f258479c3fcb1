// SPDX-License-Identifier: Apache-2.0
// Which outputs of a convolution are kept: those that a pattern computes, and those that a predictor
// of two 3 x 3 filters finds worth it (docs/zap.md). Twin of narrowgauge::zap_predict.
//
// Maps of Channels channels come row by row, a place a beat: of each channel an INT8 output, which
// is read where the pattern computes it. For each place a beat leaves, in the same order: of each
// channel a bit that says whether the output is kept.
//
//   masked -> window -> 9 products | sum | + bias | >> shift, 0 to 255 -> window -> 9 products | sum
//   -> sum > threshold, or computed -> queue
//
// Each channel has coefficients of its own in registers, 192 bits, from the lowest on: 9 weights of
// the first filter, row by row, its bias (24), its shift (4), 9 weights of the second, its threshold
// (20). load_i writes those of a channel, while no map is under way.
//
// Time: a place a cycle, and behind each map 2 (columns + 1) cycles for zeros through both windows.
// A place's bits come 2 (columns + 1) places and 11 edges after it. All outputs come from registers.
//
// Width argument: of sums in ng_zap_filter, behind the bias in ng_zap_hidden. The second sum has 20
// bits as the threshold.
module ng_zap_predict #(
  parameter int Channels = 8,   // side by side
  parameter int Columns  = 64,  // of a map, at most
  localparam int ChannelBits = Channels > 1 ? $clog2(Channels) : 1,
  localparam int ColumnBits  = $clog2(Columns)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Coefficients.
  input  logic                   load_i,
  input  logic [ChannelBits-1:0] channel_i,
  input  logic [191:0]           coefficients_i,
  // Outputs that the pattern computes.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [3:0]             kind_i,         // of the pattern; read with a map's first place
  input  logic [ColumnBits-1:0]  last_column_i,  // columns less 1, 1 or more; read with it too
  input  logic [8*Channels-1:0]  outputs_i,      // two's complement, channel 0 in the low bits
  input  logic                   last_i,         // the row is the map's last; read in its last place
  // Which are kept.
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Channels-1:0]    keep_o,
  output logic                   last_o          // the map's last place
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Channels < 1 || Channels > 64) begin : gen_check_channels
    $fatal(1, "ng_zap_predict: Channels=%0d; expected 1 to 64", Channels);
  end
  if (Columns < 2 || Columns > 4096) begin : gen_check_columns
    $fatal(1, "ng_zap_predict: Columns=%0d; expected 2 to 4096", Columns);
  end
`endif

  localparam int Width = 8 * Channels + 1;  // of an element: its channels, below the pattern's bit
  localparam int HiddenStages = 4;          // of filter and hidden number
  localparam int SumStages = 2;             // of the filter

  // ---- control: places of a map, then zeros, first for both windows and then for the second
  logic                  move;     // the queue at the end has room
  logic                  first_q;  // the next place is a map's first
  logic                  zeros_q;  // zeros are made
  logic                  second_q; // for the second window
  logic [ColumnBits-1:0] column_q, last_column_q, last_column;
  logic [3:0]            kind_q, kind;
  logic                  take, row_end, map_end;
  assign ready_o = move & ~zeros_q;
  assign take = valid_i & ready_o;
  assign last_column = first_q ? last_column_i : last_column_q;
  assign kind = first_q ? kind_i : kind_q;
  assign row_end = column_q == last_column;
  assign map_end = row_end & last_i;

  // A row of zeros ends at the column behind the last one: one bit says that the row's last is past.
  // It is high among zeros only, as second_q.
  logic past_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= 1'b1;
      zeros_q  <= 1'b0;
      second_q <= 1'b0;
      past_q   <= 1'b0;
      column_q <= '0;
    end else if (move) begin
      first_q  <= ~take & (first_q | (past_q & second_q));
      if (take | zeros_q) column_q <= row_end | past_q ? '0 : column_q + 1'b1;
      zeros_q  <= (take & map_end) | (zeros_q & ~(past_q & second_q));
      second_q <= second_q ^ past_q;
      past_q   <= zeros_q & row_end;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take & first_q) begin
      kind_q        <= kind_i;
      last_column_q <= last_column_i;
    end
  end

  logic computed;
  ng_zap_pattern u_pattern (
    .clk_i,
    .rst_ni,
    .step_i    (take),
    .row_end_i (row_end),
    .map_end_i (map_end),
    .kind_i    (kind),
    .computed_o(computed)
  );

  // ---- coefficients
  logic [192*Channels-1:0] coefficients_q;
  for (genvar c = 0; c < Channels; c++) begin : gen_coefficients
    always_ff @(posedge clk_i) begin
      if (load_i && channel_i == ChannelBits'(c)) coefficients_q[192*c +: 192] <= coefficients_i;
    end
  end

  // ---- first filter
  logic             window_valid, window_first;
  logic [Width-1:0] masked;
  logic [9*Width-1:0] window;
  assign masked = {computed, outputs_i & {8*Channels{computed}}} & {Width{take}};
  ng_zap_window #(
    .Width  (Width),
    .Columns(Columns)
  ) u_output_window (
    .clk_i,
    .rst_ni,
    .move_i       (move),
    .valid_i      (take | (zeros_q & ~second_q)),
    .first_i      (take & first_q),
    .last_column_i(last_column_q),
    .data_i       (masked),
    .valid_o      (window_valid),
    .first_o      (window_first),
    .window_o     (window)
  );

  // Beside the window, filter and hidden number: zeros for the second window, and a map's end.
  localparam int EndStages = 2 + HiddenStages + 2 + SumStages;
  logic [2+HiddenStages:0]   zero;
  logic [EndStages:0]        ends;
  logic [HiddenStages:0]     hidden_valid;
  logic [2*HiddenStages-1:0] marks_q;  // of each stage: a map's first, computed by the pattern
  logic                      hidden_first, hidden_computed;
  ng_valid_pipe #(
    .Depth(2 + HiddenStages)
  ) u_zero (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(second_q),
    .valid_o(zero)
  );
  ng_valid_pipe #(
    .Depth(EndStages)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(past_q & second_q),
    .valid_o(ends)
  );
  ng_valid_pipe #(
    .Depth(HiddenStages)
  ) u_hidden_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(window_valid),
    .valid_o(hidden_valid)
  );
  assign {hidden_first, hidden_computed} = marks_q[2*HiddenStages-1 -: 2];
  // last_column_q is the next map's before the first hidden number is there; this one stays to the
  // last zero, which is four moves and the columns of the next map behind its first place.
  logic [ColumnBits-1:0] hidden_last_column_q;
  always_ff @(posedge clk_i) begin
    if (move) begin
      marks_q <= {marks_q[2*HiddenStages-3:0], window_first, window[4*Width + 8*Channels]};
      if (window_first) hidden_last_column_q <= last_column_q;
    end
  end

  logic [8*Channels-1:0] hidden;
  for (genvar c = 0; c < Channels; c++) begin : gen_first
    logic [71:0]        numbers;
    logic signed [19:0] sum;
    for (genvar i = 0; i < 9; i++) begin : gen_number
      assign numbers[8*i +: 8] = window[i*Width + 8*c +: 8];
    end
    ng_zap_filter #(
      .Signed(1'b1)
    ) u_filter (
      .clk_i,
      .move_i   (move),
      .numbers_i(numbers),
      .weights_i(coefficients_q[192*c +: 72]),
      .sum_o    (sum)
    );
    ng_zap_hidden u_hidden (
      .clk_i,
      .move_i  (move),
      .sum_i   (sum),
      .bias_i  (coefficients_q[192*c+72 +: 24]),
      .shift_i (coefficients_q[192*c+96 +: 4]),
      .hidden_o(hidden[8*c +: 8])
    );
  end

  // ---- second filter
  logic               values_valid, unused_first;
  logic [9*Width-1:0] values;
  ng_zap_window #(
    .Width  (Width),
    .Columns(Columns)
  ) u_hidden_window (
    .clk_i,
    .rst_ni,
    .move_i       (move),
    .valid_i      (hidden_valid[HiddenStages] | zero[2+HiddenStages]),
    .first_i      (hidden_valid[HiddenStages] & hidden_first),
    .last_column_i(hidden_last_column_q),
    .data_i       ({hidden_computed, hidden} & {Width{hidden_valid[HiddenStages]}}),
    .valid_o      (values_valid),
    .first_o      (unused_first),
    .window_o     (values)
  );

  logic [SumStages:0]   keep_valid;
  logic [SumStages-1:0] computed_q;
  logic [Channels-1:0]  keep;
  ng_valid_pipe #(
    .Depth(SumStages)
  ) u_keep_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i(values_valid),
    .valid_o(keep_valid)
  );
  always_ff @(posedge clk_i) begin
    if (move) computed_q <= {computed_q[SumStages-2:0], values[4*Width + 8*Channels]};
  end
  for (genvar c = 0; c < Channels; c++) begin : gen_second
    logic [71:0]        numbers;
    logic signed [19:0] sum, threshold;
    for (genvar i = 0; i < 9; i++) begin : gen_number
      assign numbers[8*i +: 8] = values[i*Width + 8*c +: 8];
    end
    ng_zap_filter u_filter (
      .clk_i,
      .move_i   (move),
      .numbers_i(numbers),
      .weights_i(coefficients_q[192*c+100 +: 72]),
      .sum_o    (sum)
    );
    assign threshold = coefficients_q[192*c+172 +: 20];
    assign keep[c] = computed_q[SumStages-1] || sum > threshold;
  end

  ng_fifo2 #(
    .Width(Channels + 1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(keep_valid[SumStages]),
    .ready_o(move),
    .data_i ({ends[EndStages], keep}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, keep_o})
  );

endmodule
