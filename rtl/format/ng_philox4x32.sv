// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC'11):
// blocks of 128 random bits, each a function of a counter of 128 bits and a key of 64. Twin of
// narrowgauge::Philox4x32.
//
// A beat of the input sets counter and key; the blocks of that counter and of those that follow
// come out until the next beat. What is in the making when a beat is taken is dropped, and a block
// that is offered stays until it is taken: no beat is taken then. counter_o and key_o are the
// state, those of the block in the making or offered: set again, they continue the stream with it.
//
// One round, or several, a cycle: a block takes Steps = 10 / RoundsPerCycle cycles, and one more,
// in which it is offered and the counter steps on.
//
// Round r has the key plus r times a constant, modulo 2^32 each word; rounds of a cycle other than
// the first add it again.
module ng_philox4x32 #(
  parameter int RoundsPerCycle = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [127:0] counter_i,  // word 0 in the low bits
  input  logic [63:0]  key_i,
  output logic         valid_o,
  input  logic         ready_i,
  output logic [127:0] random_o,   // beside valid_o the block, word 0 in the low bits
  output logic [127:0] counter_o,
  output logic [63:0]  key_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (RoundsPerCycle < 1 || RoundsPerCycle > 10) begin : gen_check_rounds_per_cycle
    $fatal(1, "ng_philox4x32: RoundsPerCycle=%0d; expected 1 to 10", RoundsPerCycle);
  end
  if (10 % (RoundsPerCycle < 1 ? 1 : RoundsPerCycle) != 0) begin : gen_check_divisor
    $fatal(1, "ng_philox4x32: RoundsPerCycle=%0d; expected a divisor of 10", RoundsPerCycle);
  end
`endif

  localparam int Steps = 10 / RoundsPerCycle;
  localparam int StepWidth = Steps > 1 ? $clog2(Steps) : 1;
  localparam logic [31:0] Weyl0 = 32'h9E3779B9, Weyl1 = 32'hBB67AE85;

  logic [127:0]         counter_q, words_q;
  logic [63:0]          key_q;
  logic [StepWidth-1:0] step_q;
  logic                 running_q, valid_q;

  // The keys of the first round of each step.
  logic [63:0] step_key, words_key;
  always_comb begin
    step_key = '0;
    for (int i = 0; i < Steps; i++) begin
      if (step_q == StepWidth'(i)) step_key =
          {Weyl1 * 32'(i * RoundsPerCycle), Weyl0 * 32'(i * RoundsPerCycle)};
    end
  end
  assign words_key = {key_q[63:32] + step_key[63:32], key_q[31:0] + step_key[31:0]};

  for (genvar r = 0; r < RoundsPerCycle; r++) begin : gen_round
    logic [127:0] from, stepped;
    logic [63:0]  key;
    if (r == 0) begin : gen_first
      assign from = step_q == '0 ? counter_q : words_q;
      assign key = words_key;
    end else begin : gen_next
      assign from = gen_round[r-1].stepped;
      assign key = {gen_round[r-1].key[63:32] + Weyl1, gen_round[r-1].key[31:0] + Weyl0};
    end
    ng_philox_round u_round (
      .words_i(from),
      .key_i  (key),
      .words_o(stepped)
    );
  end

  logic take, last;
  assign ready_o = ~valid_q;
  assign take = valid_i & ready_o;
  assign last = step_q == StepWidth'(Steps - 1);
  assign valid_o = valid_q;
  assign random_o = words_q;
  assign counter_o = counter_q;
  assign key_o = key_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counter_q <= '0;
      key_q     <= '0;
      words_q   <= '0;
      step_q    <= '0;
      running_q <= 1'b0;
      valid_q   <= 1'b0;
    end else if (take) begin
      counter_q <= counter_i;
      key_q     <= key_i;
      step_q    <= '0;
      running_q <= 1'b1;
    end else if (valid_q) begin
      if (ready_i) begin
        counter_q <= counter_q + 128'd1;
        valid_q   <= 1'b0;
      end
    end else if (running_q) begin
      words_q <= gen_round[RoundsPerCycle-1].stepped;
      step_q  <= last ? '0 : step_q + StepWidth'(1);
      valid_q <= last;
    end
  end

endmodule
