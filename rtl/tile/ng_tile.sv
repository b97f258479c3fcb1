// SPDX-License-Identifier: Apache-2.0
// The accelerator: ng_mac_array between two double-banked operand buffers and a drain; control on
// AXI4-Lite, operands in and results out on AXI4-Stream. docs/units/tile.md has commands, images,
// counters and errors, docs/registers.md the registers.
//
//   s_axis -> queue -> loader -> buffer A, buffer B -> array -> drain -> m_axis
//             decoders   ^           ^ sequencer ----^    |       encoders
//                 load commands      ^ compute commands   scale, BF16 or operand A
//
// Loading, computing and draining go on at the same time: a word in, a beat, a word out every
// cycle.
// All handshake outputs come from registers: no combinational path from a ready or valid input to a
// ready or valid output.
//
// The first error is kept; from the cycle after it, stop: queued commands are dropped, the stream
// is accepted and dropped, no further beat is addressed, what the array has finished still leaves.
// CONTROL.soft_reset, which resets all but the registers' bus, ends it.
//
// Protect: images in the banks, and words and commands in the queues, have a parity bit each. It is
// looked at while they stand at the output, and an image's when the array takes it; a wrong one is
// an error.
//
// Deadline: while it is past, each tile of results ends with its next beat.
//
// Mx: the formats of the set are MX's; an image has the E8M0 scale of each vector above its elements.
//
// Width argument: an image is all that the array takes from a side in one beat. Its exact sums are
// argued in ng_mac_array, MaxBeats being kept by the sequencer.
module ng_tile #(
  parameter int Rows        = 8,
  parameter int Cols        = 8,
  parameter int Lanes       = 16,
  parameter int FormatSet   = ng_format_set_pkg::Nvfp4,  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ
  parameter int StreamWidth = 128,    // bits of a stream word, multiple of 32
  parameter int ADepth      = 512,    // images in a bank of A, power of two
  parameter int BDepth      = 128,    // images in a bank of B, power of two
  parameter int MaxBeats    = 65536,  // longest sum
  parameter bit Counters    = 1'b1,   // with activity counters
  parameter bit LoadCuts    = 1'b0,   // a register in the loader: whether a load fits
  // registers in the check of compute commands: 1 factors + 2 products
  parameter int CommandCuts = 0,
  // registers in the array's cells: 1 dot + 2 significand + 4 product + 8 sum
  parameter int CellCuts    = 0,
  parameter int ConvertCuts = 0,      // Cuts of ng_fixed_to_fp32
  parameter int ScaleCuts   = 0,      // Cuts of ng_scale_fp32
  parameter bit Requantize  = 1'b0,   // results can be operand A of the next product
  parameter int RequantizeCuts = 0,   // QuantizeCuts of ng_tile_requantize
  parameter bit Sparse      = 1'b0,   // A is 2:4 sparse
  parameter int Codec       = 0,      // decoders of compressed loads; 0: loads are as they are
  parameter int Encoders    = 0,      // encoders of compressed results; 0: results are as they are
  parameter bit Protect     = 1'b0,   // parity of banks and queues
  parameter bit Deadline    = 1'b0,   // with a deadline, at which sums end
  parameter bit Integers    = 1'b0,   // results can be in INT8
  parameter bit Mx          = 1'b0    // MX formats: E8M0 scales of 32 elements, sums in FP32
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Control and status, AXI4-Lite slave.
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [11:0]            s_axil_awaddr_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  input  logic [31:0]            s_axil_wdata_i,
  input  logic [3:0]             s_axil_wstrb_i,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  output logic [1:0]             s_axil_bresp_o,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  input  logic [11:0]            s_axil_araddr_i,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
  output logic [31:0]            s_axil_rdata_o,
  output logic [1:0]             s_axil_rresp_o,
  // Operands, AXI4-Stream.
  input  logic                   s_axis_tvalid_i,
  output logic                   s_axis_tready_o,
  input  logic [StreamWidth-1:0] s_axis_tdata_i,
  input  logic                   s_axis_tlast_i,
  // Results, AXI4-Stream.
  output logic                   m_axis_tvalid_o,
  input  logic                   m_axis_tready_i,
  output logic [StreamWidth-1:0] m_axis_tdata_o,
  output logic                   m_axis_tlast_o,
  output logic                   irq_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Rows < 1 || Rows > 255) begin : gen_check_rows
    $fatal(1, "ng_tile: Rows=%0d; expected 1 to 255", Rows);
  end
  if (Cols < 1 || Cols > 255) begin : gen_check_cols
    $fatal(1, "ng_tile: Cols=%0d; expected 1 to 255", Cols);
  end
  if (Lanes < 2 || Lanes > 255) begin : gen_check_lanes
    $fatal(1, "ng_tile: Lanes=%0d; expected 2 to 255", Lanes);
  end
  if (FormatSet < 1 || FormatSet > ng_format_set_pkg::All) begin : gen_check_format_set
    $fatal(1, "ng_tile: FormatSet=%0d; expected 1 to 15", FormatSet);
  end
  if (StreamWidth < 32 || StreamWidth > 2040 || StreamWidth % 32 != 0)
    begin : gen_check_stream_width
    $fatal(1, "ng_tile: StreamWidth=%0d; expected 32 to 2040, a multiple of 32", StreamWidth);
  end
  if (ADepth < 2 || ADepth > 32768 || (ADepth & (ADepth - 1)) != 0) begin : gen_check_a_depth
    $fatal(1, "ng_tile: ADepth=%0d; expected 2 to 32768, a power of two", ADepth);
  end
  if (BDepth < 2 || BDepth > 32768 || (BDepth & (BDepth - 1)) != 0) begin : gen_check_b_depth
    $fatal(1, "ng_tile: BDepth=%0d; expected 2 to 32768, a power of two", BDepth);
  end
  if (MaxBeats < 1) begin : gen_check_max_beats
    $fatal(1, "ng_tile: MaxBeats=%0d; expected 1 or more", MaxBeats);
  end
  if (CommandCuts < 0 || CommandCuts > 3) begin : gen_check_command_cuts
    $fatal(1, "ng_tile: CommandCuts=%0d; expected 0 to 3", CommandCuts);
  end
  if (CellCuts < 0 || CellCuts > 15) begin : gen_check_cell_cuts
    $fatal(1, "ng_tile: CellCuts=%0d; expected 0 to 15", CellCuts);
  end
  if (ConvertCuts < 0 || ConvertCuts > 3) begin : gen_check_convert_cuts
    $fatal(1, "ng_tile: ConvertCuts=%0d; expected 0 to 3", ConvertCuts);
  end
  if (ScaleCuts < 0 || ScaleCuts > 31) begin : gen_check_scale_cuts
    $fatal(1, "ng_tile: ScaleCuts=%0d; expected 0 to 31", ScaleCuts);
  end
  if (RequantizeCuts < 0 || RequantizeCuts > 127) begin : gen_check_requantize_cuts
    $fatal(1, "ng_tile: RequantizeCuts=%0d; expected 0 to 127", RequantizeCuts);
  end
  if (Sparse && (Lanes % 16 != 0 || Requantize)) begin : gen_check_sparse_lanes
    $fatal(1, "ng_tile: Sparse=1 with Lanes=%0d and Requantize=%0d; expected a multiple of 16, and 0",
           Lanes, Requantize);
  end
  if (Mx && Requantize) begin : gen_check_mx
    $fatal(1, "ng_tile: Mx=1 with Requantize=%0d; expected 0, since no unit makes E8M0 scales",
           Requantize);
  end
  if (Codec < 0 || Codec > 8) begin : gen_check_codec
    $fatal(1, "ng_tile: Codec=%0d; expected 0 to 8", Codec);
  end
  if (Encoders < 0 || Encoders > 8) begin : gen_check_encoders
    $fatal(1, "ng_tile: Encoders=%0d; expected 0 to 8", Encoders);
  end
