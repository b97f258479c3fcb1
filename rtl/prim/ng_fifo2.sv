// SPDX-License-Identifier: Apache-2.0
// Queue of two words: cuts every combinational path of a valid/ready stream in both directions at
// full throughput.
//
// ready_o, valid_o and data_o are registers (ready_o through one inverter). A word accepted in one
// cycle is offered in the next. data_o changes only when there is a new head.
module ng_fifo2 #(
  parameter int Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_fifo2: Width=%0d; expected 1 or more", Width);
  end
`endif

  // The head is data_o; the tail is in use only when both are full.
  logic             full_q, push, pop;
  logic [Width-1:0] tail_q;
  assign ready_o = ~full_q;
  assign push = valid_i & ~full_q;
  assign pop = valid_o & ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      full_q  <= 1'b0;
    end else begin
      valid_o <= push | full_q | (valid_o & ~ready_i);
      full_q  <= (full_q | push) & valid_o & ~ready_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (full_q & pop) data_o <= tail_q;
    else if (push & (pop | ~valid_o)) data_o <= data_i;
    if (push) tail_q <= data_i;
  end

endmodule
