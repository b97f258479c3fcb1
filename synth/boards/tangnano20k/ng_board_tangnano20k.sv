// SPDX-License-Identifier: Apache-2.0
// Sipeed's Tang Nano 20K with a GW2AR-18: a tile behind the USB serial port, at the 27 MHz of its
// oscillator, 3 Mbaud at 9 clocks a bit. The reset ends some clocks after the device has begun.
// Lights, on while low: led_no[0] lives, [1] the loop runs, [2] a good frame has come.
module ng_board_tangnano20k (
  input  logic clk_27mhz_i,
  input  logic rx_i,   // from the BL616
  output logic tx_o,
  output logic [2:0] led_no
);
  localparam int ClocksPerBit = 9;

  // Flip-flops of a GW2A begin with the value that they are declared with. A glitch of the counter's
  // AND lies between two edges of the clock, where ng_reset_sync takes no step.
  logic [7:0] begun_q = '0;
  logic       rst_n;
  always_ff @(posedge clk_27mhz_i) begin
    if (!(&begun_q)) begun_q <= begun_q + 1'b1;
  end
  ng_reset_sync #(
    .Stages(4)
  ) u_reset (
    .clk_i (clk_27mhz_i),
    .rst_ni(&begun_q),
    .rst_no(rst_n)
  );

  logic irq, good, runs;
  ng_board #(
    .ClocksPerBit(ClocksPerBit)
  ) u_board (
    .clk_i    (clk_27mhz_i),
    .rst_ni   (rst_n),
    .rx_i,
    .tx_o,
    .locked_o (good),
    .running_o(runs),
    .irq_o    (irq)
  );

  logic [23:0] lives_q;
  always_ff @(posedge clk_27mhz_i or negedge rst_n) begin
    if (!rst_n) lives_q <= '0;
    else lives_q <= lives_q + 1'b1;
  end
  assign led_no = ~{good, runs, lives_q[23] ^ irq};

endmodule
