// SPDX-License-Identifier: Apache-2.0
// ng_unsigned_mac under any products and bubbles, from reset, in each of its schedules: beside it, the sum of an output is kept in
// one register, to which products are added and from which they are taken. hierconn: see fifo_proof.sv.
module unsigned_mac_proof #(
  parameter int XWidth   = 4,
  parameter int WWidth   = 4,
  parameter int AccWidth = 16,
  parameter int Schedule = 0
) (
  input logic              clk_i,
  input logic              valid_i,
  input logic              first_i,
  input logic              last_i,
  input logic [XWidth-1:0] x_i,
  input logic [WWidth-1:0] w_i,
  input logic              negative_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                       valid;
  logic signed [AccWidth-1:0] result;
  ng_unsigned_mac #(
    .XWidth  (XWidth),
    .WWidth  (WWidth),
    .AccWidth(AccWidth),
    .Schedule(Schedule)
  ) u_mac (
    .clk_i     (clk_i),
    .rst_ni    (running),
    .valid_i   (valid_i),
    .first_i   (first_i),
    .last_i    (last_i),
    .x_i       (x_i),
    .w_i       (w_i),
    .negative_i(negative_i),
    .valid_o   (valid),
    .result_o  (result)
  );

  // ---- the output in one register
  logic                subtract, subtracts_q = 1'b0, ended_q = 1'b0;
  logic [AccWidth-1:0] product, total_q = '0;
  // Sorted products: negative ones are the last of an output.
  assign subtract = negative_i | (Schedule == 0 & subtracts_q & ~first_i);
  assign product = AccWidth'(w_i) * AccWidth'(x_i);
  always_ff @(posedge clk_i) begin
    ended_q <= running & valid_i & last_i;
    if (running & valid_i) begin
      subtracts_q <= subtract;
`ifdef SPLIT_FALSE
      total_q     <= total_q + (subtract ? -product : product);
`else
      total_q     <= (first_i ? '0 : total_q) + (subtract ? -product : product);
`endif
    end
  end

  // ---- what the unit's registers hold; those of the other schedules are not there
  (* hierconn *) wire \u_mac.gen_sorted.minus_q ;
  (* hierconn *) wire [AccWidth-1:0] \u_mac.gen_sorted.sum_q ;
  (* hierconn *) wire [1:0] \u_mac.gen_dual.started_q , \u_mac.gen_muxed.started_q ;
  (* hierconn *) wire [AccWidth-1:0] \u_mac.gen_dual.gen_sign[0].sum_q , \u_mac.gen_dual.gen_sign[1].sum_q ;
  (* hierconn *) wire [AccWidth-1:0] \u_mac.gen_muxed.positive_q , \u_mac.gen_muxed.negative_q ;
  logic [AccWidth-1:0] held;
  if (Schedule == 0) begin : gen_sorted
    assign held = \u_mac.gen_sorted.sum_q ^ {AccWidth{\u_mac.gen_sorted.minus_q }};
    always_comb if (running) assert (\u_mac.gen_sorted.minus_q == subtracts_q);
  end else if (Schedule == 1) begin : gen_dual
    assign held = (\u_mac.gen_dual.gen_sign[0].sum_q & {AccWidth{\u_mac.gen_dual.started_q [0]}})
        - (\u_mac.gen_dual.gen_sign[1].sum_q & {AccWidth{\u_mac.gen_dual.started_q [1]}});
  end else begin : gen_muxed
    assign held = (\u_mac.gen_muxed.positive_q & {AccWidth{\u_mac.gen_muxed.started_q [0]}})
        - (\u_mac.gen_muxed.negative_q & {AccWidth{\u_mac.gen_muxed.started_q [1]}});
  end
  always_comb begin
    if (running) begin
      assert (held == total_q);
      assert (valid == ended_q);
      assert (result == (valid ? $signed(total_q) : '0));
    end else begin
      assert (!valid);
    end
  end
endmodule
