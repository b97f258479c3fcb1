// SPDX-License-Identifier: Apache-2.0
// Executes compute commands in order: reads the images of panel i of A and panel j of B from the
// current banks, for i, for j (inner), for k, and offers them to the array; says for each tile of
// results what the drain has to know.
//
// A beat every cycle, also from tile to tile and from command to command, as long as its images are
// there and the array is ready: a command starts while its banks are being filled, and waits at
// each image that has not come. Only its last beat waits for complete banks, too. Pipeline: the
// command is taken from its queue and checked; images are addressed; one cycle later they stand at
// the buffers' outputs, and array_valid_o with them.
// Bank released by a command: in the cycle in which its last image is addressed.
//
// part_a: the bank of A holds more than this command takes. It takes the images behind those that
// the command before it took, if that one was of the same sum, had part_a and did not release the
// bank; else from the first one on.
//
// Errors, as pulses, in the order of the commands:
//   compute_error_o   format not in the set, or formats that do not go together; no panels or
//                     beats; rows or cols 0 or beyond the array; first or last missing with more
//                     than one panel; first missing where no sum is open, or set where one is; sum
//                     of more than MaxBeats beats
//   mismatch_error_o  panels x beats are more images than a bank can hold; a bank is complete and
//                     holds another number of them; with part_a, a bank of A is complete and ends
//                     before the command
// A command with the first kind is not executed; of one with the second, no beat is addressed from
// the cycle on in which the error shows, which is before the first one if the banks are complete by
// then. No image is ever read that the bank does not hold.
// stop_i: no further beat is addressed. The command is forgotten; the beat that stands at the array
// stays.
//
// late_i, of a tile with a deadline: each tile of results ends with the next beat that is addressed
// for it, and the images of its other beats are passed over. All else is as without.
//
// CommandCuts: registers in what is checked of a command while it waits at the head of its queue,
// where it does not change; it is taken a cycle later for each. CommandCutFactors: the counts of
// beats and panels, as they come; CommandCutProducts: their products, and the beats of the sum.
// They have an enable: Yosys 0.23 (ice40_dsp) loses the registers of two products that stand in
// one cut without.
//
// Width argument. A legal command has panels x beats <= Depth for both operands, else it is
// refused: the counters of beats and panels need clog2(Depth) bits. The product is formed of
// AddrWidth + 1 bits of its factors; that factors have more, or the product is beyond Depth, a
// power of two, is noted beside it. Addresses of A go up to Depth, behind a bank that is full. A
// sum that goes on has at most MaxBeats beats, to which a command adds 16 bits.
module ng_tile_sequencer #(
  parameter int Rows      = 8,
  parameter int Cols      = 8,
  parameter int FormatSet = ng_format_set_pkg::All,
  parameter int ADepth    = 512,
  parameter int BDepth    = 128,
  parameter int MaxBeats  = 65536,
  parameter int CommandCuts = 0,  // registers at places of ng_tile_pkg: 1 factors + 2 products
  parameter bit Requantize = 1'b0,  // commands have formats of results
  parameter bit Integers   = 1'b0,  // commands can have results in INT8
  parameter bit Deadline   = 1'b0,  // late_i counts
  localparam int AAddrWidth = $clog2(ADepth),
  localparam int BAddrWidth = $clog2(BDepth)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   stop_i,
  input  logic                   late_i,
  // Commands.
  input  logic                   cmd_valid_i,
  output logic                   cmd_ready_o,
  // ng-no-fault(ng_tile): a command of more than MaxBeats = 16 beats is refused, whatever the bits
  //   of 256 beats and more do to another field
  input  ng_tile_pkg::compute_t  cmd_i,
  input  ng_tile_pkg::requantize_t cmd_requantize_i,  // the command's rest; 0 without Requantize
  input  ng_tile_pkg::integer_t  cmd_integer_i,  // the command's rest; 0 without Integers
  // The buffers.
  input  logic                   a_complete_i,
  input  logic [AAddrWidth:0]    a_images_i,
  output logic [AAddrWidth-1:0]  a_addr_o,
  output logic                   a_release_o,
  input  logic                   b_complete_i,
  input  logic [BAddrWidth:0]    b_images_i,
  output logic [BAddrWidth-1:0]  b_addr_o,
  output logic                   b_release_o,
  output logic                   read_o,       // of both
  // The array; its operands come from the buffers.
  output logic                   array_valid_o,
  input  logic                   array_ready_i,
  output logic                   array_first_o,
  output logic                   array_last_o,
  output logic [1:0]             array_a_fmt_o,
  output logic [1:0]             array_b_fmt_o,
  output logic [Rows-1:0]        array_row_en_o,
  output logic [Cols-1:0]        array_col_en_o,
  // The drain: one word for each tile of results.
  output logic                   job_valid_o,
  output ng_tile_pkg::job_t      job_o,
  output ng_tile_pkg::requantize_job_t job_requantize_o,
  output ng_tile_pkg::integer_t        job_integer_o,
  // What goes on.
  output logic                   busy_o,       // a command is in execution
  output logic                   starved_o,    // and waits for images
  output logic                   compute_error_o,
  output logic                   mismatch_error_o
);

  localparam bit HasFp4 = (FormatSet & ng_format_set_pkg::Nvfp4) != 0;
  localparam bit HasE4m3 = (FormatSet & ng_format_set_pkg::E4m3) != 0;
  localparam bit HasE5m2 = (FormatSet & ng_format_set_pkg::E5m2) != 0;
  localparam bit HasLuq = (FormatSet & ng_format_set_pkg::Luq) != 0;
  localparam int KWidth = AAddrWidth < BAddrWidth ? AAddrWidth : BAddrWidth;
  localparam int SumWidth = $clog2(MaxBeats + 1);
  localparam int NextWidth = SumWidth > 16 ? SumWidth + 1 : 17;

  // ---- take a command and check what can be checked without the banks
  logic                      valid_q, bad_q, take, command_end;
  logic                      open_q;             // a sum goes on in the array
  logic [SumWidth-1:0]       sum_q;              // beats of it
  logic [AAddrWidth:0]       a_images_q;
  logic [BAddrWidth:0]       b_images_q;
  logic                      beyond_q;

  // It is taken when it has been at the head of its queue for as many cycles as what is checked of
  // it has cuts.
  localparam int Checks = ng_prim_pkg::cut_count(CommandCuts);
  logic [Checks:0] checked;
  assign checked[0] = 1'b1;
  for (genvar c = 0; c < Checks; c++) begin : gen_check
    logic checked_q;
    assign checked[c+1] = checked_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) checked_q <= 1'b0;
      else checked_q <= cmd_valid_i & checked[c] & ~take;
    end
  end
  assign cmd_ready_o = checked[Checks] & (~valid_q | command_end);
  assign take = cmd_valid_i & cmd_ready_o & ~stop_i;

  // Factors: the bits of the counts of panels that are multiplied, and whether there are bits above
  // them.
  logic                a_fp8, b_fp8, results_bad, format_bad_d, format_bad, edge_bad_d, edge_bad,
      a_high, b_high, first, last;
  logic [AAddrWidth:0] a_panels;
  logic [BAddrWidth:0] b_panels;
  logic [15:0]         beats;
  assign a_fp8 = (HasE4m3 && cmd_i.a_fmt == 2'(ng_format_set_pkg::CodeE4m3))
      || (HasE5m2 && cmd_i.a_fmt == 2'(ng_format_set_pkg::CodeE5m2));
  assign b_fp8 = (HasE4m3 && cmd_i.b_fmt == 2'(ng_format_set_pkg::CodeE4m3))
      || (HasE5m2 && cmd_i.b_fmt == 2'(ng_format_set_pkg::CodeE5m2));
  // Of results at most one format, of the set.
  assign results_bad = Requantize && ((cmd_requantize_i.results & ~(4'(FormatSet))) != '0 ||
                                           (cmd_requantize_i.results
                                               & (cmd_requantize_i.results - 4'd1)) != '0);
  assign format_bad_d = results_bad ||
                        (~(a_fp8 & b_fp8)
                            && !(HasFp4 && cmd_i.a_fmt == 2'(ng_format_set_pkg::CodeNvfp4)
                            && cmd_i.b_fmt == 2'(ng_format_set_pkg::CodeNvfp4)) &&
                         !(HasLuq && cmd_i.a_fmt == 2'(ng_format_set_pkg::CodeLuq)
                             && cmd_i.b_fmt == 2'(ng_format_set_pkg::CodeLuq)));
  assign edge_bad_d = cmd_i.rows == '0 || cmd_i.rows > 8'(Rows) || cmd_i.cols == '0
      || cmd_i.cols > 8'(Cols);
  ng_cut #(
    .Width (AAddrWidth + BAddrWidth + 24),
    .Enable(CommandCuts & ng_tile_pkg::CommandCutFactors)
  ) u_factors (
    .clk_i,
    .en_i (cmd_valid_i),
    .d_i  ({cmd_i.a_panels[AAddrWidth:0], (cmd_i.a_panels >> (AAddrWidth + 1)) != '0,
        cmd_i.b_panels[BAddrWidth:0],
            (cmd_i.b_panels >> (BAddrWidth + 1)) != '0, cmd_i.beats, cmd_i.first, cmd_i.last,
                format_bad_d, edge_bad_d}),
    .q_o  ({a_panels, a_high, b_panels, b_high, beats, first, last, format_bad, edge_bad})
  );

  // Products: images of the command, and beats of the sum with those before it.
  logic                    shape_bad, sum_bad, bad_d, bad, a_beyond_d, a_beyond, b_beyond_d,
      b_beyond;
  logic [2*AAddrWidth+1:0] a_product_d, a_product;
  logic [2*BAddrWidth+1:0] b_product_d, b_product;
  // ng-no-fault: a sum above MaxBeats is refused whatever its lower bits are; the prover does not
  //   know
  logic [NextWidth-1:0]    sum_d, sum;
  assign shape_bad = (!a_high && a_panels == '0) || (!b_high && b_panels == '0) || beats == '0
      || edge_bad;
  assign sum_bad = first == open_q ||
                   (!(first && last) && (a_high || b_high || a_panels != (AAddrWidth+1)'(1)
                       || b_panels != (BAddrWidth+1)'(1)));
  assign bad_d = format_bad | shape_bad | sum_bad;
  assign a_beyond_d = a_high || (beats >> (AAddrWidth + 1)) != '0;
  assign b_beyond_d = b_high || (beats >> (BAddrWidth + 1)) != '0;
  assign a_product_d = (2*AAddrWidth+2)'(a_panels) * (2*AAddrWidth+2)'(beats[AAddrWidth:0]);
  assign b_product_d = (2*BAddrWidth+2)'(b_panels) * (2*BAddrWidth+2)'(beats[BAddrWidth:0]);
  // ng-no-fault: a sum above MaxBeats is refused whatever its lower bits are; the prover does not
  //   know
  assign sum_d = (first ? '0 : NextWidth'(sum_q)) + NextWidth'(beats);
  ng_cut #(
    .Width (2 * AAddrWidth + 2 * BAddrWidth + 7 + NextWidth),
    .Enable(CommandCuts & ng_tile_pkg::CommandCutProducts)
  ) u_products (
    .clk_i,
    .en_i (cmd_valid_i),
    .d_i  ({a_product_d, b_product_d, sum_d, bad_d, a_beyond_d, b_beyond_d}),
    .q_o  ({a_product, b_product, sum, bad, a_beyond, b_beyond})
  );

  // ---- the command in execution
  logic                  first_q, last_q, release_a_q, release_b_q, part_a_q, irq_q, bf16_q;
  logic [31:0]           scale_q;
  logic [1:0]            a_fmt_q, b_fmt_q;
  // ng-no-fault: a command that is executed has one row or more, so the lowest bit is always 1; the
  //   prover does not know
  logic [Rows-1:0]       row_edge_q;
  logic [Cols-1:0]       col_edge_q;
  logic [AAddrWidth-1:0] i_max_q;
  logic [BAddrWidth-1:0] j_max_q;
  logic [KWidth-1:0]     k_max_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      bad_q       <= bad || sum > NextWidth'(MaxBeats);
      beyond_q    <= a_beyond || (a_product >> (AAddrWidth + 1)) != '0
          || (a_product[AAddrWidth] && a_product[AAddrWidth-1:0] != '0) ||
                     b_beyond || (b_product >> (BAddrWidth + 1)) != '0
                         || (b_product[BAddrWidth] && b_product[BAddrWidth-1:0] != '0);
      a_images_q  <= a_product[AAddrWidth:0];
      b_images_q  <= b_product[BAddrWidth:0];
      first_q     <= cmd_i.first;
      last_q      <= cmd_i.last;
      release_a_q <= cmd_i.release_a;
      release_b_q <= cmd_i.release_b;
      part_a_q    <= cmd_i.part_a;
      irq_q       <= cmd_i.irq;
      bf16_q      <= cmd_i.bf16;
      scale_q     <= cmd_i.scale;
      a_fmt_q     <= cmd_i.a_fmt;
      b_fmt_q     <= cmd_i.b_fmt;
      row_edge_q  <= ~({Rows{1'b1}} << cmd_i.rows);
      col_edge_q  <= ~({Cols{1'b1}} << cmd_i.cols);
      i_max_q     <= AAddrWidth'(cmd_i.a_panels - 16'd1);
      j_max_q     <= BAddrWidth'(cmd_i.b_panels - 16'd1);
      k_max_q     <= KWidth'(cmd_i.beats - 16'd1);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      open_q  <= 1'b0;
      sum_q   <= '0;
    end else begin
      valid_q <= take | (valid_q & ~command_end & ~stop_i);
      if (take) begin
        open_q <= ~cmd_i.last;
        sum_q  <= sum[SumWidth-1:0];
      end
    end
  end

  // ---- address images
  logic [AAddrWidth-1:0] i_q;
  logic [AAddrWidth:0]   a_addr_q, a_panel_q;  // a_panel_q: first image of panel i
  logic [BAddrWidth-1:0] j_q, b_addr_q;
  logic [KWidth-1:0]     k_q;
  // The images behind those that are read; of the last beat of a tile, those behind the tile.
  logic [AAddrWidth:0]   a_next, a_next_panel;
  logic [BAddrWidth-1:0] b_next;
  logic                  a_there, b_there, there, wrong, last_beat, go, i_last, j_last, k_last,
      tile_end;
  assign a_there = a_addr_q < a_images_i;
  assign b_there = (BAddrWidth+1)'(b_addr_q) < b_images_i;
  assign there = a_there & b_there & (~last_beat
      | ((a_complete_i | (part_a_q & ~release_a_q)) & b_complete_i));
  assign wrong = beyond_q | (a_complete_i & (part_a_q ? ~a_there : a_images_i != a_images_q)) |
                 (b_complete_i & (b_images_i != b_images_q));
  // ng-no-fault: a beat more or less at the edge with an error is of a job whose results nobody
  //   gets; the cycle model sees it in lock-step
  assign go = valid_q & ~stop_i & ~bad_q & ~wrong & there & (~array_valid_o | array_ready_i);
  assign i_last = i_q == i_max_q;
  assign j_last = j_q == j_max_q;
  if (Deadline) begin : gen_late
    logic [KWidth-1:0] rest;  // beats that are passed over
    assign k_last = late_i || k_q == k_max_q;
    assign rest = k_max_q - k_q & {KWidth{late_i}};
    assign a_next = a_addr_q + 1'b1 + (AAddrWidth+1)'(rest);
    assign a_next_panel = a_next;
    assign b_next = b_addr_q + 1'b1 + BAddrWidth'(rest);
  end else begin : gen_no_late
    logic unused_late;
    assign unused_late = late_i;
    assign k_last = k_q == k_max_q;
    assign a_next = a_addr_q + 1'b1;
    assign a_next_panel = a_addr_q + 1'b1;
    assign b_next = b_addr_q + 1'b1;
  end
  assign last_beat = k_last & j_last & i_last;
  assign tile_end = go & k_last;
  assign command_end = go & last_beat;
  assign read_o = go;
  assign a_addr_o = a_addr_q[AAddrWidth-1:0];
  assign b_addr_o = b_addr_q;
  assign a_release_o = command_end & release_a_q;
  assign b_release_o = command_end & release_b_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      i_q       <= '0;
      j_q       <= '0;
      k_q       <= '0;
      b_addr_q  <= '0;
    end else if (go) begin
      k_q <= k_last ? '0 : k_q + 1'b1;
      if (k_last) j_q <= j_last ? '0 : j_q + 1'b1;
      if (k_last & j_last) i_q <= i_last ? '0 : i_q + 1'b1;
      b_addr_q <= k_last & j_last ? '0 : b_next;
    end
  end
  // Where the command starts, or goes on.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_addr_q  <= '0;
      a_panel_q <= '0;
    end else if ((take & (cmd_i.first | ~cmd_i.part_a))
        | (command_end & (release_a_q | ~part_a_q))) begin
      a_addr_q  <= '0;
      a_panel_q <= '0;
    end else if (go) begin
      a_addr_q <= k_last & ~j_last ? a_panel_q : a_next;
      if (k_last & j_last) a_panel_q <= a_next_panel;
    end
  end

  // ---- the beat at the array
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) array_valid_o <= 1'b0;
    else array_valid_o <= go | (array_valid_o & ~array_ready_i);
  end
  always_ff @(posedge clk_i) begin
    if (go) begin
      array_first_o  <= first_q && k_q == '0;
      array_last_o   <= last_q & k_last;
      array_a_fmt_o  <= a_fmt_q;
      array_b_fmt_o  <= b_fmt_q;
      array_row_en_o <= i_last ? row_edge_q : '1;
      array_col_en_o <= j_last ? col_edge_q : '1;
    end
  end

  assign job_valid_o = tile_end & last_q;
  assign job_o.scale = scale_q;
  assign job_o.bf16 = bf16_q;
  assign job_o.irq = irq_q;
  assign job_o.final_tile = i_last & j_last;
  ng_tile_pkg::requantize_t requantize_q;
  if (Requantize) begin : gen_requantize
    always_ff @(posedge clk_i) if (take) requantize_q <= cmd_requantize_i;
  end else begin : gen_no_requantize
    logic unused_requantize;
    assign unused_requantize = ^cmd_requantize_i;
    assign requantize_q = '0;
  end
  assign job_requantize_o.tensor_scale = requantize_q.tensor_scale;
  assign job_requantize_o.relu = requantize_q.relu;
  assign job_requantize_o.results = requantize_q.results & 4'(FormatSet);
  assign job_requantize_o.row_end = j_last;
  ng_tile_pkg::integer_t integer_q;
  if (Integers) begin : gen_integers
    always_ff @(posedge clk_i) if (take) integer_q <= cmd_integer_i;
  end else begin : gen_no_integers
    logic unused_integer;
    assign unused_integer = ^cmd_integer_i;
    assign integer_q = '0;
  end
  assign job_integer_o = integer_q;
  assign busy_o = valid_q | array_valid_o;
  assign starved_o = valid_q & ~bad_q & ~wrong & ~there;
  assign compute_error_o = valid_q & ~stop_i & bad_q;
  assign mismatch_error_o = valid_q & ~stop_i & ~bad_q & wrong;

endmodule
