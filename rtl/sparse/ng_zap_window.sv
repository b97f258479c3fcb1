// SPDX-License-Identifier: Apache-2.0
// Windows of 3 x 3 elements of a map that comes row by row, one element a step; beyond the map's
// edges they have zeros.
//
// A memory keeps the two elements above in each column. The element of a step completes the window
// whose middle stands one row up and one column to the left, so that behind a map's last element a
// row of zeros and one zero more have to follow. A window is there with the second step.
//
// What stands above the map is made zero where it is read, as the upper of the two, what stands to
// its left where it is shifted; on the right is the next row's first element, which the window
// shows as zero. No width grows.
module ng_zap_window #(
  parameter int Width   = 8,
  parameter int Columns = 64,  // of a map, at most; a map has 2 or more
  localparam int ColumnBits = $clog2(Columns)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  move_i,         // all goes a step on
  input  logic                  valid_i,        // there is an element
  input  logic                  first_i,        // it is the first of a map
  input  logic [ColumnBits-1:0] last_column_i,  // columns of the map less 1; not read with the first
  input  logic [Width-1:0]      data_i,
  output logic                  valid_o,        // there is a window
  output logic                  first_o,        // it is the first of a map
  output logic [9*Width-1:0]    window_o        // row by row, the upper left element lowest
);

  // ---- the element's place; rows are counted to 2
  logic [ColumnBits-1:0] column, column_q;
  logic [1:0]            row, row_q;
  logic                  wraps, valid_q;
  logic [Width-1:0]      data_q;
  assign wraps = column_q == last_column_i;
  assign column = first_i | wraps ? '0 : column_q + 1'b1;
  assign row = first_i ? 2'd0 : wraps & ~row_q[1] ? row_q + 2'd1 : row_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (move_i) valid_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (move_i & valid_i) begin
      column_q <= column;
      row_q    <= row;
      data_q   <= data_i;
    end
  end

  // ---- the two elements above it, which the memory then has one row further up
  logic [2*Width-1:0] above;
  logic [Width-1:0]   up, up_up;
  assign up = above[Width-1:0];  // in a map's first row of no meaning, and in no window
  assign up_up = above[2*Width-1:Width] & {Width{row_q[1]}};
  ng_ram #(
    .Width(2 * Width),
    .Depth(Columns)
  ) u_ram (
    .clk_i,
    .we_i   (move_i & valid_q),
    .waddr_i(column_q),
    .wdata_i({up, data_q}),
    .re_i   (move_i & valid_i),
    .raddr_i(column),
    .rdata_o(above)
  );

  // ---- the window
  logic [3*Width-1:0] left_q, middle_q, right_q;  // columns, the top lowest
  logic               edge_q;                     // the right column is the next row's first
  logic               exists;
  assign exists = valid_q & (row_q[1] | (row_q[0] & (|column_q)));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (move_i) valid_o <= exists;
  end
  always_ff @(posedge clk_i) begin
    if (move_i & valid_q) begin
      right_q  <= {data_q, up, up_up};
      middle_q <= right_q;
      left_q   <= column_q == ColumnBits'(1) ? '0 : middle_q;
      edge_q   <= ~(|column_q);
      first_o  <= row_q[0] && column_q == ColumnBits'(1);
    end
  end
  for (genvar r = 0; r < 3; r++) begin : gen_row
    assign window_o[(3*r+0)*Width +: Width] = left_q[r*Width +: Width];
    assign window_o[(3*r+1)*Width +: Width] = middle_q[r*Width +: Width];
    assign window_o[(3*r+2)*Width +: Width] = right_q[r*Width +: Width] & {Width{~edge_q}};
  end

endmodule
