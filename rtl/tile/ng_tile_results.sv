// SPDX-License-Identifier: Apache-2.0
// Results of the drain leave as they are, or as packets of compressed loads that ng_tile_encode
// makes of them.
//
//   words -> encoders -> | word
//       `--------------> |
//
// compress_i decides for a whole packet, and counts in the cycle before its first word comes.
// Packets leave in the order in which they have come: one that stays as it is waits until those
// before it have left the encoders.
// All but ready_o comes from registers through multiplexers: no combinational path leads from
// ready_i to valid_o, data_o, last_o.
module ng_tile_results #(
  parameter int StreamWidth = 32,  // bits of a stream word, multiple of 32
  parameter int Encoders = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   compress_i,
  input  logic                   table_we_i,    // the table of all encoders, not reset
  input  logic [7:0]             table_addr_i,  // address in the table of ng_huffman_encode
  input  logic [15:0]            table_data_i,  // entry of the table of ng_huffman_encode
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [StreamWidth-1:0] data_i,
  input  logic                   last_i,        // the last word of a packet
  // with last_i: kept until the packet's last word leaves
  input  logic                   irq_i,
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   irq_o,         // with last_o
  output logic                   busy_o         // the encoders have words that have not left
);

  localparam int Packets = 4 << $clog2(Encoders);  // that the encoders have at most

  logic                     inside_q, compress_q, open_q, taken, held, packet_ready, packet_irq;
  logic                     encode_ready, encode_valid, encode_last;
  logic [StreamWidth-1:0]   encode_word;
  logic [$clog2(Packets):0] unused_space;
  assign ready_o = compress_q ? encode_ready & packet_ready : ready_i & ~busy_o;
  assign taken = valid_i & ready_o;
  assign busy_o = open_q | held;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q   <= 1'b0;  // a packet's first word has come, and its last one has not
      open_q     <= 1'b0;  // and it goes to the encoders
      compress_q <= 1'b0;
    end else begin
      if (taken) inside_q <= ~last_i;
      if (taken & compress_q) open_q <= ~last_i;
      if (valid_i ? taken & last_i : ~inside_q) compress_q <= compress_i;
    end
  end

  ng_tile_encode #(
    .StreamWidth(StreamWidth),
    .Encoders   (Encoders)
  ) u_encode (
    .clk_i,
    .rst_ni,
    .table_we_i,
    .table_addr_i,
    .table_data_i,
    .valid_i     (valid_i & compress_q & packet_ready),
    .ready_o     (encode_ready),
    .data_i,
    .last_i,
    .valid_o     (encode_valid),
    .ready_i,
    .data_o      (encode_word),
    .last_o      (encode_last)
  );
  // Of each packet whose last word has come, whether it asks for an interrupt.
  ng_fifo #(
    .Width(1),
    .Depth(Packets)
  ) u_packets (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .valid_i(taken & compress_q & last_i),
    .ready_o(packet_ready),
    .data_i (irq_i),
    .valid_o(held),
    .ready_i(busy_o & encode_valid & ready_i & encode_last),
    .data_o (packet_irq),
    .space_o(unused_space)
  );
  assign valid_o = busy_o ? encode_valid : valid_i & ~compress_q;
  assign data_o = busy_o ? encode_word : data_i;
  assign last_o = busy_o ? encode_last : last_i;
  assign irq_o = busy_o ? packet_irq : irq_i;

endmodule
