// SPDX-License-Identifier: Apache-2.0
// The best K chunks of a memory for a query, from the results of a tile that multiplies the
// memory's tokens (operand A) with query tokens (operand B). Twin of narrowgauge::retrieve.
//
//   products -> ng_fp32_to_fixed -> ng_maxsim -> ng_topk -> K chunks
//
// The stream of results is taken a number a cycle, in the tile's order (docs/units/tile.md): for
// each panel of tokens, for each panel of query tokens, Rows rows of Cols numbers, each row from a
// new word on. Counters say of each number which query token and which chunk it belongs to, so
// commands of the tile may end anywhere between panels of tokens, and TLAST is not needed. Numbers
// of columns beyond the last query token are dropped.
//
// What says how a stream is cut, last_query_i, last_panel_i and last_index_i, and the exponent stay
// from the first number to the result.
//
// Latency: 7 edges, the first of which takes the last number: 2 in ng_fp32_to_fixed, 3 in ng_maxsim
// and 2 in ng_topk. All stages in front of ng_maxsim stand still when it does. All outputs come
// from registers.
//
// Width argument: a score has the Width bits of an integer and clog2(Queries) more (ng_maxsim), and
// a key has as many. A query token's number runs to the end of its panel, below the next multiple
// of Cols.
module ng_retrieve #(
  parameter int Rows        = 1,   // rows of the tile: tokens of a panel
  parameter int Cols        = 1,   // columns of the tile: query tokens of a panel
  parameter int StreamWidth = 32,  // bits of a stream word
  parameter int Width       = 24,  // bits of a product as an integer
  parameter int Queries     = 16,  // query tokens, at most
  parameter int Panels      = 256, // panels of tokens in a chunk, at most
  parameter int K           = 8,   // chunks that are found, at most
  parameter int IndexBits   = 16,  // bits of a chunk's number
  localparam int QueryWidth = $clog2(Queries),
  localparam int PanelWidth = $clog2(Panels),
  localparam int KeyWidth = Width + QueryWidth
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The query; stays from the first number to the result.
  input  logic [QueryWidth-1:0]  last_query_i,  // number of query tokens less 1
  input  logic [PanelWidth-1:0]  last_panel_i,  // panels of tokens in a chunk less 1
  input  logic [IndexBits-1:0]   last_index_i,  // number of chunks less 1
  input  logic [7:0]             exponent_i,    // products below 2^(exponent_i - 126) fit; not 0
  // Results of the tile.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [StreamWidth-1:0] data_i,        // FP32 numbers, element 0 lowest
  // The best chunks.
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [K-1:0]           found_o,       // places that hold a chunk, from bit 0 on
  output logic [K*KeyWidth-1:0]  keys_o,        // scores, sign inverted; the largest in the low bits
  output logic [K*IndexBits-1:0] indices_o      // numbers of chunks, the best in the low bits
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Rows < 1 || Rows > 255) begin : gen_check_rows
    $fatal(1, "ng_retrieve: Rows=%0d; expected 1 to 255", Rows);
  end
  if (Cols < 1 || Cols > 255) begin : gen_check_cols
    $fatal(1, "ng_retrieve: Cols=%0d; expected 1 to 255", Cols);
  end
  if (StreamWidth < 32 || StreamWidth > 2016 || StreamWidth % 32 != 0) begin : gen_check_stream
    $fatal(1, "ng_retrieve: StreamWidth=%0d; expected 32 to 2016, a multiple of 32", StreamWidth);
  end
  if (Width < 2 || Width > 56) begin : gen_check_width
    $fatal(1, "ng_retrieve: Width=%0d; expected 2 to 56", Width);
  end
  if (Queries < 2 || Queries > 256) begin : gen_check_queries
    $fatal(1, "ng_retrieve: Queries=%0d; expected 2 to 256", Queries);
  end
  if (Panels < 2 || Panels > 65536) begin : gen_check_panels
    $fatal(1, "ng_retrieve: Panels=%0d; expected 2 to 65536", Panels);
  end
  if (K < 1 || K > 64) begin : gen_check_k
    $fatal(1, "ng_retrieve: K=%0d; expected 1 to 64", K);
  end
  if (IndexBits < 1 || IndexBits > 64) begin : gen_check_index_bits
    $fatal(1, "ng_retrieve: IndexBits=%0d; expected 1 to 64", IndexBits);
  end
