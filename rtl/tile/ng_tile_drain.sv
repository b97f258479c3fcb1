// SPDX-License-Identifier: Apache-2.0
// Multiplies the rows of results of the array by the FP32 scale of their job, rounded to nearest
// even, turns them to BF16 if the job says so, and packs them into words of the stream: element 0
// lowest, each row from a new word on, zeros after its last element. last_o on the last word of a
// command.
//
// StreamWidth / 32 numbers a cycle: a word a cycle in FP32, a word every two cycles in BF16.
// A job waits at the head of its queue from before its first row comes until its last number goes
// to be scaled. Pipeline: choose the numbers, scale, pack, queue of two words. ready_o, valid_o and
// data_o come from registers only. ScaleCuts: as many stages more in scaling; they stand still
// together, when a word waits for the queue.
//
// Requantize: BF16 numbers of jobs in a format of the set, the negative ones as +0 where the job
// says so, go through ng_tile_requantize, in the time that FP32 takes, and its images to the queue;
// numbers of other jobs behind them wait until they are there.
//
// Integers: numbers of jobs with int8, and no format in requantize_i, go through ng_tile_int8, a
// word every four cycles. Numbers of all jobs have one more stage, which is the cut of that.
module ng_tile_drain #(
  parameter int Rows        = 8,    // used with Requantize
  parameter int Cols        = 8,
  parameter int StreamWidth = 128,  // multiple of 32
  parameter int Lanes       = 16,   // used with Requantize
  parameter int FormatSet   = ng_format_set_pkg::Nvfp4,  // used with Requantize
  parameter int ScaleCuts   = 0,    // Cuts of ng_scale_fp32
  parameter bit Requantize  = 1'b0, // results can be in a format of the set
  parameter int RequantizeCuts = 0, // QuantizeCuts of ng_tile_requantize
  parameter bit Integers    = 1'b0  // results can be in INT8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Rows of FP32 numbers from the array.
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [Cols*32-1:0]     data_i,
  input  logic                   last_i,  // the last row of a job
  // Their job.
  input  ng_tile_pkg::job_t      job_i,
  input  ng_tile_pkg::requantize_job_t requantize_i,  // the job's rest; 0 without Requantize
  input  ng_tile_pkg::integer_t  integer_i,  // the job's rest; 0 without Integers
  output logic                   job_ready_o,
  // The stream.
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [StreamWidth-1:0] data_o,
  output logic                   last_o,
  output logic                   irq_o,   // with last_o: the command asks for an interrupt
  // numbers that have not left; those of a job that still waits are not counted
  output logic                   busy_o,
  input  logic                   clear_amax_i,  // amax_o begins again
  // largest magnitude of the numbers that ng_tile_requantize took
  output logic [14:0]            amax_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (StreamWidth < 32 || StreamWidth % 32 != 0) begin : gen_check_stream_width
    $fatal(1, "ng_tile_drain: StreamWidth=%0d; expected a multiple of 32, at least 32",
           StreamWidth);
  end
