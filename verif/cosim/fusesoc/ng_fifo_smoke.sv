// SPDX-License-Identifier: Apache-2.0
// What target sim_fifo of narrowgauge.core simulates: words through ng_fifo under random stalls come out once each and in order.
// A first sign of life in another build; the unit's bench is verif/cosim/prim/fifo_bench.cpp.
module ng_fifo_smoke;
  localparam int Words = 1000;

  logic        clk = 1'b0, rst_n = 1'b0;
  logic        valid_in = 1'b0, ready_in, valid_out, ready_out = 1'b0;
  logic [31:0] data_in = '0, data_out;
  logic [2:0]  unused_space;
  int          taken = 0, given = 0;
  always #5 clk = ~clk;

  ng_fifo #(
    .Width(32),
    .Depth(4)
  ) u_fifo (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .flush_i(1'b0),
    .valid_i(valid_in),
    .ready_o(ready_in),
    .data_i (data_in),
    .valid_o(valid_out),
    .ready_i(ready_out),
    .data_o (data_out),
    .space_o(unused_space)
  );

  function automatic logic [31:0] word(input int index);
    word = 32'h9e3779b9 * (32'(index) + 32'd1);
  endfunction

  // Between the edges, so that no value races with a clock.
  always @(negedge clk) begin
    valid_in <= rst_n && taken < Words && $urandom_range(3) != 0;
    data_in <= word(taken);
    ready_out <= $urandom_range(3) != 0;
  end

  always @(posedge clk) begin
    if (rst_n && valid_in && ready_in) taken <= taken + 1;
    if (rst_n && valid_out && ready_out) begin
      if (data_out !== word(given)) $fatal(1, "ng_fifo_smoke: word %0d is %08x; expected %08x", given, data_out, word(given));
      given <= given + 1;
      if (given == Words - 1) begin
        $display("ng_fifo_smoke: %0d words, in order", Words);
        $finish;
      end
    end
  end

  initial begin
    repeat (3) @(negedge clk);
    rst_n = 1'b1;
    repeat (20 * Words) @(negedge clk);
    $fatal(1, "ng_fifo_smoke: %0d words of %0d after %0d cycles", given, Words, 20 * Words);
  end
endmodule
