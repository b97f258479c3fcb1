// SPDX-License-Identifier: Apache-2.0
// Turns square blocks of Size x Size elements: Size rows come, Size columns leave, element 0 in the
// low bits of both.
//
// ready_o and valid_o come from registers, data_o from the memories' registers and a rotation by a
// registered number: no combinational path crosses the unit. The first column is offered two cycles
// after the last row was accepted; while one block leaves the next one comes, a row and a column
// every cycle.
//
// Element j of row i lies in memory (i + j) mod Size at address i, so that the elements of a row,
// and those of a column, are in memories of their own each: a row is rotated by its number on the
// way in, a column by its own back on the way out.
module ng_transpose #(
  parameter int Size  = 16,  // power of two, 2 or more
  parameter int Width = 16
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Size*Width-1:0] data_i,   // a row
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Size*Width-1:0] data_o    // a column
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Size < 2 || (Size & (Size - 1)) != 0) begin : gen_check_size
    $fatal(1, "ng_transpose: Size=%0d; expected a power of two, 2 or more", Size);
  end
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_transpose: Width=%0d; expected 1 or more", Width);
  end
`endif

  // 1: so that a wrong Size gets as far as the message
  localparam int IndexWidth = Size > 1 ? $clog2(Size) : 1;

  // ---- two banks: one is filled while the other is read
  logic [IndexWidth:0]   write_q, read_q;  // bank, and row or column in it
  logic [IndexWidth-1:0] row, column, column_q;  // column_q stands at the memories' outputs
  logic [1:0]            full_q;
  logic                  push, fetch;
  assign row = write_q[IndexWidth-1:0];
  assign column = read_q[IndexWidth-1:0];
  assign ready_o = ~full_q[write_q[IndexWidth]];
  assign push = valid_i & ready_o;
  assign fetch = full_q[read_q[IndexWidth]] & (~valid_o | ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      full_q  <= '0;
      valid_o <= 1'b0;
    end else begin
      write_q <= write_q + (IndexWidth+1)'(push);
      read_q  <= read_q + (IndexWidth+1)'(fetch);
      if (push & (&row)) full_q[write_q[IndexWidth]] <= 1'b1;
      if (fetch & (&column)) full_q[read_q[IndexWidth]] <= 1'b0;
      valid_o <= fetch | (valid_o & ~ready_i);
    end
  end
  always_ff @(posedge clk_i) if (fetch) column_q <= column;

  // ---- rotations, by powers of two
  logic [Size*Width-1:0] in_memories, from_memories;
  for (genvar s = 0; s < IndexWidth; s++) begin : gen_rotate
    localparam int Shift = (1 << s) * Width;
    logic [Size*Width-1:0] row_d, turned_row, column_d, turned_column;
    if (s == 0) begin : gen_first
      assign row_d = data_i;
      assign column_d = from_memories;
    end else begin : gen_next
      assign row_d = gen_rotate[s-1].turned_row;
      assign column_d = gen_rotate[s-1].turned_column;
    end
    assign turned_row = row[s] ? {row_d[Size*Width-Shift-1:0], row_d[Size*Width-1:Size*Width-Shift]}
        : row_d;
    assign turned_column = column_q[s] ? {column_d[Shift-1:0], column_d[Size*Width-1:Shift]}
        : column_d;
    if (s == IndexWidth - 1) begin : gen_last
      assign in_memories = turned_row;
      assign data_o = turned_column;
    end
  end

  // ---- memories
  for (genvar k = 0; k < Size; k++) begin : gen_memory
    ng_ram #(
      .Width(Width),
      .Depth(2 * Size)
    ) u_ram (
      .clk_i,
      .we_i   (push),
      .waddr_i(write_q),
      .wdata_i(in_memories[k*Width +: Width]),
      .re_i   (fetch),
      .raddr_i({read_q[IndexWidth], IndexWidth'(k) - column}),
      .rdata_o(from_memories[k*Width +: Width])
    );
  end

endmodule
