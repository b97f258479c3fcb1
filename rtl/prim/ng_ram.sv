// SPDX-License-Identifier: Apache-2.0
// Memory of Depth words with one write and one read port on one clock, in the shape that tools map
// to block RAM.
//
// rdata_o is the word at raddr_i, one cycle later, and keeps its value while re_i is low. Not
// reset: contents and rdata_o are unknown until written and read. An address read in the cycle in
// which it is written gives an unknown word: block RAMs differ there. The code says so with x;
// without it Yosys builds a bypass of 2 Width registers around iCE40 and ECP5 RAMs, to keep the old
// word that plain Verilog promises.
module ng_ram #(
  parameter int Width = 32,
  parameter int Depth = 512,
  localparam int AddrWidth = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,  // below Depth
  input  logic [Width-1:0]     wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,  // below Depth
  output logic [Width-1:0]     rdata_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_ram: Width=%0d; expected 1 or more", Width);
  end
  if (Depth < 2) begin : gen_check_depth
    $fatal(1, "ng_ram: Depth=%0d; expected 2 or more", Depth);
  end
`endif

  (* ram_style = "block" *) logic [Width-1:0] mem [Depth];
  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= we_i && waddr_i == raddr_i ? {Width{1'bx}} : mem[raddr_i];
  end
`ifdef FORMAL
  logic [Depth*Width-1:0] words;  // for the invariant of verif/formal/prim/fifo_proof.sv
  for (genvar i = 0; i < Depth; i++) begin : gen_word
    assign words[i*Width +: Width] = mem[i];
  end
`endif

endmodule
