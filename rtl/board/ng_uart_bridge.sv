// SPDX-License-Identifier: Apache-2.0
// From a serial line to a tile: AXI4-Lite registers, a pair of streams, and a loop that keeps the
// tile busy while the line is silent. docs/units/uart_bridge.md has the frames and the registers.
//
// The line carries commands of LiteX's UARTBone, bare from reset on, or in frames with a number and a
// CRC-32, executed exactly once. From the first good frame on, bare bytes are refused.
//
//   rx -> bytes -> frames -> request memory -> commands -> tile's registers, FIFOs, loop
//   tx <- bytes <- answer <- answer memory <------'
//
// A frame is executed while the next one comes. A byte of that one which would overwrite what is
// not executed yet makes it a bad one, and the host sends it again.
//
// Handshake: all outputs but ready of the results in a sink come from registers or states.
//
// Width argument: length_q and frame_length_q count bytes of a frame, to RequestBytes; pos_q goes up
// to frame_length_q. answer_length_q counts to AnswerBytes. Addresses are of words below 0x800; more
// bits only have to be zero.
module ng_uart_bridge #(
  parameter int ClocksPerBit  = 8,        // of the line, 4 or more
  parameter int StreamWidth   = 32,       // of the tile, multiple of 32
  parameter int RequestBytes  = 512,      // longest frame, without escapes, power of two
  parameter int AnswerBytes   = 512,      // most bytes read by a frame, power of two
  parameter int TxBytes       = 512,      // operands that wait, power of two
  parameter int RxBytes       = 512,      // results that wait, power of two
  parameter int BusClocks     = 1024,     // after which an access to the tile is given up
  parameter int TimeoutClocks = 2400000   // silence that cuts a command off
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   rx_i,
  output logic                   tx_o,
  output logic                   m_axil_awvalid_o,
  input  logic                   m_axil_awready_i,
  output logic [11:0]            m_axil_awaddr_o,
  output logic                   m_axil_wvalid_o,
  input  logic                   m_axil_wready_i,
  output logic [31:0]            m_axil_wdata_o,
  output logic [3:0]             m_axil_wstrb_o,
  input  logic                   m_axil_bvalid_i,
  output logic                   m_axil_bready_o,
  input  logic [1:0]             m_axil_bresp_i,
  output logic                   m_axil_arvalid_o,
  input  logic                   m_axil_arready_i,
  output logic [11:0]            m_axil_araddr_o,
  input  logic                   m_axil_rvalid_i,
  output logic                   m_axil_rready_o,
  input  logic [31:0]            m_axil_rdata_i,
  input  logic [1:0]             m_axil_rresp_i,
  output logic                   m_axis_tvalid_o,  // operands
  input  logic                   m_axis_tready_i,
  output logic [StreamWidth-1:0] m_axis_tdata_o,
  output logic                   m_axis_tlast_o,
  input  logic                   s_axis_tvalid_i,  // results
  output logic                   s_axis_tready_o,
  input  logic [StreamWidth-1:0] s_axis_tdata_i,
  output logic                   locked_o,   // a good frame has come: for a light
  output logic                   running_o   // the loop runs
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ClocksPerBit < 4) begin : gen_check_clocks_per_bit
    $fatal(1, "ng_uart_bridge: ClocksPerBit=%0d; expected 4 or more", ClocksPerBit);
  end
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_uart_bridge: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth);
  end
  if (RequestBytes < 16 || RequestBytes > 4096 || (RequestBytes & (RequestBytes - 1)) != 0)
    begin : gen_check_request_bytes
    $fatal(1, "ng_uart_bridge: RequestBytes=%0d; expected 16 to 4096, a power of two", RequestBytes);
  end
  if (AnswerBytes < 16 || AnswerBytes > 4096 || (AnswerBytes & (AnswerBytes - 1)) != 0)
    begin : gen_check_answer_bytes
    $fatal(1, "ng_uart_bridge: AnswerBytes=%0d; expected 16 to 4096, a power of two", AnswerBytes);
  end
  if (TxBytes < 16 || TxBytes > 65536 || (TxBytes & (TxBytes - 1)) != 0) begin : gen_check_tx_bytes
    $fatal(1, "ng_uart_bridge: TxBytes=%0d; expected 16 to 65536, a power of two", TxBytes);
  end
  if (RxBytes < 16 || RxBytes > 65536 || (RxBytes & (RxBytes - 1)) != 0) begin : gen_check_rx_bytes
    $fatal(1, "ng_uart_bridge: RxBytes=%0d; expected 16 to 65536, a power of two", RxBytes);
  end
  if (RxBytes < StreamWidth / 8) begin : gen_check_rx_word
    $fatal(1, "ng_uart_bridge: RxBytes=%0d with StreamWidth=%0d; expected a stream word or more",
           RxBytes, StreamWidth);
  end
  if (BusClocks < 16) begin : gen_check_bus_clocks
    $fatal(1, "ng_uart_bridge: BusClocks=%0d; expected 16 or more", BusClocks);
  end
  if (TimeoutClocks < 16) begin : gen_check_timeout_clocks
    $fatal(1, "ng_uart_bridge: TimeoutClocks=%0d; expected 16 or more", TimeoutClocks);
  end
