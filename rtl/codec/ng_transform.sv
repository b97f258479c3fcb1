// SPDX-License-Identifier: Apache-2.0
// Matrix times vector in integers, then bias, shift and clip (docs/codec.md, The transform): a
// value in and a result out every cycle. With a layer's forward matrix it is transform and
// quantizer, with the inverse one dequantizer, inverse and ReLU.
//
// Each value is multiplied by its column of the matrix, and every row has a sum of its own. Whole
// vectors of sums move to a chain, from which they leave row after row through one adder for the
// bias, one shifter and one clip.
// ready_o, valid_o, data_o and last_o come from registers: no combinational path crosses the unit.
// The first result of a vector is offered eight cycles after its last value was accepted; vectors
// follow each other without a gap.
//
// Width arguments: Size products of InWidth and MatrixWidth bits are together at most Size *
// 2^(InWidth + MatrixWidth - 2) in magnitude, and that value itself occurs: SumWidth = InWidth +
// MatrixWidth + $clog2(Size) bits hold it with its sign. The bias has as many; their sum has one
// more.
module ng_transform #(
  parameter int Size        = 4,  // values of a vector
  parameter int InWidth     = 8,
  parameter int OutWidth    = 8,
  parameter int MatrixWidth = 8,
  localparam int IndexWidth    = $clog2(Size),
  localparam int SumWidth      = InWidth + MatrixWidth + $clog2(Size),
  localparam int SettingsWidth = OutWidth + 6,
  localparam int TableWidth    = SumWidth > SettingsWidth ? SumWidth : SettingsWidth
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  table_we_i,      // the table, while no vector is under way
  // 0: entry at row and column; 1: bias of the row; 2, 3: settings
  input  logic [1:0]            table_kind_i,
  input  logic [IndexWidth-1:0] table_row_i,
  input  logic [IndexWidth-1:0] table_column_i,
  // settings: ReLU, limit (OutWidth-1 bits), shift (6)
  input  logic [TableWidth-1:0] table_data_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [InWidth-1:0]    data_i,          // signed, as all numbers here but limit and shift
  input  logic                  last_i,          // counts with the last value of a vector
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [OutWidth-1:0]   data_o,
  // the last result of a vector that came with last_i
  output logic                  last_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Size < 2 || Size > 64) begin : gen_check_size
    $fatal(1, "ng_transform: Size=%0d; expected 2 to 64", Size);
  end
  if (InWidth < 2 || InWidth > 16) begin : gen_check_in_width
    $fatal(1, "ng_transform: InWidth=%0d; expected 2 to 16", InWidth);
  end
  if (OutWidth < 2 || OutWidth > 16) begin : gen_check_out_width
    $fatal(1, "ng_transform: OutWidth=%0d; expected 2 to 16", OutWidth);
  end
  if (MatrixWidth < 2 || MatrixWidth > 16) begin : gen_check_matrix_width
    $fatal(1, "ng_transform: MatrixWidth=%0d; expected 2 to 16", MatrixWidth);
  end
