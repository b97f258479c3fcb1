// SPDX-License-Identifier: Apache-2.0
// A memory with a cell at each port, so that faults can be put there (make_memory_mutants.py): techmap -max_iter 1.
(* techmap_celltype = "$mem_v2" *)
module ng_memory_ports #(
  parameter MEMID = "",
  parameter signed SIZE = 4,
  parameter signed OFFSET = 0,
  parameter signed ABITS = 2,
  parameter signed WIDTH = 8,
  parameter signed INIT = 1'bx,
  parameter signed RD_PORTS = 1,
  parameter RD_CLK_ENABLE = 1'b1,
  parameter RD_CLK_POLARITY = 1'b1,
  parameter RD_TRANSPARENCY_MASK = 1'b0,
  parameter RD_COLLISION_X_MASK = 1'b0,
  parameter RD_WIDE_CONTINUATION = 1'b0,
  parameter RD_CE_OVER_SRST = 1'b0,
  parameter RD_ARST_VALUE = 1'b0,
  parameter RD_SRST_VALUE = 1'b0,
  parameter RD_INIT_VALUE = 1'b0,
  parameter signed WR_PORTS = 1,
  parameter WR_CLK_ENABLE = 1'b1,
  parameter WR_CLK_POLARITY = 1'b1,
  parameter WR_PRIORITY_MASK = 1'b0,
  parameter WR_WIDE_CONTINUATION = 1'b0
) (
  input  [RD_PORTS-1:0]       RD_CLK,
  input  [RD_PORTS-1:0]       RD_EN,
  input  [RD_PORTS-1:0]       RD_ARST,
  input  [RD_PORTS-1:0]       RD_SRST,
  input  [RD_PORTS*ABITS-1:0] RD_ADDR,
  output [RD_PORTS*WIDTH-1:0] RD_DATA,
  input  [WR_PORTS-1:0]       WR_CLK,
  input  [WR_PORTS*WIDTH-1:0] WR_EN,
  input  [WR_PORTS*ABITS-1:0] WR_ADDR,
  input  [WR_PORTS*WIDTH-1:0] WR_DATA
);
  wire _TECHMAP_FAIL_ = WR_PORTS == 0; // a table
  wire [RD_PORTS-1:0]       read_enable;
  wire [RD_PORTS*ABITS-1:0] read_address;
  wire [WR_PORTS*WIDTH-1:0] write_enable, write_data;
  wire [WR_PORTS*ABITS-1:0] write_address;
  if (&RD_CLK_ENABLE) begin : clocked
    (* keep *) \$pos #(.A_SIGNED(0), .A_WIDTH(RD_PORTS), .Y_WIDTH(RD_PORTS)) \ng_read_enable  (.A(RD_EN), .Y(read_enable));
  end else begin // a port without a clock has no enable, and its cell wants a constant
    assign read_enable = {RD_PORTS{1'b1}};
  end
  (* keep *) \$pos #(.A_SIGNED(0), .A_WIDTH(RD_PORTS*ABITS), .Y_WIDTH(RD_PORTS*ABITS)) ng_read_address (.A(RD_ADDR), .Y(read_address));
  (* keep *) \$pos #(.A_SIGNED(0), .A_WIDTH(WR_PORTS*WIDTH), .Y_WIDTH(WR_PORTS*WIDTH)) ng_write_enable (.A(WR_EN), .Y(write_enable));
  (* keep *) \$pos #(.A_SIGNED(0), .A_WIDTH(WR_PORTS*ABITS), .Y_WIDTH(WR_PORTS*ABITS)) ng_write_address (.A(WR_ADDR), .Y(write_address));
  (* keep *) \$pos #(.A_SIGNED(0), .A_WIDTH(WR_PORTS*WIDTH), .Y_WIDTH(WR_PORTS*WIDTH)) ng_write_data (.A(WR_DATA), .Y(write_data));
  \$mem_v2 #(
    .MEMID(MEMID), .SIZE(SIZE), .OFFSET(OFFSET), .ABITS(ABITS), .WIDTH(WIDTH), .INIT(INIT),
    .RD_PORTS(RD_PORTS), .RD_CLK_ENABLE(RD_CLK_ENABLE), .RD_CLK_POLARITY(RD_CLK_POLARITY),
    .RD_TRANSPARENCY_MASK(RD_TRANSPARENCY_MASK), .RD_COLLISION_X_MASK(RD_COLLISION_X_MASK),
    .RD_WIDE_CONTINUATION(RD_WIDE_CONTINUATION), .RD_CE_OVER_SRST(RD_CE_OVER_SRST), .RD_ARST_VALUE(RD_ARST_VALUE),
    .RD_SRST_VALUE(RD_SRST_VALUE), .RD_INIT_VALUE(RD_INIT_VALUE), .WR_PORTS(WR_PORTS),
    .WR_CLK_ENABLE(WR_CLK_ENABLE), .WR_CLK_POLARITY(WR_CLK_POLARITY), .WR_PRIORITY_MASK(WR_PRIORITY_MASK),
    .WR_WIDE_CONTINUATION(WR_WIDE_CONTINUATION)
  ) memory (
    .RD_CLK, .RD_EN(read_enable), .RD_ARST, .RD_SRST, .RD_ADDR(read_address), .RD_DATA,
    .WR_CLK, .WR_EN(write_enable), .WR_ADDR(write_address), .WR_DATA(write_data)
  );
endmodule