`endif

  localparam logic [7:0] Flag = 8'h7E;
  localparam logic [7:0] Escape = 8'h7D;
  // bits of an answer's status
  localparam logic [7:0] StatusRefused = 8'h01;   // SLVERR
  localparam logic [7:0] StatusTimeout = 8'h02;   // the tile did not answer
  localparam logic [7:0] StatusCommand = 8'h04;   // no such command, cut off, or its answer is too long
  localparam logic [7:0] StatusAddress = 8'h08;   // no such register
  localparam logic [7:0] StatusFifo = 8'h10;      // no room, or nothing to read
  localparam logic [7:0] StatusNumber = 8'h40;    // not the number that was expected: not executed
  localparam logic [7:0] StatusFirst = 8'h80;     // no frame was executed before since the reset
  // words from 0x1000 on
  localparam logic [4:0] RegTxData = 5'd0;
  localparam logic [4:0] RegTxLast = 5'd1;
  localparam logic [4:0] RegTxSpace = 5'd2;
  localparam logic [4:0] RegTxCount = 5'd3;
  localparam logic [4:0] RegRxData = 5'd4;
  localparam logic [4:0] RegRxCount = 5'd5;
  localparam logic [4:0] RegReset = 5'd6;
  localparam logic [4:0] RegId = 5'd8;
  localparam logic [4:0] RegVersion = 5'd9;
  localparam logic [4:0] RegSizes = 5'd10;
  localparam logic [4:0] RegBadFrames = 5'd11;
  localparam logic [4:0] RegLoopCommand = 5'd12;
  localparam logic [4:0] RegLoopCount = 5'd13;
  localparam logic [4:0] RegLoopState = 5'd14;
  localparam logic [4:0] RegSink = 5'd15;
  localparam logic [4:0] RegResultHash = 5'd16;
  localparam logic [4:0] RegCycles = 5'd17;

  localparam int LengthWidth = $clog2(RequestBytes + 1);
  localparam int RequestWidth = $clog2(RequestBytes);
  localparam int AnswerCount = $clog2(AnswerBytes + 1);
  localparam int AnswerWidth = $clog2(AnswerBytes);
  localparam int TimeoutWidth = $clog2(TimeoutClocks + 1);
  localparam int TxWidth = $clog2(TxBytes + 1) - 2;
  localparam int RxWidth = $clog2(RxBytes + 1) - 2;

  // ---- the line
  logic       rx_valid, rx_broken, tx_valid, tx_ready;
  logic [7:0] rx_byte, tx_byte;
  ng_uart_rx #(
    .ClocksPerBit(ClocksPerBit)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .rx_i,
    .valid_o (rx_valid),
    .broken_o(rx_broken),
    .data_o  (rx_byte)
  );
  ng_uart_tx #(
    .ClocksPerBit(ClocksPerBit)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .valid_i(tx_valid),
    .ready_o(tx_ready),
    .data_i (tx_byte),
    .tx_o
  );

  // ---- frames
  logic                    framed_q, escape_q, bad_q;      // of the frame that comes
  logic [LengthWidth-1:0]  length_q;
  logic                    frame_q;                        // a good one is or waits to be executed
  logic [LengthWidth-1:0]  frame_length_q, pos_q;          // without its CRC
  logic                    bare_q;                         // a bare byte waits
  logic [15:0]             bad_frames_q;
  // ng-no-fault: it may count in any order, as long as it takes as long
  logic [TimeoutWidth-1:0] silence_q;
  logic                    flag, part, keep, overrun, ended, five, good, cut_off, idle, begins, finish;
  logic                    take_bare;                      // the bare byte is taken
  logic [7:0]              part_byte;
  logic [31:0]             rx_crc;
  assign begins = rx_valid & ~framed_q & ~locked_o & idle & ~bare_q & (rx_byte == Flag);
  assign flag = rx_valid & framed_q & (rx_byte == Flag);
  assign part = rx_valid & framed_q & (rx_byte != Flag) & (rx_byte != Escape);
  assign part_byte = {rx_byte[7:6], rx_byte[5] ^ escape_q, rx_byte[4:0]};
  // length_q cannot pass pos_q: the byte that would is not kept
  assign overrun = frame_q && length_q == pos_q;
  assign keep = part & ~length_q[RequestWidth] & ~overrun;
  assign ended = flag & ((|length_q) | bad_q);
  assign five = (|length_q[LengthWidth-1:3]) | (length_q[2] & (|length_q[1:0]));  // bytes or more
  assign good = ended & ~bad_q & ~escape_q & five & ~frame_q
      & (rx_crc == 32'hDEBB20E3);
  assign cut_off = silence_q == TimeoutWidth'(TimeoutClocks)
      // ng-no-fault: once locked, silence_q stands still, at few clocks
      && !locked_o;
  ng_crc32_serial u_rx_crc (
    .clk_i,
    .rst_ni,
    .clear_i(flag | begins),
    .valid_i(part),
    .data_i (part_byte),
    .crc_o  (rx_crc)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      framed_q     <= 1'b0;
      locked_o     <= 1'b0;
      escape_q     <= 1'b0;
      bad_q        <= 1'b0;
      length_q     <= '0;
      frame_q      <= 1'b0;
      bare_q       <= 1'b0;
      bad_frames_q <= '0;
      silence_q    <= '0;
    end else begin
      framed_q  <= locked_o | begins | (framed_q & ~cut_off);
      locked_o  <= locked_o | good;
      escape_q  <= rx_valid ? framed_q & (rx_byte == Escape) : escape_q & ~cut_off;
      bad_q     <= ~flag & ~begins & (bad_q | (rx_broken & framed_q) | (part & ~keep));
      length_q  <= flag | begins ? '0 : length_q + LengthWidth'(keep);
      frame_q   <= good | (frame_q & ~finish);
      bare_q    <= (rx_valid & ~framed_q & ~locked_o & ~begins) | (bare_q & ~take_bare & ~cut_off);
      silence_q <= rx_valid | cut_off ? '0 : silence_q + TimeoutWidth'(!locked_o);
      if (ended & ~good) bad_frames_q <= bad_frames_q + 16'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (good) frame_length_q <= length_q - LengthWidth'(4);
  end
  logic [7:0] request_byte;
  ng_ram #(
    .Width(8),
    .Depth(RequestBytes)
  ) u_request (
    .clk_i,
    .we_i   (keep),
    .waddr_i(length_q[RequestWidth-1:0]),
    .wdata_i(part_byte),
    .re_i   (1'b1),
    .raddr_i(pos_q[RequestWidth-1:0]),
    .rdata_o(request_byte)
  );

  // ---- commands: bytes of a frame, or bare ones
  typedef enum logic [2:0] {
    Command,
    Length,
    Address,
    Data,    // four bytes of a word to be written
    Access,
    Emit,    // four bytes of a word that was read
    Finish   // of a frame
  } state_e;
  state_e                 state_q;
  logic                   executing_q;  // a frame
  logic                   arrived_q;    // request_byte is the one at pos_q
  logic                   fetched_q;    // byte_q is it
  logic [7:0]             byte_q;       // of the frame, or the bare one that waits
  logic                   read_q, fixed_q, far_q, any_q, first_q;
  logic [7:0]             words_q, expected_q, last_q, error_q;
  logic                   failed_q;     // what is read is ones
  logic [1:0]             count_q;
  logic [10:0]            addr_q;       // of a word
  logic [31:0]            data_q;
  logic                   have, takes, take, at_end, sending, is_command, word_done, last_word;
  logic                   is_next, is_before;
  assign at_end = executing_q && pos_q == frame_length_q;
  assign have = executing_q ? fetched_q & ~at_end : bare_q;
  assign takes = state_q == Command || state_q == Length || state_q == Address || state_q == Data;
  assign take = have & takes;
  assign take_bare = take & ~executing_q;
  assign idle = state_q == Command && !executing_q;
  assign is_command = ~(|byte_q[7:3]) & (byte_q[2] ? ~(|byte_q[1:0]) : (|byte_q[1:0]));  // 1 to 4
  // Where no frame is executed, pos_q is 0 and request_byte the number of the one that waits.
  assign is_next = request_byte == expected_q;
  assign is_before = any_q && request_byte == last_q;
  assign last_word = words_q == 8'd1;

  // ---- an access to a register
  logic        of_tile, of_bridge, host_request, host_reads, host_done, bus_refused, bus_timeout, access;
  logic        fifo_write, fifo_read, writable, readable, wrong, no_room, nothing;
  logic [4:0]  register;
  logic [31:0] value;
  assign register = addr_q[4:0];
  assign of_tile = ~far_q & ~addr_q[10];
  assign of_bridge = ~far_q & addr_q[10] & ~(|addr_q[9:5]);
  assign access = state_q == Access;
  assign host_request = access & of_tile;
  assign fifo_write = of_bridge & ~read_q & (register == RegTxData || register == RegTxLast);
  assign fifo_read = of_bridge & read_q & (register == RegRxData);
  assign writable = of_bridge & (register == RegTxData || register == RegTxLast || register == RegReset
      || register == RegLoopCommand || register == RegLoopCount || register == RegSink);
  // from RegTxSpace to RegRxCount, and from RegId to RegCycles
  assign readable = of_bridge & (register[4:1] == 4'd1 || register[4:1] == 4'd2 || register[4:3] == 2'd1
      || register[4:1] == 4'd8);
  assign wrong = ~(of_tile | (read_q ? readable : writable));
  logic [TxWidth-1:0] tx_space;
  logic [RxWidth-1:0] rx_words;
  logic               tx_partial, rx_word_valid;
  logic [31:0]        rx_data;
  assign no_room = fifo_write & ~(|tx_space);
  assign nothing = fifo_read & ~(|rx_words);
  // a word of results that has just come is not out of its memory yet
  assign word_done = access & (host_done | wrong | nothing | (of_bridge & (~fifo_read | rx_word_valid)));

  // ---- the bus, and the loop
  logic        we, loop_reads, loop_request, loop_write, loop_done, tile_error, bus_error, starts, sink_q, flush;
  logic [9:0]  loop_addr;
  logic [31:0] loop_command, loop_count, cycles, hash;
  assign we = access & of_bridge & ~read_q;
  assign flush = we && register == RegReset;
  ng_bridge_bus #(
    .BusClocks(BusClocks)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .host_i      (host_request),
    .loop_i      (loop_request),
    .host_write_i(~read_q),
    .loop_write_i(loop_write),
    .host_addr_i (addr_q[9:0]),
    .loop_addr_i (loop_addr),
    .host_data_i (data_q),
    .loop_data_i (loop_command),
    .host_done_o (host_done),
    .loop_done_o (loop_done),
    .refused_o   (bus_refused),
    .timeout_o   (bus_timeout),
    .host_reads_o(host_reads),
    .loop_reads_o(loop_reads),
    .m_axil_awvalid_o,
    .m_axil_awready_i,
    .m_axil_awaddr_o,
    .m_axil_wvalid_o,
    .m_axil_wready_i,
    .m_axil_wdata_o,
    .m_axil_wstrb_o,
    .m_axil_bvalid_i,
    .m_axil_bready_o,
    .m_axil_bresp_i,
    .m_axil_arvalid_o,
    .m_axil_arready_i,
    .m_axil_araddr_o,
    .m_axil_rvalid_i,
    .m_axil_rready_o,
    .m_axil_rresp_i
  );
  ng_bridge_loop u_loop (
    .clk_i,
    .rst_ni,
    .we_command_i(we && register == RegLoopCommand),
    .we_count_i  (we && register == RegLoopCount),
    .data_i      (data_q),
    .command_o   (loop_command),
    .count_o     (loop_count),
    .cycles_o    (cycles),
    .running_o,
    .tile_error_o(tile_error),
    .bus_error_o (bus_error),
    .starts_o    (starts),
    .request_o   (loop_request),
    .write_o     (loop_write),
    .addr_o      (loop_addr),
    .done_i      (loop_done),
    .error_i     (bus_refused | bus_timeout),
    .reads_i     (loop_reads),
    .status_i    (m_axil_rdata_i[15:0])
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sink_q <= 1'b0;
    else if (we && register == RegSink) sink_q <= data_q[0];
  end
  ng_bridge_streams #(
    .StreamWidth(StreamWidth),
    .TxBytes    (TxBytes),
    .RxBytes    (RxBytes)
  ) u_streams (
    .clk_i,
    .rst_ni,
    .flush_i      (flush),
    .tx_valid_i   (access & fifo_write),
    .tx_data_i    (data_q),
    .tx_last_i    (register[0]),
    .tx_space_o   (tx_space),
    .tx_partial_o (tx_partial),
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tlast_o,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .sink_i       (sink_q),
    .clear_hash_i (starts),
    .hash_o       (hash),
    .rx_valid_o   (rx_word_valid),
    .rx_ready_i   (access & fifo_read),
    .rx_data_o    (rx_data),
    .rx_words_o   (rx_words)
  );
  // words that have not left for the tile: TxBytes - space, rounded up, and what has left the queue
  logic [TxWidth:0] tx_words;
  assign tx_words = (TxWidth + 1)'(TxBytes / 4) - (TxWidth + 1)'(tx_space) + (TxWidth + 1)'(tx_partial);
  always_comb begin
    unique case (register)
      RegTxSpace: value = 32'(tx_space);
      RegTxCount: value = 32'(tx_words);
      RegRxCount: value = 32'(rx_words);
      RegId: value = 32'h4E474231;  // NGB1
      RegVersion: value = 32'h00010000;
      RegSizes: value = {8'h00, 8'(AnswerBytes / 16 - 1), 8'(RequestBytes / 16 - 1), 8'(StreamWidth / 8)};
      RegBadFrames: value = {16'h0000, bad_frames_q};
      RegLoopCommand: value = loop_command;
      RegLoopCount: value = loop_count;
      RegLoopState: value = {29'h0, bus_error, tile_error, running_o};
      RegSink: value = {31'h0, sink_q};
      RegResultHash: value = hash;
      RegCycles: value = cycles;
      default: value = rx_data;  // RegRxData
    endcase
  end

  // ---- from command to command
  logic                   loads, addresses, steps, emits;  // of count and address of the words
  logic [7:0]             words_left;
  logic [10:0]            addr_next;
  assign loads = state_q == Length && take;
  assign addresses = state_q == Address && take;
  assign steps = (word_done & ~read_q) | (emits & (&count_q));
  // One cell a bit loads or counts: what is added while a byte is loaded does not matter.
  assign words_left = words_q + {8{~loads}};
  assign addr_next = addr_q + ({11{addresses}} | 11'd1);
  logic                   answer_full, frame_fault, starts_frame, advances;
  logic [AnswerCount-1:0] answer_length_q;
  logic [7:0]             fault, access_fault;
  logic                   send_q;
  assign sending = send_q;
  assign starts_frame = frame_q & ~executing_q & ~sending & idle & ~bare_q;
  assign advances = take | starts_frame;
  assign answer_full = executing_q & answer_length_q[AnswerWidth];
  assign emits = state_q == Emit && (executing_q ? 1'b1 : tx_ready & ~sending);
  assign access_fault = wrong ? StatusAddress : no_room | nothing ? StatusFifo
      : of_tile ? (bus_timeout ? StatusTimeout : bus_refused ? StatusRefused : 8'h00) : 8'h00;
  // a frame ends within a command, has none there, reads too much, or an access went wrong
  assign frame_fault = executing_q & ((takes & at_end & (state_q != Command))
      | (take & (state_q == Command) & ~is_command) | (state_q == Emit & answer_full)
      | (word_done & (|access_fault)));
  assign fault = word_done ? access_fault : StatusCommand;
  // ng-no-fault: without a frame, arrived_q, fetched_q and pos_q clear themselves, so that they need no reset
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Command;
      executing_q <= 1'b0;
      arrived_q   <= 1'b0;
      fetched_q   <= 1'b0;
      count_q     <= '0;
      expected_q  <= '0;
      any_q       <= 1'b0;
      first_q     <= 1'b0;
      pos_q       <= '0;
    end else begin
      arrived_q   <= executing_q & ~take;
      fetched_q   <= executing_q & ~take & arrived_q;
      executing_q <= (starts_frame & is_next) | (executing_q & (state_q != Finish));
      pos_q       <= executing_q | starts_frame ? pos_q + LengthWidth'(advances) : '0;
      if (state_q == Finish) begin
        expected_q <= expected_q + 8'd1;
        any_q      <= 1'b1;
        first_q    <= ~any_q;
      end
      if (take | emits) count_q <= count_q + 2'd1;
      if (frame_fault) begin
        state_q <= Finish;
      end else if (cut_off & ~executing_q & takes) begin
        state_q <= Command;
        count_q <= '0;
      end else begin
        unique case (state_q)
          Command: begin
            count_q <= '0;
            if (at_end) state_q <= Finish;
            else if (take & is_command) state_q <= Length;
          end
          Length: begin
            count_q <= '0;
            if (take) state_q <= Address;
          end
          Address: if (take & (&count_q)) state_q <= |words_q ? (read_q ? Access : Data) : Command;
          Data: if (take & (&count_q)) state_q <= Access;
          Access:
          // ng-no-fault: count_q is 0 there already, behind the fourth byte
          if (word_done) begin
            count_q <= '0;
            state_q <= read_q ? Emit : last_word ? Command : Data;
          end
          Emit: if (emits & (&count_q)) state_q <= last_word ? Command : Access;
          default: state_q <= Command;
        endcase
      end
    end
  end
  always_ff @(posedge clk_i) begin
    // ng-no-fault: while a frame is executed no bare byte waits, so that ~bare_q alone would do
    if (executing_q | ~bare_q)
      byte_q <= executing_q ? request_byte : rx_byte;
    if (state_q == Finish) last_q <= expected_q;
    if (state_q == Command && take) begin
      read_q  <= ~byte_q[0];
      fixed_q <= byte_q[2] | (&byte_q[1:0]);
    end
    if (loads | steps) words_q <= loads ? byte_q : words_left;
    if (addresses | (steps & ~fixed_q)) addr_q <= addresses ? {addr_q[2:0], byte_q} : addr_next;
    if (addresses)
      far_q <= (far_q & (|count_q)) | (~(&count_q) & (count_q == 2'd2 ? |byte_q[7:3] : |byte_q));
    else if (steps & ~fixed_q & (&addr_q)) far_q <= 1'b1;
    if (emits | take) data_q <= {data_q[23:0], byte_q};
    else if (access & read_q & (of_bridge | host_reads)) data_q <= of_bridge ? value : m_axil_rdata_i;
    if (word_done) failed_q <= |access_fault;
    if (starts_frame & is_next) error_q <= 8'h00;
    else if (frame_fault) error_q <= fault;
    if (starts_frame & is_next) answer_length_q <= '0;
    else if (executing_q & emits & ~answer_full) answer_length_q <= answer_length_q + AnswerCount'(1);
  end

  // ---- answers
  logic [7:0]             answer_byte, plain;
  logic                   refused_q, none_before_q;  // the frame; none was executed before
  // ng-no-fault: data end after whole words, so that the top bit of sent_q is not needed to see it
  logic [AnswerCount-1:0] send_length, sent_q;  // of data
  logic [15:0]            credit_q;  // room for operands, then words of results
  logic [2:0]             phase_q;                // a byte in front of the data
  logic                   data_q_phase, crc_phase, body_ends, escaped_q, needs_escape, launch, again, refuse, goes, flags;
  logic [31:0]            tx_crc;
  logic                   unused_crc;
  assign unused_crc = ^tx_crc[31:8];
  localparam logic [2:0] PhaseData = 3'd6;
  localparam logic [2:0] PhaseCrc = 3'd7;
  typedef enum logic [1:0] {
    Open,    // the flag
    Body,
    Check,   // four bytes of CRC
    Close    // the flag, and the end
  } send_e;
  send_e      send_state_q;
  logic [1:0] crc_count_q;
  assign again = starts_frame & ~is_next & is_before;
  assign refuse = starts_frame & ~is_next & ~is_before;
  assign finish = state_q == Finish || again || refuse;
  assign launch = finish;
  // ng-no-fault: answers are whole words, so that two of the bits are always 0
  assign send_length = refused_q ? '0 : answer_length_q;
  assign data_q_phase = phase_q == PhaseData;
  assign crc_phase = send_state_q == Check;
  assign body_ends = phase_q == 3'd5
      // ng-no-fault: two of the bits are always 0
      && !(|send_length)
      || data_q_phase && sent_q + AnswerCount'(1) == send_length;
  assign flags = send_state_q == Open || send_state_q == Close;
  always_comb begin
    unique case (phase_q)
      3'd0: plain = refused_q ? expected_q : last_q;
      3'd1: plain = (refused_q ? StatusNumber : error_q) | (none_before_q ? StatusFirst : 8'h00);
      3'd2, 3'd4: plain = credit_q[15:8];
      3'd3, 3'd5: plain = credit_q[7:0];
      3'd6: plain = answer_byte;
      default: plain = ~tx_crc[7:0];
    endcase
  end
  assign needs_escape = ~flags & (plain == Flag || plain == Escape);
  assign tx_valid = sending | (state_q == Emit & ~executing_q);
  assign tx_byte = ~sending ? data_q[31:24] | {8{failed_q}} : flags ? Flag : needs_escape & ~escaped_q ? Escape
      : {plain[7:6], plain[5] ^ escaped_q, plain[4:0]};
  assign goes = sending & tx_ready & ~(needs_escape & ~escaped_q);  // the byte, not its escape
  // The bytes of the CRC itself take themselves off.
  ng_crc32_serial u_tx_crc (
    .clk_i,
    .rst_ni,
    .clear_i(launch),
    .valid_i(goes & ~flags),
    .data_i (plain ^ {8{crc_phase}}),
    .crc_o  (tx_crc)
  );
  ng_ram #(
    .Width(8),
    .Depth(AnswerBytes)
  ) u_answer (
    .clk_i,
    .we_i   (executing_q & emits & ~answer_full),
    .waddr_i(answer_length_q[AnswerWidth-1:0]),
    .wdata_i(data_q[31:24]),
    .re_i   (1'b1),
    .raddr_i(sent_q[AnswerWidth-1:0]),
    .rdata_o(answer_byte)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      send_q       <= 1'b0;
      escaped_q    <= 1'b0;
      send_state_q <= Open;
    end else begin
      send_q    <= launch | (send_q & ~(goes & (send_state_q == Close)));
      escaped_q <= sending & (tx_ready ? needs_escape & ~escaped_q : escaped_q);
      if (launch) begin
        send_state_q <= Open;
      end else if (goes) begin
        unique case (send_state_q)
          Open: send_state_q <= Body;
          Body: if (body_ends) send_state_q <= Check;
          Check: if (&crc_count_q) send_state_q <= Close;
          default: send_state_q <= Open;
        endcase
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (launch | (goes & (phase_q == 3'd3))) credit_q <= launch ? 16'(tx_space) : 16'(rx_words);
    if (launch) begin
      refused_q     <= refuse;
      none_before_q <= again ? first_q : ~any_q;
      phase_q       <= '0;
      sent_q        <= '0;
      crc_count_q   <= '0;
    end else if (goes) begin
      if (send_state_q == Body) begin
        if (data_q_phase) sent_q <= sent_q + AnswerCount'(1);
        if (body_ends) phase_q <= PhaseCrc;
        else if (~data_q_phase) phase_q <= phase_q + 3'd1;
      end
      if (crc_phase) crc_count_q <= crc_count_q + 2'd1;
    end
  end

endmodule