`endif

  localparam logic [IndexWidth-1:0] Last = IndexWidth'(Size - 1);

  // ---- settings
  logic                relu_q;
  logic [OutWidth-2:0] limit_q;
  logic [5:0]          shift_q;
  always_ff @(posedge clk_i)
    if (table_we_i & table_kind_i[1]) {relu_q, limit_q, shift_q} <= table_data_i[SettingsWidth-1:0];

  // ---- values come in, and their columns are looked up
  logic                  take, advance, full_q, room, busy_q, chain_last, chain_free, transfer;
  logic [IndexWidth-1:0] column_q, index_q;
  assign take = valid_i & ready_o;
  assign ready_o = advance;
  assign chain_last = index_q == Last;
  assign chain_free = ~busy_q | (chain_last & room);
  assign transfer = full_q & chain_free;
  assign advance = ~full_q | chain_free;

  logic               found_q, found_first_q, found_final_q, found_last_q;
  logic               made_q, made_first_q, made_final_q, made_last_q, full_last_q;
  logic [InWidth-1:0] value_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      column_q <= '0;
      found_q  <= 1'b0;
      made_q   <= 1'b0;
      full_q   <= 1'b0;
    end else begin
      if (take) column_q <= column_q == Last ? '0 : column_q + IndexWidth'(1);
      if (advance) begin
        found_q <= take;
        made_q  <= found_q;
        full_q  <= made_q & made_final_q;
      end
    end
  end
  always_ff @(posedge clk_i) if (advance) begin
    value_q       <= data_i;
    found_first_q <= column_q == '0;
    found_final_q <= column_q == Last;
    found_last_q  <= last_i;
    made_first_q  <= found_first_q;
    made_final_q  <= found_final_q;
    made_last_q   <= found_last_q;
    full_last_q   <= made_last_q;
  end

  // ---- a sum for each row
  logic [Size*SumWidth-1:0] sums;
  for (genvar r = 0; r < Size; r++) begin : gen_row
    logic        [MatrixWidth-1:0]         entry;
    logic signed [MatrixWidth+InWidth-1:0] product_q;
    logic signed [SumWidth-1:0]            sum_q;
    ng_ram #(
      .Width(MatrixWidth),
      .Depth(Size)
    ) u_row (
      .clk_i,
      .we_i   (table_we_i & ~|table_kind_i & (table_row_i == IndexWidth'(r))),
      .waddr_i(table_column_i),
      .wdata_i(table_data_i[MatrixWidth-1:0]),
      .re_i   (take),
      .raddr_i(column_q),
      .rdata_o(entry)
    );
    always_ff @(posedge clk_i) if (advance) begin
      product_q <= signed'(entry) * signed'(value_q);
      if (made_q) sum_q <= (made_first_q ? '0 : sum_q) + SumWidth'(product_q);
    end
    assign sums[r*SumWidth +: SumWidth] = sum_q;
  end

  // ---- and results leave row after row
  logic [Size*SumWidth-1:0] chain_q;
  logic                     chain_end_q, pop;
  assign pop = busy_q & room;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      index_q <= '0;
    end else begin
      busy_q <= transfer | (busy_q & ~(chain_last & room));
      if (pop) index_q <= chain_last ? '0 : index_q + IndexWidth'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (transfer) begin
      chain_q     <= sums;
      chain_end_q <= full_last_q;
    end else if (pop) begin
      chain_q <= chain_q >> SumWidth;
    end
  end

  localparam int AllWidth = SumWidth + 1;
  localparam int ClipWidth = AllWidth > OutWidth + 1 ? AllWidth : OutWidth + 1;
  logic                        head_valid_q, head_last_q, all_valid_q, all_last_q, shifted_valid_q,
      shifted_last_q;
  logic        [SumWidth-1:0]  bias;
  logic signed [SumWidth-1:0]  head_q;
  logic signed [AllWidth-1:0]  all_q, shifted_q;
  logic signed [ClipWidth-1:0] low, high;
  logic        [OutWidth-1:0]  result;
  ng_ram #(
    .Width(SumWidth),
    .Depth(Size)
  ) u_bias (
    .clk_i,
    .we_i   (table_we_i & (table_kind_i == 2'd1)),
    .waddr_i(table_row_i),
    .wdata_i(table_data_i[SumWidth-1:0]),
    .re_i   (pop),
    .raddr_i(index_q),
    .rdata_o(bias)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_valid_q    <= 1'b0;
      all_valid_q     <= 1'b0;
      shifted_valid_q <= 1'b0;
    end else if (room) begin
      head_valid_q    <= busy_q;
      all_valid_q     <= head_valid_q;
      shifted_valid_q <= all_valid_q;
    end
  end
  always_ff @(posedge clk_i) if (room) begin
    head_q         <= chain_q[SumWidth-1:0];
    head_last_q    <= chain_last & chain_end_q;
    all_q          <= AllWidth'(head_q) + AllWidth'(signed'(bias));
    all_last_q     <= head_last_q;
    shifted_q      <= all_q >>> shift_q;
    shifted_last_q <= all_last_q;
  end
  assign high = signed'(ClipWidth'(limit_q));
  assign low = relu_q ? '0 : -high;
  assign result = OutWidth'(ClipWidth'(shifted_q) > high ? high : ClipWidth'(shifted_q) < low ? low
      : ClipWidth'(shifted_q));

  ng_fifo2 #(
    .Width(OutWidth + 1)
  ) u_results (
    .clk_i,
    .rst_ni,
    .valid_i(shifted_valid_q),
    .ready_o(room),
    .data_i ({shifted_last_q, result}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, data_o})
  );

endmodule
