// SPDX-License-Identifier: Apache-2.0
// The loop of the bridge: writes one word to the tile's COMPUTE again and again while its queue has
// room, and counts clocks until the tile is idle again.
//
// It reads STATUS (0x24), and writes as often as STATUS.compute_space says, then reads again. Behind
// the last command it reads STATUS until the tile is not busy. An error of the tile, or of the bus,
// stops it. CYCLES ends with the answer that says so, some clocks behind the last result: a read of
// STATUS takes 5 or 6 clocks.
//
// Width argument: count_o and cycles_o are 32 bits; cycles_o wraps.
module ng_bridge_loop (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        we_command_i,
  input  logic        we_count_i,  // of 0: ends it behind what is queued
  input  logic [31:0] data_i,
  output logic [31:0] command_o,
  output logic [31:0] count_o,      // commands to be written
  output logic [31:0] cycles_o,
  output logic        running_o,
  output logic        tile_error_o,  // why it has stopped
  output logic        bus_error_o,
  output logic        starts_o,
  // the bus
  output logic        request_o,
  output logic        write_o,
  output logic [9:0]  addr_o,
  input  logic        done_i,
  input  logic        error_i,
  input  logic        reads_i,  // a clock before done_i
  input  logic [15:0] status_i  // what is read
);
  localparam logic [9:0] Status = 10'h009;   // addresses of words
  localparam logic [9:0] Compute = 10'h011;
  logic [2:0] space_q;  // commands that the queue has room for
  logic       fault_q, busy_q;  // of the tile, by STATUS
  logic       more, over, unused;
  // One cell a bit loads or counts: what is added where count_o is loaded does not matter.
  logic [31:0] counted;
  assign counted = count_o + {32{~we_count_i}};
  assign more = |count_o;
  assign starts_o = we_count_i & ~running_o & (|data_i);
  assign addr_o = write_o ? Compute : Status;
  assign over = done_i & (error_i | (~write_o & (fault_q | (~more & ~busy_q))));
  assign unused = ^{status_i[11], status_i[7:1]};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      command_o    <= '0;
      count_o      <= '0;
      cycles_o     <= '0;
      running_o    <= 1'b0;
      tile_error_o <= 1'b0;
      bus_error_o  <= 1'b0;
      request_o    <= 1'b0;
      write_o      <= 1'b0;
      space_q      <= '0;
    end else begin
      if (we_command_i) command_o <= data_i;
      if (we_count_i | (done_i & write_o & more)) count_o <= we_count_i ? data_i : counted;
      request_o    <= request_o ? ~done_i : running_o;
      if (~request_o) write_o <= more & (|space_q);
      running_o    <= starts_o | (running_o & ~over);
      tile_error_o <= ~starts_o & (tile_error_o | (done_i & ~error_i & ~write_o & fault_q));
      bus_error_o  <= ~starts_o & (bus_error_o | (done_i & error_i));
      // ng-no-fault: the upper bits are seen after 2^29 clocks and more
      cycles_o     <= starts_o ? '0 : cycles_o + 32'(running_o);
      if (starts_o) space_q <= '0;
      else if (reads_i) space_q <= status_i[10:8];
      else if (done_i & write_o) space_q <= space_q - 3'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (reads_i) begin
      fault_q <= |status_i[15:12];
      busy_q  <= status_i[0];
    end
  end

endmodule
