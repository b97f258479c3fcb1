// SPDX-License-Identifier: Apache-2.0
// ng_fifo is a queue of Depth words, under any sequence of valid, ready, flush and data: what it shows is compared with a list
// of the words inside, head first, in every cycle. No word is lost, made twice, changed or overtaken; space_o is exact.
//
// hierconn: Yosys' name for a wire that flattening joins with the one of that name inside the instance. The last assertions
// are about such inner state; without them the property holds but is no induction (two words deep in a stalled queue could
// be anything).
module fifo_proof #(
  parameter int Width    = 2,
  parameter int Depth    = 4,
  parameter int BlockRam = 0,
  localparam int SpaceWidth = $clog2(Depth + 1),
  localparam int AddrWidth = SpaceWidth - 1
) (
  input logic             clk_i,
  input logic             flush_i,
  input logic             valid_i,
  input logic             ready_i,
  input logic [Width-1:0] data_i
);

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                  ready, valid;
  logic [Width-1:0]      data, data_in;
  logic [SpaceWidth-1:0] space;
  ng_fifo #(
    .Width   (Width),
    .Depth   (Depth),
    .BlockRam(BlockRam)
  ) u_fifo (
    .clk_i  (clk_i),
    .rst_ni (running),
    .flush_i(flush_i),
    .valid_i(valid_i),
    .ready_o(ready),
    .data_i (data_in),
    .valid_o(valid),
    .ready_i(ready_i),
    .data_o (data),
    .space_o(space)
  );

  // ---- the list
  logic [SpaceWidth-1:0]  count_q = '0;
  logic [Depth*Width-1:0] list_q = '0, list_d;
  logic                   late_q = 1'b0;  // BlockRam: the only word has come in the cycle before
  logic                   push, pop;
  logic [SpaceWidth-1:0]  left;
  assign push = valid_i & (count_q != SpaceWidth'(Depth));
  assign pop = (count_q != '0) & ~late_q & ready_i;
  assign left = count_q - SpaceWidth'(pop);
  always_comb begin
    list_d = pop ? list_q >> Width : list_q;
    for (int i = 0; i < Depth; i++) if (push && left == SpaceWidth'(i)) list_d[i*Width +: Width] = data_i;
  end
  always_ff @(posedge clk_i) begin
    list_q  <= list_d;
    count_q <= running && !flush_i ? left + SpaceWidth'(push) : '0;
    late_q  <= running && !flush_i && BlockRam != 0 && push && left == '0;
  end

`ifdef FIFO_FALSE
  assign data_in = data_i ^ Width'(count_q == SpaceWidth'(1));  // the second place holds a wrong word
`else
  assign data_in = data_i;
`endif

  // ---- what it shows
  logic             waited_q = 1'b0;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i & ~flush_i;
    data_q   <= data;
  end
  always_comb begin
    if (running) begin
      assert (space == SpaceWidth'(Depth) - count_q);
      assert (ready == (count_q != SpaceWidth'(Depth)));
      assert (valid == (count_q != '0 && !late_q));
      if (valid) assert (data == list_q[Width-1:0]);
      if (waited_q) assert (valid && data == data_q);
    end
  end

  // ---- what it has inside
  (* hierconn *) wire [AddrWidth-1:0]    \u_fifo.write_q ;
  (* hierconn *) wire [AddrWidth-1:0]    \u_fifo.read_q ;
  (* hierconn *) wire                    \u_fifo.written_q ;
  (* hierconn *) wire [Depth*Width-1:0]  \u_fifo.gen_registers.words ;
  (* hierconn *) wire [Depth*Width-1:0]  \u_fifo.gen_block_ram.u_ram.words ;
  logic [AddrWidth-1:0]   read;
  logic [Depth*Width-1:0] words;
  logic [2*Depth*Width-1:0] turned;  // the head lowest
  assign read = \u_fifo.read_q ;
  assign words = BlockRam != 0 ? \u_fifo.gen_block_ram.u_ram.words : \u_fifo.gen_registers.words ;
  assign turned = {words, words} >> (Width * read);
  always_comb begin
    if (running) begin
      assert (count_q <= SpaceWidth'(Depth));
      assert (\u_fifo.write_q == AddrWidth'(read + count_q));
      assert (!late_q || count_q == 1);
      if (count_q != '0) assert (\u_fifo.written_q == late_q);
      for (int i = 0; i < Depth; i++) begin
        if (SpaceWidth'(i) < count_q) assert (turned[i*Width +: Width] == list_q[i*Width +: Width]);
      end
    end
  end

endmodule
