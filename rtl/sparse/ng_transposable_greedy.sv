// SPDX-License-Identifier: Apache-2.0
// Transposable mask of a Side x Side block with at most Keep ones in every row and every column, by
// the 2-approximation: magnitudes from the largest down, each kept if its row and its column have
// room, the lower row, then the lower column among equals.
//
// Side rows come, one mask leaves. A pass reads one row a cycle and finds the largest magnitude
// that has room; the next cycle keeps it: Side + 1 cycles for each one that stays, and one pass
// more where rows and columns are not all full in the end, as nothing has room then. While it works
// nothing is accepted. ready_o and valid_o come from the state: no combinational path crosses the
// unit.
module ng_transposable_greedy #(
  parameter int Side  = 8,  // power of two, 2 or more
  parameter int Keep  = 4,
  parameter int Width = 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Side*Width-1:0] magnitudes_i,  // a row, column 0 in the low bits
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Side*Side-1:0]  mask_o         // bit Side * r + c: row r, column c stays
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Side < 2 || (Side & (Side - 1)) != 0) begin : gen_check_side
    $fatal(1, "ng_transposable_greedy: Side=%0d; expected a power of two, 2 or more", Side);
  end
  if (Keep < 1) begin : gen_check_keep
    $fatal(1, "ng_transposable_greedy: Keep=%0d; expected 1 or more", Keep);
  end
  if (Keep > Side) begin : gen_check_room
    $fatal(1, "ng_transposable_greedy: Keep=%0d; expected at most Side=%0d", Keep, Side);
  end
  if (Width < 1 || Width > 32) begin : gen_check_width
    $fatal(1, "ng_transposable_greedy: Width=%0d; expected 1 to 32", Width);
  end
`endif

  // 1: so that a wrong Side gets as far as the message
  localparam int IndexWidth = Side > 1 ? $clog2(Side) : 1;
  localparam int CountWidth = $clog2(Keep + 1);             // up to Keep
  localparam int TotalWidth = $clog2(Keep * Side);          // up to Keep * Side - 1

  typedef enum logic [1:0] {Load, Scan, Take, Done} state_e;
  state_e                    state_q;
  logic [IndexWidth-1:0]     row_q, row_d;
  // that stay
  // ng-no-fault: only the number of steps to the end shows: any walk of Keep * Side values serves
  logic [TotalWidth-1:0]     total_q;
  logic                      push, step, last_row, start, take, found, finished;

  assign ready_o = state_q == Load;
  assign valid_o = state_q == Done;
  assign push = valid_i & ready_o;
  assign last_row = &row_q;
  assign start = push & last_row;
  assign take = (state_q == Take) & found;
  assign finished = ~found | (total_q == TotalWidth'(Keep * Side - 1));
  assign step = push | (state_q == Scan);
  assign row_d = row_q + IndexWidth'(step);  // 0 behind the last one

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Load;
      row_q   <= '0;
    end else begin
      row_q <= row_d;
      unique case (state_q)
        Load: if (start) state_q <= Scan;
        Scan: if (last_row) state_q <= Take;
        Take: state_q <= finished ? Done : Scan;
        default: if (ready_i) state_q <= Load;
      endcase
    end
  end

  // ---- the block: row row_q stands at the memory's output
  logic [Side*Width-1:0] row;
  ng_ram #(
    .Width(Side * Width),
    .Depth(Side)
  ) u_ram (
    .clk_i,
    .we_i   (push),
    .waddr_i(row_q),
    .wdata_i(magnitudes_i),
    .re_i   (1'b1),
    .raddr_i(row_d),
    .rdata_o(row)
  );

  // ---- what has room
  logic [Side*Side-1:0] mask_q;
  logic [Side-1:0]      kept, full_columns;
  logic                 full_row;
  assign kept = mask_q[{row_q, {IndexWidth{1'b0}}} +: Side];
  assign mask_o = mask_q;

  logic [IndexWidth-1:0] best_column_q, best_row_q;
  for (genvar c = 0; c < Side; c++) begin : gen_column
    logic [CountWidth-1:0] count_q;
    // ng-no-fault: no count is above Keep, so a bit that Keep does not have need not be looked at
    assign full_columns[c] = count_q == CountWidth'(Keep);
    always_ff @(posedge clk_i) begin
      if (start) count_q <= '0;
      // ng-no-fault: only the number of steps to Keep shows, so any walk of as many values serves
      else if (take && best_column_q == IndexWidth'(c)) count_q <= count_q + CountWidth'(1);
    end
  end
  for (genvar c = 0; c < Side; c++) begin : gen_count
    logic [IndexWidth:0] ones;  // of kept up to this column
    if (c == 0) begin : gen_first
      assign ones = (IndexWidth+1)'(kept[0]);
    end else begin : gen_next
      assign ones = gen_count[c-1].ones + (IndexWidth+1)'(kept[c]);
    end
  end
  assign full_row = gen_count[Side-1].ones == (IndexWidth+1)'(Keep);

  // ---- the largest of the row, the left one among equals; whether it has room stands above the
  // magnitude
  logic [Width:0]        row_key;
  logic [IndexWidth-1:0] row_column;
  for (genvar l = 0; l <= IndexWidth; l++) begin : gen_level
    for (genvar i = 0; i < (Side >> l); i++) begin : gen_node
      logic [Width:0]        key;
      logic [IndexWidth-1:0] column;
      if (l == 0) begin : gen_leaf
        assign key = {~(kept[i] | full_columns[i] | full_row), row[i*Width +: Width]};
        assign column = IndexWidth'(i);
      end else begin : gen_larger
        logic right;
        assign right = gen_level[l-1].gen_node[2*i+1].key > gen_level[l-1].gen_node[2*i].key;
        assign key = right ? gen_level[l-1].gen_node[2*i+1].key : gen_level[l-1].gen_node[2*i].key;
        assign column = right ? gen_level[l-1].gen_node[2*i+1].column
            : gen_level[l-1].gen_node[2*i].column;
      end
      if (l == IndexWidth) begin : gen_root
        assign row_key = key;
        assign row_column = column;
      end
    end
  end

  // ---- the largest of the block, the upper one among equals
  logic [Width:0] best_q;
  assign found = best_q[Width];
  always_ff @(posedge clk_i) begin
    if (state_q != Scan) begin
      best_q <= '0;
    end else if (row_key > best_q) begin
      best_q <= row_key;
      best_column_q <= row_column;
      best_row_q <= row_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      mask_q  <= '0;
      total_q <= '0;
    end else if (take) begin
      mask_q[{best_row_q, best_column_q}] <= 1'b1;
      total_q <= total_q + TotalWidth'(1);
    end
  end
endmodule
