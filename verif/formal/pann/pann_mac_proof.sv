// SPDX-License-Identifier: Apache-2.0
// ng_pann_mac under any elements, bubbles and stalls, from reset. Beside it, the sum of an output is kept with products: what the
// unit has added, and what the element at work has to add yet, are always that sum, and a result is the sum of its output.
// hierconn: see fifo_proof.sv.
module pann_mac_proof #(
  parameter int XWidth   = 6,
  parameter int WWidth   = 4,
  parameter int AccWidth = 20
) (
  input logic              clk_i,
  input logic              valid_i,
  input logic              first_i,
  input logic              last_i,
  input logic [XWidth-1:0] x_i,
  input logic [WWidth-1:0] w_i,
  input logic              negative_i,
  input logic              ready_i
);
  function automatic logic [XWidth+WWidth-1:0] times(input logic [WWidth-1:0] w, input logic [XWidth-1:0] x);
    times = '0;
    for (int i = 0; i < WWidth; i++) if (w[i]) times += (XWidth+WWidth)'(x) << i;
  endfunction

  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                       ready, valid;
  logic signed [AccWidth-1:0] result;
  ng_pann_mac #(
    .XWidth  (XWidth),
    .WWidth  (WWidth),
    .AccWidth(AccWidth)
  ) u_mac (
    .clk_i     (clk_i),
    .rst_ni    (running),
    .valid_i   (valid_i),
    .ready_o   (ready),
    .first_i   (first_i),
    .last_i    (last_i),
    .x_i       (x_i),
    .w_i       (w_i),
    .negative_i(negative_i),
    .valid_o   (valid),
    .ready_i   (ready_i),
    .result_o  (result)
  );
  (* hierconn *) wire \u_mac.busy_q , \u_mac.first_q , \u_mac.last_q , \u_mac.negative_q , \u_mac.minus_q ;
  (* hierconn *) wire [XWidth-1:0] \u_mac.x_q ;
  (* hierconn *) wire [WWidth-1:0] \u_mac.count_q ;
  (* hierconn *) wire [AccWidth-1:0] \u_mac.sum_q ;

  // ---- the output of which an element was taken last, with products
  logic                take, ends, subtract, subtracts_q = 1'b0, waited_q = 1'b0;
  logic [AccWidth-1:0] product, total_q = '0, ended_q;
  assign take = running & valid_i & ready;
  assign ends = \u_mac.busy_q & \u_mac.last_q & ~(valid & ~ready_i) & \u_mac.count_q <= WWidth'(1);
  assign subtract = (negative_i & w_i != '0) | (subtracts_q & ~first_i);  // negative weights are the last ones
  assign product = AccWidth'(times(w_i, x_i));
  always_ff @(posedge clk_i) begin
    waited_q <= running & valid & ~ready_i;
    if (running & ends) ended_q <= total_q;
    if (take) begin
      subtracts_q <= subtract;
`ifdef PANN_FALSE
      total_q     <= (first_i ? '0 : total_q) + product;
`else
      total_q     <= (first_i ? '0 : total_q) + (subtract ? -product : product);
`endif
    end
  end

  // ---- what is added, and what is to be added
  logic                negative;
  logic [AccWidth-1:0] added, begun, missing;
  assign added = \u_mac.sum_q ^ {AccWidth{\u_mac.minus_q }};
  assign begun = \u_mac.busy_q & \u_mac.first_q ? '0 : added;
  assign negative = \u_mac.busy_q ? \u_mac.negative_q | (\u_mac.minus_q & ~\u_mac.first_q ) : \u_mac.minus_q ;
  assign missing = AccWidth'(times(\u_mac.count_q , \u_mac.x_q ));
  always_comb begin
    if (running) begin
      assert (total_q == (negative ? begun - missing : begun + missing));
      assert (subtracts_q == negative);
      if (!\u_mac.busy_q ) assert (\u_mac.count_q == '0);
      if (\u_mac.negative_q ) assert (\u_mac.busy_q ? \u_mac.count_q != '0 : \u_mac.minus_q );
      if (valid) assert (result == $signed(ended_q) && added == ended_q && !ready);
      else assert (result == '0);
      if (waited_q) assert (valid);
    end else begin
      assert (!valid);
    end
  end
endmodule
