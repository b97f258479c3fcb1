// SPDX-License-Identifier: Apache-2.0
// Reset synchronizer: rst_no follows rst_ni down at once, without a clock, and up at the Stages-th
// rising edge of clk_i after rst_ni has risen. So whatever rst_no resets leaves its reset in one
// and the same cycle, whenever rst_ni rises.
//
// A one is shifted through flip-flops that rst_ni clears. Only the first can become metastable when
// rst_ni rises close to an edge of the clock: the others hold a zero then and take a zero. Each
// stage behind it gives that one a cycle more to settle.
module ng_reset_sync #(
  parameter int Stages = 2
) (
  input  logic clk_i,
  input  logic rst_ni,  // asynchronous in both directions
  output logic rst_no
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Stages < 2 || Stages > 16) begin : gen_check_stages
    $fatal(1, "ng_reset_sync: Stages=%0d; expected 2 to 16", Stages);
  end
`endif

  logic [Stages-1:0] released_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) released_q <= '0;
    else released_q <= {released_q[Stages-2:0], 1'b1};
  end
  assign rst_no = released_q[Stages-1];

endmodule
