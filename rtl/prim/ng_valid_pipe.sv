// SPDX-License-Identifier: Apache-2.0
//
// The valid bits of a pipeline that moves with one enable: a chain of `Depth` registers, all seen.
//
//   valid_o[0] = valid_i,  valid_o[s] = valid_i as it was s enabled edges ago, 0 after reset
//
// Depth = 0 is a wire. A pipeline that never stands still ties en_i to 1.

module ng_valid_pipe #(
  parameter int Depth = 1  // registers of the chain
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           en_i,     // the pipeline moves
  input  logic           valid_i,  // an item enters the first stage
  output logic [Depth:0] valid_o   // bit s: an item stands behind register s; bit 0 is valid_i
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Depth < 0) begin : gen_check_depth
    $fatal(1, "ng_valid_pipe: Depth=%0d; expected 0 or more", Depth);
  end
`endif

  if (Depth > 0) begin : gen_chain
    logic [Depth:1] valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else if (en_i) valid_q <= valid_o[Depth-1:0];
    end
    assign valid_o = {valid_q, valid_i};
  end else begin : gen_wire
    logic unused;
    assign unused = clk_i ^ rst_ni ^ en_i;
    assign valid_o[0] = valid_i;
  end
endmodule
