// SPDX-License-Identifier: Apache-2.0
// Replaces runs of zeros by the bytes that stand for 2, 4, ... 128 of them (docs/codec.md, Zero
// runs): a value every cycle, for ng_huffman_encode.
//
// A value passes a line of eight places, one every cycle; a zero leaves its place empty. A run of
// zeros is counted. Where 2^r of them are whole, r the runs that have a byte, the longest run takes
// the place of the last one. At the end of a run (a value comes, or 255 zeros have been, or the
// tile's last value has) bit i of what is left of its count becomes the run of 2^i in place 6 - i.
// That place is empty, since bit i is set only where 2^i zeros, at least i + 1, have come behind
// what is before them. So runs leave the longest first, before the value that ended them, no queue
// is needed, and the unit gives no more bytes than it takes and never waits.
// ready_o, valid_o, data_o and last_o come from registers: no combinational path crosses the unit.
// A value is offered ten cycles after it was accepted.
//
// Width argument: count_q is a run's zeros so far, 0 to 255, and begins again there.
module ng_zero_runs (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       table_we_i,    // the table, while no tile is under way
  // i above 0: the byte of a run of 2^i zeros; 0: the longest run that has one, as i
  input  logic [2:0] table_addr_i,
  input  logic [7:0] table_data_i,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  input  logic       last_i,        // the last value of a tile
  output logic       valid_o,
  input  logic       ready_i,
  output logic [7:0] data_o,
  output logic       last_o         // the last byte of a tile
);

  logic [2:0] longest_q;
  logic [6:0] below;  // bit i: i is below longest_q
  always_ff @(posedge clk_i) if (table_we_i & ~|table_addr_i) longest_q <= table_data_i[2:0];
  for (genvar i = 0; i < 7; i++) begin : gen_below
    assign below[i] = longest_q > 3'(i);
  end

  // ---- zeros are counted
  logic       room, value, zero, cut, ended_q, fresh, ends, whole;
  logic [7:0] count_q;
  logic [6:0] put;  // of the run that ends: runs of 1, 2, ... 64 zeros
  assign ready_o = room;
  assign value = valid_i & |data_i;
  assign zero = valid_i & ~|data_i;
  assign cut = &count_q;
  assign fresh = cut | ended_q;  // what comes is in no run
  assign ends = fresh | value;
  assign whole = zero & (&(count_q[6:1] | ~below[6:1])) & (~below[0] | (count_q[0] & ~fresh));
  assign put = below & count_q[6:0] & {7{ends}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      ended_q <= 1'b0;
    end else if (room) begin
      count_q <= ends ? {7'd0, zero} : count_q + 8'(zero);
      ended_q <= valid_i & last_i;
    end
  end

  // ---- the line: a byte as it is, or a run
  // kind_q: this is a byte; a place that has neither it nor a run is empty
  logic [7:0]     kind_q, last_q;
  logic [8*3-1:0] low_q;           // the run, or bits 2 to 0 of the byte
  logic [8*5-1:0] high_q;          // bits 7 to 3
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kind_q <= '0;
      low_q  <= '0;
    end else if (room) begin
      kind_q[7] <= value | (whole & ~below[0]);
      low_q[7*3 +: 3] <= (data_i[2:0] & {3{valid_i}}) | (longest_q & {3{whole}});
      kind_q[6] <= kind_q[7] | put[0];
      kind_q[5:0] <= kind_q[6:1];
      for (int i = 0; i < 7; i++) low_q[(6-i)*3 +: 3] <= low_q[(7-i)*3 +: 3]
          | (3'(i) & {3{put[i]}});
    end
  end
  always_ff @(posedge clk_i) if (room) begin
    high_q <= {data_i[7:3] & {5{valid_i}}, high_q[8*5-1:5]};  // a zero may take an empty place
    last_q[7] <= valid_i & last_i;
    last_q[6] <= last_q[7];
    for (int i = 1; i < 7; i++) last_q[6-i] <= last_q[7-i]
        | (ended_q & put[i] & ~|(count_q[6:0] & ((7'd1 << i) - 7'd1)));
  end

  // ---- what leaves it
  logic       valid_q, literal_q, end_q;
  logic [7:0] value_q, run;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (room) valid_q <= kind_q[0] | (|low_q[2:0]);
  end
  always_ff @(posedge clk_i) if (room) begin
    literal_q <= kind_q[0];
    value_q   <= {high_q[4:0], low_q[2:0]};
    end_q     <= last_q[0];
  end
  ng_ram #(
    .Width(8),
    .Depth(8)
  ) u_runs (
    .clk_i,
    .we_i   (table_we_i),
    .waddr_i(table_addr_i),
    .wdata_i(table_data_i),
    .re_i   (room),
    .raddr_i(low_q[2:0]),
    .rdata_o(run)
  );
  ng_fifo2 #(
    .Width(9)
  ) u_bytes (
    .clk_i,
    .rst_ni,
    .valid_i(valid_q),
    .ready_o(room),
    .data_i ({end_q, literal_q ? value_q : run}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, data_o})
  );

endmodule