`endif

  localparam int Units = StreamWidth / 32;
  localparam int UnitWidth = Units > 1 ? $clog2(Units) : 1;
  localparam int ColWidth = Cols > 1 ? $clog2(Cols) : 1;
  localparam int RowWidth = Rows > 1 ? $clog2(Rows) : 1;
  // of a query token's number, to the end of the last panel
  localparam int CountWidth = $clog2((Queries + Cols - 1) / Cols * Cols);

  logic move, step;  // the stages in front of ng_maxsim; a number enters them
  assign step = valid_i & move;

  // ---- the number in its word, its row and its panel of tokens
  logic [UnitWidth-1:0] unit;
  logic                 row_end, last_row, first_row, panel_end;
  assign ready_o = move & (unit == UnitWidth'(Units - 1) | row_end);
  if (Cols > 1) begin : gen_col
    logic [ColWidth-1:0] col_q;
    assign row_end = col_q == ColWidth'(Cols - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) col_q <= '0;
      // ng-no-fault: only the last column shows, so that any walk of as many values serves
      else if (step) col_q <= row_end ? '0 : col_q + 1'b1;
    end
  end else begin : gen_one_col
    assign row_end = 1'b1;
  end
  if (Units > 1 && Cols > 1) begin : gen_unit
    logic [UnitWidth-1:0] unit_q;
    assign unit = unit_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) unit_q <= '0;
      else if (step) unit_q <= ready_o ? '0 : unit_q + 1'b1;
    end
  end else begin : gen_one_unit
    assign unit = '0;
  end
  if (Rows > 1) begin : gen_row
    logic [RowWidth-1:0] row_q;
    assign first_row = row_q == '0;
    assign last_row = row_q == RowWidth'(Rows - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) row_q <= '0;
      // ng-no-fault: only the first and the last row show, so that any walk of as many values serves
      else if (step & row_end) row_q <= last_row ? '0 : row_q + 1'b1;
    end
  end else begin : gen_one_row
    assign first_row = 1'b1;
    assign last_row = 1'b1;
  end

  // ---- its query token: base_q is the first of the panel
  logic [CountWidth-1:0] query_q, base_q, next_query;
  logic                  at_last, used;
  assign at_last = query_q == CountWidth'(last_query_i);
  if (Cols > 1) begin : gen_beyond
    assign used = query_q <= CountWidth'(last_query_i);
  end else begin : gen_none_beyond
    assign used = 1'b1;
  end
  assign next_query = query_q + 1'b1;
  assign panel_end = row_end & last_row & (at_last | ~used);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      query_q <= '0;
      base_q  <= '0;
    end else if (step) begin
      query_q <= panel_end ? '0 : row_end & ~last_row ? base_q : next_query;
      if (row_end & last_row) base_q <= panel_end ? '0 : next_query;
    end
  end

  // ---- its chunk
  logic [PanelWidth-1:0] panel_q;
  logic                  opening_q, last_panel;  // opening_q: the chunk's first panel
  assign last_panel = panel_q == last_panel_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      panel_q   <= '0;
      opening_q <= 1'b1;
    end else if (step & panel_end) begin
      panel_q   <= last_panel ? '0 : panel_q + 1'b1;
      opening_q <= last_panel;
    end
  end

  // ---- products: as integers, beside what ng_maxsim has to know of them
  logic signed [Width-1:0] product;
  logic [1:0]              valid_q, first_q, last_q;
  // ng-no-fault: numbers of query tokens may change places, because a score is a sum over all tokens
  logic [2*QueryWidth-1:0] product_query_q;
  ng_fp32_to_fixed #(
    .Width(Width)
  ) u_fixed (
    .clk_i,
    .en_i      (move),
    .fp32_i    (data_i[unit*32 +: 32]),
    .exponent_i,
    .fixed_o   (product)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (move) valid_q <= {valid_q[0], valid_i & used};
  end
  always_ff @(posedge clk_i) if (move) begin
    first_q <= {first_q[0], opening_q & first_row};
    last_q  <= {last_q[0], last_panel & last_row & at_last};
  end
  // ng-no-fault: numbers of query tokens may change places, because a score is a sum over all tokens
  always_ff @(posedge clk_i) if (move) begin
    product_query_q <= {product_query_q[QueryWidth-1:0], QueryWidth'(query_q)};
  end

  // ---- scores
  logic                       scored, best_ready;
  logic signed [KeyWidth-1:0] score;
  ng_maxsim #(
    .Width  (Width),
    .Queries(Queries)
  ) u_maxsim (
    .clk_i,
    .rst_ni,
    .valid_i(valid_q[1]),
    .ready_o(move),
    .dot_i  (product),
    .query_i(product_query_q[QueryWidth +: QueryWidth]),
    .first_i(first_q[1]),
    .last_i (last_q[1]),
    .valid_o(scored),
    .ready_i(best_ready),
    .score_o(score)
  );

  // ---- the best
  logic [IndexBits-1:0] index_q;
  logic                 last_index;
  assign last_index = index_q == last_index_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) index_q <= '0;
    else if (scored & best_ready) index_q <= last_index ? '0 : index_q + 1'b1;
  end
  ng_topk #(
    .K        (K),
    .KeyBits  (KeyWidth),
    .IndexBits(IndexBits)
  ) u_topk (
    .clk_i,
    .rst_ni,
    .valid_i  (scored),
    .ready_o  (best_ready),
    .key_i    ({~score[KeyWidth-1], score[KeyWidth-2:0]}),
    .index_i  (index_q),
    .last_i   (last_index),
    .valid_o,
    .ready_i,
    .found_o,
    .keys_o,
    .indices_o
  );
endmodule
