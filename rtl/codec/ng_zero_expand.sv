// SPDX-License-Identifier: Apache-2.0
// Makes runs of zeros again of the bytes that stand for them (docs/codec.md, Zero runs): a value
// every cycle, behind ng_huffman_decode.
//
// A byte that stands for 2^i zeros gives one in the cycle in which it comes and 2^i - 1 in the
// cycles behind it, in which no byte is taken. Any other byte is a value. No byte stops the unit: a
// run has at most 128 zeros.
// ready_o, valid_o and the other outputs come from registers: no combinational path crosses the
// unit. A value is offered in the cycle after its byte was accepted.
//
// Width argument: left_q counts the zeros of a run that are to come, 127 at most.
module ng_zero_expand (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       table_we_i,    // the table, while no tile is under way
  // i above 0: the byte of a run of 2^i zeros; 0: the longest run that has one, as i
  input  logic [2:0] table_addr_i,
  input  logic [7:0] table_data_i,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  input  logic       last_i,        // the last beat of a tile
  input  logic       fault_i,       // the tile is broken: passes with the beat
  input  logic       void_i,        // the beat stands for no value: passes with it
  output logic       valid_o,
  input  logic       ready_i,
  output logic [7:0] data_o,
  output logic       last_o,
  output logic       fault_o,
  output logic       void_o
);

  logic [2:0] longest_q;
  logic [7:1] is_run;  // bit i: the byte stands for 2^i zeros
  always_ff @(posedge clk_i) if (table_we_i & ~|table_addr_i) longest_q <= table_data_i[2:0];
  for (genvar i = 1; i < 8; i++) begin : gen_run
    logic [7:0] byte_q;
    always_ff @(posedge clk_i) if (table_we_i & (table_addr_i == 3'(i))) byte_q <= table_data_i;
    assign is_run[i] = (data_i == byte_q) & (longest_q >= 3'(i));
  end

  logic       room, busy_q, take, run, more, last_q, fault_q;
  logic [6:0] zeros;  // of the run that begins, behind its first
  // ng-no-fault: the count may go through any values, as long as the run ends after as many cycles
  logic [6:0] left_q;
  assign ready_o = room & ~busy_q;
  assign take = valid_i & ready_o;
  assign run = |is_run;
  for (genvar i = 0; i < 7; i++) begin : gen_zeros
    assign zeros[i] = |is_run[7:i+1];
  end
  assign more = busy_q ? |left_q[6:1] : run;  // a zero behind this one

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (room & (busy_q | valid_i)) busy_q <= more;
  end
  // ng-no-fault: the count may go through any values, as long as the run ends after as many cycles
  always_ff @(posedge clk_i) if (room) left_q <= busy_q ? left_q - 7'd1 : zeros;
  always_ff @(posedge clk_i) if (take) begin
    last_q  <= last_i;
    fault_q <= fault_i;
  end

  ng_fifo2 #(
    .Width(11)
  ) u_values (
    .clk_i,
    .rst_ni,
    .valid_i(busy_q | valid_i),
    .ready_o(room),
    .data_i ({(busy_q ? last_q : last_i) & ~more, (busy_q ? fault_q : fault_i) & ~more,
        void_i & ~busy_q, data_i & {8{~busy_q & ~run}}}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, fault_o, void_o, data_o})
  );

endmodule