`endif

  localparam int Units = StreamWidth / 32;
  localparam int Groups = (Cols + Units - 1) / Units;         // groups of numbers a row
  localparam int GroupWidth = Groups > 1 ? $clog2(Groups) : 1;
  localparam int LastUnits = Cols - (Groups - 1) * Units;     // numbers in the last one

  // ---- choose
  logic [Groups*StreamWidth-1:0] row;
  logic [GroupWidth-1:0]         group_q;
  logic                          odd, row_end, choose, scale_ready;
  logic                          chosen_q, chosen_odd_q, chosen_row_end_q, chosen_job_end_q;
  logic [StreamWidth-1:0]        chosen_data_q;
  assign row = (Groups*StreamWidth)'(data_i);
  assign odd = Groups > 1 && group_q[0];
  assign row_end = Groups == 1 || group_q == GroupWidth'(Groups - 1);
  assign choose = ~chosen_q | scale_ready;
  assign ready_o = choose & row_end;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      group_q  <= '0;
      chosen_q <= 1'b0;
    end else if (choose) begin
      if (valid_i) group_q <= row_end ? '0 : group_q + 1'b1;
      chosen_q <= valid_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (choose & valid_i) begin
      chosen_data_q    <= row[group_q*StreamWidth +: StreamWidth];
      chosen_odd_q     <= odd;
      chosen_row_end_q <= row_end;
      chosen_job_end_q <= row_end & last_i;
    end
  end

  // ---- scale
  localparam int ScaleStages = ng_prim_pkg::cut_count(ScaleCuts);
  ng_tile_pkg::scale_flags_t             chosen, product;
  localparam int FlagsWidth = $bits(product);
  // what is being scaled: [0] goes in, the highest comes out
  logic [ScaleStages:0]                  product_valid;
  logic [(ScaleStages+1)*FlagsWidth-1:0] product_flags;
  logic                     scaled_q, scaled_odd_q, scaled_word_end_q, scaled_bf16_q, scaled_last_q,
      scaled_irq_q;
  logic [StreamWidth-1:0]   scaled_d, scaled_data_q;
  logic                     scaled_ready, word_end;
  assign scale_ready = ~scaled_q | scaled_ready;
  assign job_ready_o = chosen_q & chosen_job_end_q & scale_ready;
  ng_valid_pipe #(
    .Depth(ScaleStages)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (scale_ready),
    .valid_i(chosen_q),
    .valid_o(product_valid)
  );
  assign chosen.odd = chosen_odd_q;
  assign chosen.row_end = chosen_row_end_q;
  assign chosen.bf16 = job_i.bf16;
  assign chosen.last = chosen_job_end_q & job_i.final_tile;
  assign chosen.irq = job_i.irq;
  assign product_flags[FlagsWidth-1:0] = chosen;
  assign product = product_flags[ScaleStages*FlagsWidth +: FlagsWidth];
  for (genvar s = 0; s < ScaleStages; s++) begin : gen_stage
    ng_cut #(
      .Width (FlagsWidth),
      .Enable(1)
    ) u_flags (
      .clk_i,
      .en_i (scale_ready),
      .d_i  (product_flags[s*FlagsWidth +: FlagsWidth]),
      .q_o  (product_flags[(s+1)*FlagsWidth +: FlagsWidth])
    );
  end
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    logic [31:0] number;
    ng_scale_fp32 #(
      .Cuts(ScaleCuts)
    ) u_scale (
      .clk_i,
      .en_i (scale_ready),
      .a_i  (chosen_data_q[u*32 +: 32]),
      .b_i  (job_i.scale),
      .y_o  (number)
    );
    // Zeros after a row stay zeros whatever the scale is.
    if (u < LastUnits) begin : gen_number
      assign scaled_d[u*32 +: 32] = number;
    end else begin : gen_padding
      assign scaled_d[u*32 +: 32] = product.row_end ? '0 : number;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) scaled_q <= 1'b0;
    else if (scale_ready) scaled_q <= product_valid[ScaleStages];
  end
  always_ff @(posedge clk_i) begin
    if (scale_ready & product_valid[ScaleStages]) begin
      scaled_data_q     <= scaled_d;
      scaled_odd_q      <= product.odd;
      scaled_word_end_q <= word_end;
      scaled_bf16_q     <= product.bf16;
      scaled_last_q     <= product.last;
      scaled_irq_q      <= product.irq;
    end
  end

  // ---- integers: a stage more
  logic                         pack_ready, packing, packing_odd, packing_word_end, packing_bf16,
      packing_last, packing_irq;
  logic [StreamWidth-1:0]       packing_data, integer_word;
  ng_tile_pkg::requantize_job_t scaled_requantize_q, packing_requantize;
  logic                         packing_int8, staged;  // staged: a group is in that stage
  ng_tile_pkg::integer_flags_t  integers, product_integers, scaled_integers_q, packing_integers;
  if (Integers) begin : gen_integers
    localparam int Width = $bits(integers);
    logic [(ScaleStages+1)*Width-1:0] stages;
    logic [1:0]                       chosen_quarter_q;
    logic                             packing_q;
    always_ff @(posedge clk_i) begin
      if (choose & valid_i) chosen_quarter_q <= 2'(group_q);
    end
    assign integers.int8 = integer_i.int8;
    assign integers.zero_point = integer_i.zero_point;
    assign integers.quarter = chosen_quarter_q;
    assign integers.row_end = chosen_row_end_q;
    assign stages[Width-1:0] = integers;
    for (genvar s = 0; s < ScaleStages; s++) begin : gen_stage
      ng_cut #(
        .Width (Width),
        .Enable(1)
      ) u_integers (
        .clk_i,
        .en_i (scale_ready),
        .d_i  (stages[s*Width +: Width]),
        .q_o  (stages[(s+1)*Width +: Width])
      );
    end
    assign product_integers = stages[ScaleStages*Width +: Width];
    assign word_end = product_integers.int8 ? product.row_end | (&product_integers.quarter)
        : ~product.bf16 | product.odd | product.row_end;
    always_ff @(posedge clk_i) begin
      if (scale_ready & product_valid[ScaleStages]) scaled_integers_q <= product_integers;
    end
    assign scaled_ready = ~packing_q | pack_ready;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) packing_q <= 1'b0;
      else if (scaled_ready) packing_q <= scaled_q;
    end
    assign packing = packing_q;
    assign staged = packing_q;
    ng_cut #(
      .Width (StreamWidth + 5 + $bits(scaled_requantize_q) + Width),
      .Enable(1)
    ) u_packing (
      .clk_i,
      .en_i (scaled_ready),
      .d_i  ({scaled_data_q, scaled_odd_q, scaled_word_end_q, scaled_bf16_q, scaled_last_q,
          scaled_irq_q, scaled_requantize_q, scaled_integers_q}),
      .q_o  ({packing_data, packing_odd, packing_word_end, packing_bf16, packing_last,
          packing_irq, packing_requantize, packing_integers})
    );
    ng_tile_int8 #(
      .StreamWidth(StreamWidth),
      .LastUnits  (LastUnits)
    ) u_int8 (
      .clk_i,
      .en_i        (scaled_ready),
      .data_i      (scaled_data_q),
      .zero_point_i(scaled_integers_q.zero_point),
      .valid_i     (packing_q),
      .quarter_i   (packing_integers.quarter),
      .row_end_i   (packing_integers.row_end),
      .word_o      (integer_word)
    );
    assign packing_int8 = packing_integers.int8;
    logic unused_zero_point;
    assign unused_zero_point = ^packing_integers.zero_point;
  end else begin : gen_no_integers
    logic unused_integer;
    assign unused_integer = ^{integer_i, integers, product_integers, scaled_integers_q,
        packing_integers};
    assign {integers, product_integers, scaled_integers_q, packing_integers} = '0;
    assign word_end = ~product.bf16 | product.odd | product.row_end;
    assign scaled_ready = pack_ready;
    assign packing = scaled_q;
    assign staged = 1'b0;
    assign packing_data = scaled_data_q;
    assign packing_odd = scaled_odd_q;
    assign packing_word_end = scaled_word_end_q;
    assign packing_bf16 = scaled_bf16_q;
    assign packing_last = scaled_last_q;
    assign packing_irq = scaled_irq_q;
    assign packing_requantize = scaled_requantize_q;
    assign integer_word = '0;
    assign packing_int8 = 1'b0;
  end

  // ---- pack: a BF16 word is two groups, or the odd last one of a row
  logic [StreamWidth/2-1:0] half, low_q;
  logic [StreamWidth-1:0]   word;
  logic                     push, queue_ready;
  for (genvar u = 0; u < Units; u++) begin : gen_bf16
    ng_fp32_to_bf16 u_bf16 (
      .fp32_i(packing_data[u*32 +: 32]),
      .bf16_o(half[u*16 +: 16])
    );
  end
  // ng-no-fault(ng_tile): rows with an even number of groups have no BF16 number alone in a word;
  //   the prover does not know
  assign word = packing_int8 ? integer_word : ~packing_bf16 ? packing_data
      : packing_odd ? {half, low_q} : StreamWidth'(half);
  always_ff @(posedge clk_i) begin
    if (packing & ~packing_odd) low_q <= half;
  end

  // ---- images of operand A, beside it
  logic [StreamWidth+1:0] queued;
  logic                   requantizing;
  if (Requantize) begin : gen_requantize
    localparam int Numbers = Units < Cols ? Units : Cols;
    localparam int Width = $bits(requantize_i);
    logic [(ScaleStages+1)*Width-1:0] product_requantize;
    logic                             requantizes, beat_ready, image_valid, image_last, image_irq;
    logic [StreamWidth-1:0]           image_word;
    logic [Numbers*16-1:0]            numbers;
    // A BF16 NaN has the exponent and the highest bit of the fraction.
    for (genvar u = 0; u < Numbers; u++) begin : gen_relu
      logic [15:0] number;
      assign number = half[u*16 +: 16];
      assign numbers[u*16 +: 16] = packing_requantize.relu & number[15] & ~(&number[14:6]) ? '0
          : number;
    end
    assign requantizes = |packing_requantize.results;
    assign product_requantize[Width-1:0] = requantize_i;
    for (genvar s = 0; s < ScaleStages; s++) begin : gen_stage
      ng_cut #(
        .Width (Width),
        .Enable(1)
      ) u_requantize (
        .clk_i,
        .en_i (scale_ready),
        .d_i  (product_requantize[s*Width +: Width]),
        .q_o  (product_requantize[(s+1)*Width +: Width])
      );
    end
    always_ff @(posedge clk_i) begin
      if (scale_ready & product_valid[ScaleStages])
        scaled_requantize_q <= product_requantize[ScaleStages*Width +: Width];
    end
    ng_tile_requantize #(
      .Rows        (Rows),
      .Cols        (Cols),
      .StreamWidth (StreamWidth),
      .Lanes       (Lanes),
      .FormatSet   (FormatSet),
      .QuantizeCuts(RequantizeCuts)
    ) u_requantize (
      .clk_i,
      .rst_ni,
      .valid_i       (packing & requantizes),
      .ready_o       (beat_ready),
      .data_i        (numbers),
      .format_i      (packing_requantize.results),
      .tensor_scale_i(packing_requantize.tensor_scale),
      .end_i         (packing_requantize.row_end),
      .last_i        (packing_last),
      .irq_i         (packing_irq),
      .valid_o       (image_valid),
      .ready_i       (queue_ready),
      .data_o        (image_word),
      .last_o        (image_last),
      .irq_o         (image_irq),
      .busy_o        (requantizing),
      .clear_amax_i,
      .amax_o
    );
    assign pack_ready = requantizes ? beat_ready
        : ~packing_word_end | (queue_ready & ~requantizing);
    assign push = image_valid | (packing & packing_word_end & ~requantizes & ~requantizing);
    assign queued = image_valid ? {image_irq, image_last, image_word}
        : {packing_irq, packing_last, word};
  end else begin : gen_no_requantize
    logic unused_requantize;
    assign unused_requantize = ^{requantize_i, clear_amax_i, packing_requantize};
    assign scaled_requantize_q = '0;
    assign requantizing = 1'b0;
    assign amax_o = '0;
    assign pack_ready = ~packing_word_end | queue_ready;
    assign push = packing & packing_word_end;
    assign queued = {packing_irq, packing_last, word};
  end

  ng_fifo2 #(
    .Width(StreamWidth + 2)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(push),
    .ready_o(queue_ready),
    .data_i (queued),
    .valid_o,
    .ready_i,
    .data_o ({irq_o, last_o, data_o})
  );
  if (ScaleStages == 0) begin : gen_busy
    assign busy_o = scaled_q | staged | valid_o | requantizing;
  end else begin : gen_busy_stages
    assign busy_o = (|product_valid[ScaleStages:1]) | scaled_q | staged | valid_o
        | requantizing;
  end

endmodule
