// SPDX-License-Identifier: Apache-2.0
// Queue of Depth words, valid/ready on both sides, with a count of free places and a synchronous
// clear.
//
// ready_o, valid_o and space_o come from registers only, data_o from registers and the read
// pointer: no combinational path crosses the queue. A word accepted in one cycle is offered in the
// next; full throughput at any level. With BlockRam the words are in a memory with a registered
// read, which tools map to block RAM. A word accepted by an empty queue, or while the only other
// word leaves, is then offered two cycles later.
// flush_i: at the clock edge the queue becomes empty; a word accepted in that cycle is dropped too.
// It is the one way in which valid_o may fall without ready_i.
//
// Width argument: space_q counts 0 to Depth = 2^AddrWidth, hence AddrWidth + 1 bits, the top one
// set only when empty.
module ng_fifo #(
  parameter int Width = 32,
  parameter int Depth = 4,  // power of two, 2 or more
  parameter bit BlockRam = 1'b0,  // words in a memory instead of registers
  localparam int SpaceWidth = $clog2(Depth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  flush_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Width-1:0]      data_i,
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Width-1:0]      data_o,
  output logic [SpaceWidth-1:0] space_o   // free places
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_fifo: Width=%0d; expected 1 or more", Width);
  end
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_check_depth
    $fatal(1, "ng_fifo: Depth=%0d; expected a power of two, 2 or more", Depth);
  end
`endif

  // 1: so that a wrong Depth gets as far as the message
  localparam int AddrWidth = Depth > 1 ? SpaceWidth - 1 : 1;
  logic [AddrWidth-1:0]  write_q, read_q, read_d;
  logic [SpaceWidth-1:0] space_q;
  logic                  push, pop, written_q;
  assign ready_o = |space_q;
  assign valid_o = ~space_q[AddrWidth] & ~written_q;
  assign space_o = space_q;
  assign push = valid_i & ready_o;
  assign pop = valid_o & ready_i;
  assign read_d = read_q + AddrWidth'(pop);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      space_q <= SpaceWidth'(Depth);
    end else if (flush_i) begin
      write_q <= '0;
      read_q  <= '0;
      space_q <= SpaceWidth'(Depth);
    end else begin
      write_q <= write_q + AddrWidth'(push);
      read_q  <= read_d;
      space_q <= space_q + SpaceWidth'(pop) - SpaceWidth'(push);
    end
  end

  if (BlockRam) begin : gen_block_ram
    // A word that comes when it is the next to be offered is read one cycle later.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) written_q <= 1'b0;
      else written_q <= push && write_q == read_d;
    end
    ng_ram #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .we_i   (push),
      .waddr_i(write_q),
      .wdata_i(data_i),
      .re_i   (1'b1),
      .raddr_i(read_d),
      .rdata_o(data_o)
    );
  end else begin : gen_registers
    logic [Width-1:0] mem [Depth];
    assign written_q = 1'b0;
    assign data_o = mem[read_q];
    always_ff @(posedge clk_i) if (push) mem[write_q] <= data_i;
`ifdef FORMAL
    logic [Depth*Width-1:0] words;  // for the invariant of verif/formal/prim/fifo_proof.sv
    for (genvar i = 0; i < Depth; i++) begin : gen_word
      assign words[i*Width +: Width] = mem[i];
    end
`endif
  end

endmodule
