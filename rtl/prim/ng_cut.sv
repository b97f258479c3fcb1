// SPDX-License-Identifier: Apache-2.0
// A place where a pipeline may be cut (docs/cuts.md): a register with enable, or a wire. Not reset:
// what leaves the pipe before as many enabled edges as there are cuts has no meaning.
module ng_cut #(
  parameter int Width  = 1,
  parameter int Enable = 0  // other than 0: a register
) (
  input  logic             clk_i,
  input  logic             en_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_cut: Width=%0d; expected 1 or more", Width);
  end
`endif

  if (Enable != 0) begin : gen_register
    always_ff @(posedge clk_i) begin
      if (en_i) q_o <= d_i;
    end
  end else begin : gen_wire
    logic unused;
    assign unused = clk_i ^ en_i;
    assign q_o = d_i;
  end
endmodule