`endif

  // Codes of STATUS.error.
  localparam logic [3:0] ErrorNone = 4'd0;
  localparam logic [3:0] ErrorLoad = 4'd1;
  localparam logic [3:0] ErrorCompute = 4'd2;
  localparam logic [3:0] ErrorQueueFull = 4'd3;
  localparam logic [3:0] ErrorShortStream = 4'd4;
  localparam logic [3:0] ErrorLongStream = 4'd5;
  localparam logic [3:0] ErrorMismatch = 4'd6;
  localparam logic [3:0] ErrorMetadata = 4'd7;
  localparam logic [3:0] ErrorCode = 4'd8;
  localparam logic [3:0] ErrorParity = 4'd9;

  localparam int QueueDepth = 4;
  localparam int SpaceWidth = $clog2(QueueDepth + 1);
  // Tiles of results between sequencer and drain, if Rows is 2 or more: one offered to the array, 3
  // in its stages, 1 each in accumulators, shadow registers and output queue, 1 in the drain. In an
  // array of one row the queue holds two. Each cut of CellCuts and ConvertCuts may hold one more: 5
  // at most.
  localparam int JobDepth = Rows > 1 && CellCuts == 0 && ConvertCuts == 0 ? 8 : 16;

  localparam bit HasFp4 = (FormatSet & ng_format_set_pkg::Nvfp4) != 0;
  localparam int Bits8 = Mx ? ng_format_set_pkg::MxBits8 : ng_format_set_pkg::Bits8;
  localparam int ElemWidth = (FormatSet & Bits8) != 0 ? 8 : 4;
  localparam bit HasScale = HasFp4 || Mx;
  localparam int Blocks = HasFp4 && !Mx ? Lanes / 16 : 1;
  localparam int AElements = Rows * Lanes * ElemWidth;
  localparam int BElements = Cols * (Sparse ? 2 : 1) * Lanes * ElemWidth;
  // with metadata
  localparam int AScales = Rows * (Sparse ? Lanes / 16 * (HasFp4 ? 40 : 32) : Blocks * 8);
  localparam int BScales = Cols * Blocks * 8;
  localparam int AImage = AElements + (HasScale || Sparse ? AScales : 0);
  localparam int BImage = BElements + (HasScale ? BScales : 0);
  localparam int AAddrWidth = $clog2(ADepth);
  localparam int BAddrWidth = $clog2(BDepth);
  localparam int Parity = Protect ? 1 : 0;  // bits of it that a queue has

  // ---- registers
  logic                           soft_reset, clear_counters, core_rst_n;
  logic                           busy, done_event, error_event;
  logic                           load_valid, load_ready, compute_valid, compute_ready;
  logic [SpaceWidth-1:0]          load_space, compute_space;
  logic [3:0]                     error_q, error_d;
  logic [31:0]                    done_count, loads_count;
  ng_tile_pkg::counters_t         counters;
  ng_tile_pkg::load_t             load;
  ng_tile_pkg::compute_t          compute;
  ng_tile_pkg::requantize_t       requantize;
  ng_tile_pkg::integer_t          integers;
  logic                           clear_amax, code_valid, load_compressed;
  logic [8:0]                     code_address;
  logic [20:0]                    code_data;
  logic [14:0]                    amax;
  logic                           compress, result_code_valid;
  logic [7:0]                     result_code_address;
  logic [15:0]                    result_code_data;
  logic                           deadline_valid, deadline_armed, late;
  logic [30:0]                    deadline_clocks, beats;
  ng_tile_regs #(
    .Rows       (Rows),
    .Cols       (Cols),
    .Lanes      (Lanes),
    .FormatSet  (FormatSet),
    .StreamWidth(StreamWidth),
    .ADepth     (ADepth),
    .BDepth     (BDepth),
    .MaxBeats   (MaxBeats),
    .Counters   (Counters),
    .Requantize (Requantize),
    .Sparse     (Sparse),
    .Codec      (Codec),
    .Encoders   (Encoders),
    .Protect    (Protect),
    .Deadline   (Deadline),
    .Integers   (Integers),
    .Mx         (Mx)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .soft_reset_o      (soft_reset),
    .clear_counters_o  (clear_counters),
    .clear_amax_o      (clear_amax),
    .busy_i            (busy),
    .load_space_i      (load_space),
    .compute_space_i   (compute_space),
    .error_i           (error_q),
    .done_event_i      (done_event),
    .error_event_i     (error_event),
    .irq_o,
    .load_valid_o      (load_valid),
    .load_panel_beats_o(load.beats),
    .load_compressed_o (load_compressed),
    .load_more_o       (load.more),
    .load_operand_o    (load.operand),
    .format_a_o        (compute.a_fmt),
    .format_b_o        (compute.b_fmt),
    .bf16_o            (compute.bf16),
    .scale_o           (compute.scale),
    .panels_a_o        (compute.a_panels),
    .panels_b_o        (compute.b_panels),
    .edge_rows_o       (compute.rows),
    .edge_cols_o       (compute.cols),
    .compute_valid_o   (compute_valid),
    .compute_beats_o   (compute.beats),
    .compute_flags_o   ({compute.part_a, compute.irq, compute.release_b, compute.release_a,
        compute.last, compute.first}),
    .done_count_i      (done_count),
    .loads_count_i     (loads_count),
    .results_o         (requantize.results),
    .relu_o            (requantize.relu),
    .tensor_scale_o    (requantize.tensor_scale),
    .amax_i            (amax),
    .int8_o            (integers.int8),
    .zero_point_o      (integers.zero_point),
    .code_valid_o      (code_valid),
    .code_data_o       (code_data),
    .code_address_o    (code_address),
    .compress_o        (compress),
    .result_code_valid_o  (result_code_valid),
    .result_code_data_o   (result_code_data),
    .result_code_address_o(result_code_address),
    .deadline_valid_o  (deadline_valid),
    .deadline_clocks_o (deadline_clocks),
    .deadline_armed_o  (deadline_armed),
    .beats_i           (beats),
    .late_i            (late),
    .counters_i        (counters)
  );

  // ---- reset of everything else
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) core_rst_n <= 1'b0;
    else core_rst_n <= ~soft_reset;
  end

  // ---- errors
  logic stop, load_error, short_error, long_error, compute_error, mismatch_error, metadata_error,
      code_error, full_error;
  assign stop = error_q != ErrorNone;
  assign full_error = (load_valid & ~load_ready) | (compute_valid & ~compute_ready);
  logic [3:0] error_kept;  // none of parity comes to it
  always_comb begin
    error_kept = error_q;
    if (!stop) begin
      if (load_error) error_kept = ErrorLoad;
      else if (compute_error) error_kept = ErrorCompute;
      else if (full_error) error_kept = ErrorQueueFull;
      else if (short_error) error_kept = ErrorShortStream;
      else if (long_error) error_kept = ErrorLongStream;
      else if (mismatch_error) error_kept = ErrorMismatch;
      else if (metadata_error) error_kept = ErrorMetadata;
      else if (code_error) error_kept = ErrorCode;
    end
  end
  assign error_event = ~stop && error_d != ErrorNone;
  always_ff @(posedge clk_i or negedge core_rst_n) begin
    if (!core_rst_n) error_q <= ErrorNone;
    else error_q <= error_d;
  end

  // ---- load commands
  logic               load_cmd_valid, load_cmd_ready, load_cmd_compressed;
  ng_tile_pkg::load_t load_cmd;
  localparam int LoadWidth = $bits(load) + 1;
  logic [LoadWidth-1:0]        load_in;
  logic [LoadWidth+Parity-1:0] load_out;
  assign load_in = {load_compressed, load};
  assign {load_cmd_compressed, load_cmd} = load_out[LoadWidth-1:0];
  ng_fifo #(
    .Width(LoadWidth + Parity),
    .Depth(QueueDepth)
  ) u_loads (
    .clk_i,
    .rst_ni (core_rst_n),
    .flush_i(stop),
    .valid_i(load_valid),
    .ready_o(load_ready),
    .data_i ((LoadWidth + Parity)'({^load_in, load_in})),
    .valid_o(load_cmd_valid),
    .ready_i(load_cmd_ready),
    .data_o (load_out),
    .space_o(load_space)
  );

  // ---- loading
  logic                   word_valid, word_ready, word_last;
  logic [StreamWidth-1:0] word;
  logic [StreamWidth:0]        word_in;
  logic [StreamWidth+Parity:0] word_out;
  assign word_in = {s_axis_tlast_i, s_axis_tdata_i};
  assign {word_last, word} = word_out[StreamWidth:0];
  ng_fifo2 #(
    .Width(StreamWidth + 1 + Parity)
  ) u_words (
    .clk_i,
    .rst_ni (core_rst_n),
    .valid_i(s_axis_tvalid_i),
    .ready_o(s_axis_tready_o),
    .data_i ((StreamWidth + 1 + Parity)'({^word_in, word_in})),
    .valid_o(word_valid),
    .ready_i(word_ready),
    .data_o (word_out)
  );

  logic                  a_open, a_last_word, a_write, a_complete, a_release;
  logic                  b_open, b_last_word, b_write, b_complete, b_release;
  logic [AAddrWidth:0]   a_filled, a_images;
  logic [BAddrWidth:0]   b_filled, b_images;
  logic [AAddrWidth-1:0] a_addr;
  logic [BAddrWidth-1:0] b_addr;
  logic [AImage-1:0]     a_image;
  logic [BImage-1:0]     b_image;
  logic                  bank_close, load_done, images_read, a_fault, b_fault;
  // What the loader takes: the stream, or what the decoders make of it.
  logic                   loader_valid, loader_ready, loader_last;
  logic [StreamWidth-1:0] loader_word;
  if (Codec != 0) begin : gen_decode
    logic                   compressed, decode_ready, decode_valid, decode_last;
    logic [StreamWidth-1:0] decode_word;
    assign compressed = load_cmd_valid & load_cmd_compressed;
    ng_tile_decode #(
      .StreamWidth(StreamWidth),
      .Decoders   (Codec)
    ) u_decode (
      .clk_i,
      .rst_ni      (core_rst_n),
      .table_we_i  (code_valid),
      .table_addr_i(code_address),
      .table_data_i(code_data),
      .valid_i     (word_valid & compressed & ~stop),
      .ready_o     (decode_ready),
      .data_i      (word),
      .last_i      (word_last),
      .valid_o     (decode_valid),
      .ready_i     (loader_ready & compressed),
      .data_o      (decode_word),
      .last_o      (decode_last),
      .fault_o     (code_error)
    );
    assign word_ready = compressed & ~stop ? decode_ready : loader_ready;
    assign loader_valid = compressed ? decode_valid : word_valid;
    assign loader_word = compressed ? decode_word : word;
    assign loader_last = compressed ? decode_last : word_last;
  end else begin : gen_no_decode
    logic unused_code;
    assign unused_code = ^{code_valid, code_address, code_data, load_cmd_compressed};
    assign code_error = 1'b0;
    assign word_ready = loader_ready;
    assign loader_valid = word_valid;
    assign loader_word = word;
    assign loader_last = word_last;
  end
  ng_tile_loader #(
    .ADepth(ADepth),
    .BDepth(BDepth),
    .LoadCuts(LoadCuts)
  ) u_loader (
    .clk_i,
    .rst_ni       (core_rst_n),
    .stop_i       (stop),
    .cmd_valid_i  (load_cmd_valid),
    .cmd_ready_o  (load_cmd_ready),
    .cmd_i        (load_cmd),
    .valid_i      (loader_valid),
    .ready_o      (loader_ready),
    .last_i       (loader_last),
    .a_open_i     (a_open),
    .a_filled_i   (a_filled),
    .a_last_word_i(a_last_word),
    .a_write_o    (a_write),
    .b_open_i     (b_open),
    .b_filled_i   (b_filled),
    .b_last_word_i(b_last_word),
    .b_write_o    (b_write),
    .close_o      (bank_close),
    .done_o       (load_done),
    .load_error_o (load_error),
    .short_error_o(short_error),
    .long_error_o (long_error)
  );
  ng_operand_buffer #(
    .Width      (AImage),
    .StreamWidth(StreamWidth),
    .Depth      (ADepth),
    .Protect    (Protect)
  ) u_a (
    .clk_i,
    .rst_ni     (core_rst_n),
    .open_o     (a_open),
    .filled_o   (a_filled),
    .last_word_o(a_last_word),
    .write_i    (a_write),
    .data_i     (loader_word),
    .close_i    (bank_close),
    .complete_o (a_complete),
    .images_o   (a_images),
    .read_i     (images_read),
    .addr_i     (a_addr),
    .image_o    (a_image),
    .fault_o    (a_fault),
    .release_i  (a_release)
  );
  ng_operand_buffer #(
    .Width      (BImage),
    .StreamWidth(StreamWidth),
    .Depth      (BDepth),
    .Protect    (Protect)
  ) u_b (
    .clk_i,
    .rst_ni     (core_rst_n),
    .open_o     (b_open),
    .filled_o   (b_filled),
    .last_word_o(b_last_word),
    .write_i    (b_write),
    .data_i     (loader_word),
    .close_i    (bank_close),
    .complete_o (b_complete),
    .images_o   (b_images),
    .read_i     (images_read),
    .addr_i     (b_addr),
    .image_o    (b_image),
    .fault_o    (b_fault),
    .release_i  (b_release)
  );

  // ---- compute commands
  localparam int CommandWidth = $bits(compute) + (Requantize ? $bits(requantize) : 0);
  localparam int ComputeWidth = CommandWidth + (Integers ? $bits(integers) : 0);
  logic                     compute_cmd_valid, compute_cmd_ready;
  ng_tile_pkg::compute_t    compute_cmd;
  ng_tile_pkg::requantize_t requantize_cmd;
  ng_tile_pkg::integer_t    integer_cmd;
  logic [CommandWidth-1:0]  command_in;
  logic [ComputeWidth-1:0]  compute_in;
  logic [ComputeWidth+Parity-1:0] compute_out;
  assign compute_cmd = compute_out[$bits(compute)-1:0];
  if (Requantize) begin : gen_compute_requantize
    assign command_in = {requantize, compute};
    assign requantize_cmd = compute_out[CommandWidth-1:$bits(compute)];
  end else begin : gen_compute
    logic unused_requantize;
    assign unused_requantize = ^requantize;
    assign command_in = compute;
    assign requantize_cmd = '0;
  end
  if (Integers) begin : gen_compute_integers
    assign compute_in = {integers, command_in};
    assign integer_cmd = compute_out[ComputeWidth-1:CommandWidth];
  end else begin : gen_no_compute_integers
    logic unused_integers;
    assign unused_integers = ^integers;
    assign compute_in = command_in;
    assign integer_cmd = '0;
  end
  ng_fifo #(
    .Width(ComputeWidth + Parity),
    .Depth(QueueDepth),
    .BlockRam(1'b1)
  ) u_computes (
    .clk_i,
    .rst_ni (core_rst_n),
    .flush_i(stop),
    .valid_i(compute_valid),
    .ready_o(compute_ready),
    .data_i ((ComputeWidth + Parity)'({^compute_in, compute_in})),
    .valid_o(compute_cmd_valid),
    .ready_i(compute_cmd_ready),
    .data_o (compute_out),
    .space_o(compute_space)
  );

  // ---- computing
  logic              array_valid, array_ready, array_first, array_last;
  logic [1:0]        array_a_fmt, array_b_fmt;
  logic [Rows-1:0]   array_row_en;
  logic [Cols-1:0]   array_col_en;
  logic              job_push, executing, starved;
  ng_tile_pkg::job_t job_in;
  ng_tile_pkg::requantize_job_t requantize_in;
  ng_tile_pkg::integer_t        integer_in;
  ng_tile_sequencer #(
    .Rows     (Rows),
    .Cols     (Cols),
    .FormatSet(FormatSet),
    .ADepth   (ADepth),
    .BDepth   (BDepth),
    .MaxBeats (MaxBeats),
    .CommandCuts(CommandCuts),
    .Requantize(Requantize),
    .Integers (Integers),
    .Deadline (Deadline)
  ) u_sequencer (
    .clk_i,
    .rst_ni          (core_rst_n),
    .stop_i          (stop),
    .late_i          (late),
    .cmd_valid_i     (compute_cmd_valid),
    .cmd_ready_o     (compute_cmd_ready),
    .cmd_i           (compute_cmd),
    .cmd_requantize_i(requantize_cmd),
    .cmd_integer_i   (integer_cmd),
    .a_complete_i    (a_complete),
    .a_images_i      (a_images),
    .a_addr_o        (a_addr),
    .a_release_o     (a_release),
    .b_complete_i    (b_complete),
    .b_images_i      (b_images),
    .b_addr_o        (b_addr),
    .b_release_o     (b_release),
    .read_o          (images_read),
    .array_valid_o   (array_valid),
    .array_ready_i   (array_ready),
    .array_first_o   (array_first),
    .array_last_o    (array_last),
    .array_a_fmt_o   (array_a_fmt),
    .array_b_fmt_o   (array_b_fmt),
    .array_row_en_o  (array_row_en),
    .array_col_en_o  (array_col_en),
    .job_valid_o     (job_push),
    .job_o           (job_in),
    .job_requantize_o(requantize_in),
    .job_integer_o   (integer_in),
    .busy_o          (executing),
    .starved_o       (starved),
    .compute_error_o (compute_error),
    .mismatch_error_o(mismatch_error)
  );

  if (Deadline) begin : gen_deadline
    ng_tile_deadline u_deadline (
      .clk_i,
      .rst_ni  (core_rst_n),
      .start_i (deadline_valid),
      .armed_i (deadline_armed),
      .clocks_i(deadline_clocks),
      .beat_i  (images_read),
      .late_o  (late),
      .beats_o (beats)
    );
  end else begin : gen_no_deadline
    logic unused_deadline;
    assign unused_deadline = ^{deadline_valid, deadline_armed, deadline_clocks};
    assign late = 1'b0;
    assign beats = '0;
  end

  logic [AScales-1:0] a_scale;
  logic [BScales-1:0] b_scale;
  if (HasScale || Sparse) begin : gen_scales
    assign a_scale = a_image[AImage-1 -: AScales];
  end else begin : gen_no_scales
    assign a_scale = '0;
  end
  if (HasScale) begin : gen_b_scales
    assign b_scale = b_image[BImage-1 -: BScales];
  end else begin : gen_no_b_scales
    assign b_scale = '0;
  end

  logic               row_valid, row_ready, row_last;
  logic [Cols*32-1:0] row;
  ng_mac_array #(
    .Rows     (Rows),
    .Cols     (Cols),
    .Lanes    (Lanes),
    .FormatSet(FormatSet),
    .MaxBeats (MaxBeats),
    .CellCuts (CellCuts),
    .ConvertCuts(ConvertCuts),
    .Sparse   (Sparse),
    .Mx       (Mx)
  ) u_array (
    .clk_i,
    .rst_ni   (core_rst_n),
    .valid_i  (array_valid),
    .ready_o  (array_ready),
    .first_i  (array_first),
    .last_i   (array_last),
    .a_fmt_i  (array_a_fmt),
    .b_fmt_i  (array_b_fmt),
    .row_en_i (array_row_en),
    .col_en_i (array_col_en),
    .a_i      (a_image[AElements-1:0]),
    .b_i      (b_image[BElements-1:0]),
    .a_scale_i(a_scale),
    .b_scale_i(b_scale),
    .valid_o  (row_valid),
    .ready_i  (row_ready),
    .data_o   (row),
    .last_o   (row_last),
    .error_o  (metadata_error)
  );

  // ---- draining
  logic                              job_valid, job_pop, draining;
  logic                              unused_job_ready;
  logic [$clog2(JobDepth + 1)-1:0]   unused_job_space;
  localparam int ResultWidth = $bits(job_in) + (Requantize ? $bits(requantize_in) : 0);
  localparam int JobWidth = ResultWidth + (Integers ? $bits(integer_in) : 0);
  logic [ResultWidth-1:0]            result_queued;
  logic [JobWidth-1:0]               job_queued;
  logic [JobWidth+Parity-1:0]        job_out;
  ng_tile_pkg::job_t                 job;
  ng_tile_pkg::requantize_job_t      requantize_job;
  ng_tile_pkg::integer_t             integer_job;
  assign job = job_out[$bits(job)-1:0];
  if (Requantize) begin : gen_job_requantize
    assign result_queued = {requantize_in, job_in};
    assign requantize_job = job_out[ResultWidth-1:$bits(job)];
  end else begin : gen_job
    logic unused_requantize;
    assign unused_requantize = ^requantize_in;
    assign result_queued = job_in;
    assign requantize_job = '0;
  end
  if (Integers) begin : gen_job_integers
    assign job_queued = {integer_in, result_queued};
    assign integer_job = job_out[JobWidth-1:ResultWidth];
  end else begin : gen_no_job_integers
    logic unused_integer;
    assign unused_integer = ^integer_in;
    assign job_queued = result_queued;
    assign integer_job = '0;
  end
  ng_fifo #(
    .Width(JobWidth + Parity),
    .Depth(JobDepth),
    .BlockRam(1'b1)
  ) u_jobs (
    .clk_i,
    .rst_ni (core_rst_n),
    .flush_i(1'b0),
    .valid_i(job_push),
    .ready_o(unused_job_ready),
    .data_i ((JobWidth + Parity)'({^job_queued, job_queued})),
    .valid_o(job_valid),
    .ready_i(job_pop),
    .data_o (job_out),
    .space_o(unused_job_space)
  );
  logic                   result_valid, result_ready, result_last, result_irq;
  logic [StreamWidth-1:0] result;
  ng_tile_drain #(
    .Rows       (Rows),
    .Cols       (Cols),
    .StreamWidth(StreamWidth),
    .Lanes      (Lanes),
    .FormatSet  (FormatSet),
    .ScaleCuts  (ScaleCuts),
    .Requantize (Requantize),
    .RequantizeCuts(RequantizeCuts),
    .Integers   (Integers)
  ) u_drain (
    .clk_i,
    .rst_ni     (core_rst_n),
    .valid_i    (row_valid),
    .ready_o    (row_ready),
    .data_i     (row),
    .last_i     (row_last),
    .job_i      (job),
    .requantize_i(requantize_job),
    .integer_i  (integer_job),
    .job_ready_o(job_pop),
    .valid_o    (result_valid),
    .ready_i    (result_ready),
    .data_o     (result),
    .last_o     (result_last),
    .irq_o      (result_irq),
    .busy_o     (draining),
    .clear_amax_i(clear_amax),
    .amax_o     (amax)
  );

  // ---- parity of what stands at the outputs of queues and banks
  if (Protect) begin : gen_parity
    logic fault, fault_q;
    assign fault = (load_cmd_valid & (^load_out)) | (word_valid & (^word_out)) |
                   (compute_cmd_valid & (^compute_out)) | (job_valid & (^job_out)) |
                   (array_valid & array_ready & (a_fault | b_fault));
    always_ff @(posedge clk_i or negedge core_rst_n) begin
      if (!core_rst_n) fault_q <= 1'b0;
      else fault_q <= fault;
    end
    assign error_d = error_kept == ErrorNone && fault_q ? ErrorParity : error_kept;
  end else begin : gen_no_parity
    logic unused_parity;
    assign unused_parity = a_fault ^ b_fault;
    assign error_d = error_kept;
  end

  // ---- results leave
  logic left, done_irq, encoding;
  if (Encoders != 0) begin : gen_results
    ng_tile_results #(
      .StreamWidth(StreamWidth),
      .Encoders   (Encoders)
    ) u_results (
      .clk_i,
      .rst_ni      (core_rst_n),
      .compress_i  (compress),
      .table_we_i  (result_code_valid),
      .table_addr_i(result_code_address),
      .table_data_i(result_code_data),
      .valid_i     (result_valid),
      .ready_o     (result_ready),
      .data_i      (result),
      .last_i      (result_last),
      .irq_i       (result_irq),
      .valid_o     (m_axis_tvalid_o),
      .ready_i     (m_axis_tready_i),
      .data_o      (m_axis_tdata_o),
      .last_o      (m_axis_tlast_o),
      .irq_o       (done_irq),
      .busy_o      (encoding)
    );
  end else begin : gen_no_results
    logic unused_compress;
    assign unused_compress = ^{compress, result_code_valid, result_code_data, result_code_address};
    assign result_ready = m_axis_tready_i;
    assign m_axis_tvalid_o = result_valid;
    assign m_axis_tdata_o = result;
    assign m_axis_tlast_o = result_last;
    assign done_irq = result_irq;
    assign encoding = 1'b0;
  end
  assign left = m_axis_tvalid_o & m_axis_tready_i & m_axis_tlast_o;
  assign done_event = left & done_irq;

  // ---- status and counters
  logic computing;
  // an empty queue alone has that bit
  assign computing = ~compute_space[SpaceWidth-1] | executing | job_valid | draining
      | (encoding & ~stop);
  assign busy = load_cmd_valid | computing;
  ng_tile_tally u_done (
    .clk_i,
    .rst_ni (core_rst_n),
    .event_i(left),
    .count_o(done_count)
  );
  ng_tile_tally u_loaded (
    .clk_i,
    .rst_ni (core_rst_n),
    .event_i(load_done),
    .count_o(loads_count)
  );
  if (Counters) begin : gen_counters
    ng_tile_counters #(
      .Rows     (Rows),
      .Cols     (Cols),
      .Lanes    (Lanes),
      .FormatSet(FormatSet),
      .Sparse   (Sparse),
      .Mx       (Mx)
    ) u_counters (
      .clk_i,
      .rst_ni    (core_rst_n),
      .clear_i   (clear_counters),
      .busy_i    (computing),
      .stall_in_i(starved),
      .valid_i   (array_valid),
      .ready_i   (array_ready),
      .fmt_i     (array_a_fmt),
      .row_en_i  (array_row_en),
      .col_en_i  (array_col_en),
      .a_i       (a_image[AElements-1:0]),
      .b_i       (b_image[BElements-1:0]),
      .counters_o(counters)
    );
  end else begin : gen_no_counters
    logic unused_counters;
    assign unused_counters = clear_counters ^ starved;
    assign counters = '0;
  end

endmodule
