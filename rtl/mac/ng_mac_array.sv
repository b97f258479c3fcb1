// SPDX-License-Identifier: Apache-2.0
// Output-stationary array of Rows x Cols dot-product cells: every cycle one beat of Lanes elements
// of every row of A meets one beat of every column of B, and each cell adds its Lanes products to
// its exact sum. C = A x B, in FP32, rounded once.
//
// A job is the beats from first_i to last_i (one beat may be both). Its result leaves as Rows beats
// of Cols FP32 words, row 0 first, last_o on the last row. Tensor scales are not applied here.
//
// Pipeline: operand registers, dot, [scale and align, if NVFP4 is in the set], accumulate; then,
// per row of the result, shadow registers, FP32 conversion, output queue. The shadow registers hold
// one finished job while the next accumulates.
//
// Handshake: valid_i/ready_o in, valid_o/ready_i out. ready_o, valid_o and data_o depend on
// registers only: no combinational path from ready_i or valid_i to any output. ready_o falls when a
// job would overwrite sums that still wait for the shadow registers; the pipeline then stands
// still. Unstalled, jobs of n beats follow each other every max(n, Rows) cycles.
//
// Cuts: CellCuts and ConvertCuts add stages (ng_mac_pe, ng_fixed_to_fp32); those of the cells move
// with the pipeline, those of the conversion while the output queue has room.
//
// Isolation: operand registers load on accepted beats only; those of disabled rows and columns, and
// those of the formats that the beat does not use, load zero, so what idles computes 0 + 0 and does
// not toggle. A disabled row or column contributes zero, and no flags, to its cells for that beat;
// rows and columns disabled in all beats give +0.
//
// Beats of different formats may be mixed in a job, their terms have one unit (see ng_mac_pe).
// a_fmt_i and b_fmt_i: CodeE4m3, CodeE5m2, CodeNvfp4, CodeLuq (these two on both sides) of
// ng_format_set_pkg. What is outside FormatSet is treated as a format of the set: bit 1 is ignored
// unless the set has formats of 4 and of 8 bits, bit 0 unless it has both formats of that width. Of
// LUQ, A is INT4 and B is FP4 [1,3,0].
//
// Sparse: A is 2:4 sparse (docs/sparsity.md). A beat is 2 x Lanes elements long, of which A
// stores Lanes; a_scale_i has for each 16 of these the block scale, if NVFP4 is in the set, and
// above it 32 bits of metadata, which the beats of all formats use. A block of NVFP4 has 32
// elements. Rows in use with illegal metadata become NaN, and error_o is high in the cycle after
// such a beat was taken.
//
// Mx: the formats of FormatSet have an E8M0 scale for each row or column of a beat, which is a block
// of 32 lanes, and sums are FP32, block after block (ng_mx_pe). NVFP4's bit is MXFP4's and LUQ's is
// MXINT8's, each alone in its set; E4M3's and E5M2's are MXFP8's.
//
// Width argument: AccWidth = TermWidth + clog2(MaxBeats), so a job of up to MaxBeats beats never
// overflows; the term widths are argued in ng_mac_pe.
module ng_mac_array #(
  parameter int Rows      = 8,
  parameter int Cols      = 8,
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::All,  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ
  parameter int MaxBeats  = 65536,  // longest job
  parameter int CellCuts  = 0,      // registers: 1 dot + 2 significand + 4 product + 8 sum
  parameter int ConvertCuts = 0,    // Cuts of ng_fixed_to_fp32
  parameter bit Sparse    = 1'b0,   // A is 2:4 sparse
  parameter bit Mx        = 1'b0,   // MX formats: E8M0 scales of 32 elements, sums in FP32
  localparam int Bits8 = Mx ? ng_format_set_pkg::MxBits8 : ng_format_set_pkg::Bits8,
  localparam int ElemWidth = (FormatSet & Bits8) != 0 ? 8 : 4,
  localparam int Blocks    = (FormatSet & ng_format_set_pkg::Nvfp4) != 0 && !Mx ? Lanes / 16 : 1,
  localparam int Narrow    = (FormatSet & ng_format_set_pkg::Bits4) == ng_format_set_pkg::Bits4 ? 2
      : 1,
  localparam int BLanes    = Sparse ? 2 * Lanes : Lanes,
  // Parts of a row, and bits beside the elements of one: scale and metadata.
  localparam int ABlocks   = Sparse ? Lanes / 16 : Blocks,
  localparam int ABlock    = !Sparse ? 8 : (FormatSet & ng_format_set_pkg::Nvfp4) != 0 ? 40 : 32
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // Operands.
  input  logic                            valid_i,
  output logic                            ready_o,
  input  logic                            first_i,
  input  logic                            last_i,
  input  logic [1:0]                      a_fmt_i,
  input  logic [1:0]                      b_fmt_i,
  input  logic [Rows-1:0]                 row_en_i,
  input  logic [Cols-1:0]                 col_en_i,
  input  logic [Rows*Lanes*ElemWidth-1:0] a_i,
  input  logic [Cols*BLanes*ElemWidth-1:0] b_i,
  input  logic [Rows*ABlocks*ABlock-1:0]  a_scale_i,
  input  logic [Cols*Blocks*8-1:0]        b_scale_i,
  // Results.
  output logic                            valid_o,
  input  logic                            ready_i,
  output logic [Cols*32-1:0]              data_o,
  output logic                            last_o,
  output logic                            error_o   // with Sparse: illegal metadata
);

  localparam bit HasFp4 = (FormatSet & ng_format_set_pkg::Nvfp4) != 0;
  localparam bit HasFp8 = (FormatSet & ng_format_set_pkg::Fp8) != 0;
  localparam bit HasE5m2 = (FormatSet & ng_format_set_pkg::E5m2) != 0;
  localparam bit HasLuq = (FormatSet & ng_format_set_pkg::Luq) != 0 && !Mx;
  localparam bit HasScale = HasFp4 || Mx;

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Rows < 1) begin : gen_check_rows
    $fatal(1, "ng_mac_array: Rows=%0d; expected 1 or more", Rows);
  end
  if (Cols < 1) begin : gen_check_cols
    $fatal(1, "ng_mac_array: Cols=%0d; expected 1 or more", Cols);
  end
  if (FormatSet < 1 || FormatSet > ng_format_set_pkg::All) begin : gen_check_format_set
    $fatal(1, "ng_mac_array: FormatSet=%0d; expected 1 to 15 (1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ)",
           FormatSet);
  end
  if (Lanes < 2) begin : gen_check_lanes
    $fatal(1, "ng_mac_array: Lanes=%0d; expected 2 or more", Lanes);
  end
  if (Mx && (Lanes != 32 || Sparse)) begin : gen_check_mx
    $fatal(1, "ng_mac_array: Mx=1 with Lanes=%0d and Sparse=%0d; expected 32, MX's block, and 0",
           Lanes, Sparse);
  end
  if (Mx && (CellCuts > 1 || ConvertCuts != 0)) begin : gen_check_mx_cuts
    $fatal(1, "ng_mac_array: Mx=1 with CellCuts=%0d and ConvertCuts=%0d; expected 0 or 1, and 0",
           CellCuts, ConvertCuts);
  end
  if (HasFp4 && Lanes % 16 != 0) begin : gen_check_fp4_lanes
    $fatal(1, "ng_mac_array: Lanes=%0d; expected a multiple of 16, NVFP4's block, since FormatSet=%0d has NVFP4",
           Lanes, FormatSet);
  end
  if (HasLuq && (Lanes & (Lanes - 1)) != 0) begin : gen_check_luq_lanes
    $fatal(1, "ng_mac_array: Lanes=%0d; expected a power of two, since FormatSet=%0d has LUQ",
           Lanes, FormatSet);
  end
  if (MaxBeats < 1) begin : gen_check_max_beats
    $fatal(1, "ng_mac_array: MaxBeats=%0d; expected 1 or more", MaxBeats);
  end
  if (CellCuts < 0 || CellCuts > 15) begin : gen_check_cell_cuts
    $fatal(1, "ng_mac_array: CellCuts=%0d; expected 0 to 15", CellCuts);
  end
  if (!HasFp4 && CellCuts > 1) begin : gen_check_fp8_cuts
    $fatal(1, "ng_mac_array: CellCuts=%0d; expected 0 or 1, since FormatSet=%0d has no NVFP4, which is scaled",
           CellCuts, FormatSet);
  end
  if (ConvertCuts < 0 || ConvertCuts > 3) begin : gen_check_convert_cuts
    $fatal(1, "ng_mac_array: ConvertCuts=%0d; expected 0 to 3", ConvertCuts);
  end
  if (Sparse && Lanes % 16 != 0) begin : gen_check_sparse_lanes
    $fatal(1, "ng_mac_array: Lanes=%0d; expected a multiple of 16, since Sparse=1", Lanes);
  end
`endif

  // ---- units and widths (argument in ng_mac_pe)
  localparam int LsbExp = HasE5m2 ? -32 : HasFp4 ? -20 : HasFp8 ? -18 : 0;
  localparam int Fp4Width = HasFp4 ? 48 + $clog2(Blocks) + (-20 - LsbExp) : 0;
  localparam int Fp8Width = HasE5m2 ? 65 + $clog2(Lanes)
      : HasFp8 ? 37 + $clog2(Lanes) + (-18 - LsbExp) : 0;
  localparam int LuqWidth = HasLuq ? 11 + $clog2(Lanes) - LsbExp : 0;  // less than the others
  localparam int TermWidth = Fp4Width > Fp8Width ? Fp4Width : Fp8Width > 0 ? Fp8Width : LuqWidth;
  localparam int AccWidth = Mx ? 32 : TermWidth + $clog2(MaxBeats);  // of Mx FP32

  // ---- control
  // Stage 1 holds operands, stage DotStage dot products, the last stage terms. They move together.
  localparam int DotStage = 2 + ng_prim_pkg::cut_count(CellCuts & ng_mac_pkg::CellCutDot);
  localparam int Stages = HasScale ? DotStage + 1 + ng_prim_pkg::cut_count(
      CellCuts & (ng_mac_pkg::CellCutProduct | ng_mac_pkg::CellCutSum)) : DotStage;
  // where cells want block scales
  localparam int ScaleStage = (CellCuts & ng_mac_pkg::CellCutSignificand) != 0 ? DotStage - 1
      : DotStage;
  // What enables the whole array is known a cycle ahead, in registers: that it moves, and that a
  // finished job does, to the shadow registers. The array stands still while a beat would overwrite
  // a job that has to wait for these.
  logic              move_q, shadow_en_q, take;
  logic [Stages:0]   valid;                 // [0]: of the beat that comes in
  logic [Stages:1]   first_q, last_q, advance;
  logic              done_q;                // the accumulators hold a finished job
  logic              drain_q;               // the shadow registers hold rows that have not left
  logic              queue_ready, row_last_q;
  logic              move_d, shadow_en_d, done_d, drain_d, queue_ready_d, row_last_d, last_valid_d;

  assign ready_o = move_q;
  assign take = valid_i & move_q;
  assign advance = move_q ? valid[Stages:1] : '0;
  assign last_valid_d = move_q ? valid[Stages-1] : valid[Stages];
  assign done_d = (advance[Stages] & last_q[Stages]) | (done_q & ~shadow_en_q);
  assign shadow_en_d = done_d & (~drain_d | (queue_ready_d & row_last_d));
  assign move_d = ~(last_valid_d & done_d) | shadow_en_d;

  ng_valid_pipe #(
    .Depth(Stages)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move_q),
    .valid_i,
    .valid_o(valid)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q     <= '0;
      last_q      <= '0;
      done_q      <= 1'b0;
      shadow_en_q <= 1'b0;
      move_q      <= 1'b1;
    end else begin
      if (move_q) begin
        first_q <= {first_q[Stages-1:1], first_i};
        last_q  <= {last_q[Stages-1:1], last_i};
      end
      done_q      <= done_d;
      shadow_en_q <= shadow_en_d;
      move_q      <= move_d;
    end
  end

  // ---- operands, registered once a row and once a column
  localparam int Codes = Narrow * Lanes * 4;  // bits of a vector's 4-bit operands
  localparam int ACodes = Sparse ? Codes + Lanes * 2 : Codes;  // and of A's, with metadata
  localparam int BCodes = Sparse ? 2 * Codes : Codes;
  localparam int ActiveWidth = Sparse ? 2 : 1;
  logic                     fp4, luq, a_e5m2_q, b_e5m2_q;
  logic [Rows*ACodes-1:0]   a_fp4;
  logic [Cols*BCodes-1:0]   b_fp4;
  logic [Rows*Lanes*8-1:0]  a_fp8;
  logic [Cols*BLanes*8-1:0] b_fp8;
  logic [Rows*Blocks*8-1:0] a_scale;
  logic [Cols*Blocks*8-1:0] b_scale;
  logic [Rows-1:0]          row_active, row_void, illegal;
  logic [Cols-1:0]          col_active;

  assign luq = HasLuq && (!HasFp8 || a_fmt_i[1]) && (!HasFp4 || a_fmt_i[0]);
  assign fp4 = HasFp4 && (!HasFp8 || a_fmt_i[1]) && !luq;
  always_ff @(posedge clk_i) begin
    if (take) begin
      a_e5m2_q <= a_fmt_i[0];
      b_e5m2_q <= b_fmt_i[0];
    end
  end
  // Both sides of an NVFP4 or LUQ beat have that code, so one side's decides.
  logic unused_fmt;
  assign unused_fmt = ^{a_fmt_i[1], b_fmt_i[1]};

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [Blocks*8-1:0] scale;
    logic [Lanes*2-1:0]  metadata, metadata_q;
    if (Sparse) begin : gen_sparse
      assign a_fp4[r*ACodes+Codes +: Lanes*2] = metadata_q;
      for (genvar b = 0; b < ABlocks; b++) begin : gen_block
        assign metadata[b*32 +: 32] = a_scale_i[(r*ABlocks+b)*ABlock+ABlock-32 +: 32];
      end
    end else begin : gen_dense
      logic unused_metadata;
      assign unused_metadata = ^metadata_q;
      assign metadata = '0;
    end
    if (Sparse && !HasFp4) begin : gen_no_scale
      assign scale = '0;
    end else begin : gen_scale
      for (genvar b = 0; b < Blocks; b++) begin : gen_block
        assign scale[b*8 +: 8] = a_scale_i[(r*Blocks+b)*ABlock +: 8];
      end
    end
    ng_mac_operand #(
      .Lanes    (Lanes),
      .FormatSet(FormatSet),
      .Stages    (Stages),
      .ScaleStage(ScaleStage),
      .Sparse    (Sparse),
      .Mx        (Mx)
    ) u_operand (
      .clk_i,
      .take_i   (take),
      .advance_i(advance[Stages-1:1]),
      .enable_i (row_en_i[r]),
      .fp4_i    (fp4),
      .luq_i    (luq),
      .data_i   (a_i[r*Lanes*ElemWidth +: Lanes*ElemWidth]),
      .scale_i  (scale),
      .metadata_i(metadata),
      .fp4_o    (a_fp4[r*ACodes +: Codes]),
      .fp8_o    (a_fp8[r*Lanes*8 +: Lanes*8]),
      .scale_o  (a_scale[r*Blocks*8 +: Blocks*8]),
      .metadata_o(metadata_q),
      .illegal_o(illegal[r]),
      .active_o (row_active[r]),
      .void_o   (row_void[r])
    );
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_col
    logic [BLanes*2-1:0] unused_metadata;
    logic                unused_illegal, unused_void;
    ng_mac_operand #(
      .Lanes    (BLanes),
      .FormatSet(FormatSet),
      .Stages    (Stages),
      .ScaleStage(ScaleStage),
      .Mx        (Mx),
      .Blocks    (Blocks)
    ) u_operand (
      .clk_i,
      .take_i   (take),
      .advance_i(advance[Stages-1:1]),
      .enable_i (col_en_i[c]),
      .fp4_i    (fp4),
      .luq_i    (luq),
      .data_i   (b_i[c*BLanes*ElemWidth +: BLanes*ElemWidth]),
      .scale_i  (b_scale_i[c*Blocks*8 +: Blocks*8]),
      .metadata_i({BLanes*2{1'b0}}),
      .fp4_o    (b_fp4[c*BCodes +: BCodes]),
      .fp8_o    (b_fp8[c*BLanes*8 +: BLanes*8]),
      .scale_o  (b_scale[c*Blocks*8 +: Blocks*8]),
      .metadata_o(unused_metadata),
      .illegal_o(unused_illegal),
      .active_o (col_active[c]),
      .void_o   (unused_void)
    );
  end

  if (Sparse) begin : gen_error
    // ng-no-fault: no beat is taken in reset, so that a clock edge there clears the error as well
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) error_o <= 1'b0;
      else error_o <= take & (|illegal);
    end
  end else begin : gen_no_error
    logic unused_illegal;
    assign unused_illegal = ^{illegal, row_void};
    assign error_o = 1'b0;
  end

  // ---- which row of the shadow registers leaves next
  localparam int RowWidth = Rows > 1 ? $clog2(Rows) : 1;
  logic [RowWidth-1:0] row_q, row_d;
  assign row_d = ~(drain_q & queue_ready) ? row_q : row_last_q ? '0 : row_q + 1'b1;
  assign row_last_d = row_d == RowWidth'(Rows - 1);
  assign drain_d = shadow_en_q | (drain_q & ~(queue_ready & row_last_q));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      drain_q    <= 1'b0;
      row_q      <= '0;
      row_last_q <= Rows == 1;
    end else begin
      drain_q    <= drain_d;
      row_q      <= row_d;
      row_last_q <= row_last_d;
    end
  end

  // ---- cells, and one conversion a column, whose stages stand still together, when the queue is
  // full
  localparam int ConvertStages = ng_prim_pkg::cut_count(ConvertCuts);
  // rows in conversion: [0] goes in, the highest comes out
  logic [ConvertStages:0] convert_valid, convert_last;
  logic [Cols*32-1:0]     row_data;
  ng_valid_pipe #(
    .Depth(ConvertStages)
  ) u_convert_valid (
    .clk_i,
    .rst_ni,
    .en_i   (queue_ready),
    .valid_i(drain_q),
    .valid_o(convert_valid)
  );
  assign convert_last[0] = row_last_q;
  for (genvar s = 0; s < ConvertStages; s++) begin : gen_stage
    ng_cut #(
      .Width (1),
      .Enable(1)
    ) u_last (
      .clk_i,
      .en_i (queue_ready),
      .d_i  (convert_last[s]),
      .q_o  (convert_last[s+1])
    );
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_cells
    logic [Rows*AccWidth-1:0] sum;
    logic [Rows-1:0]          nan, pinf, ninf;
    for (genvar r = 0; r < Rows; r++) begin : gen_pe
      logic [ActiveWidth-1:0] active;
      if (Sparse) begin : gen_sparse
        assign active = {row_void[r], row_active[r] & col_active[c]};
      end else begin : gen_dense
        assign active = row_active[r] & col_active[c];
      end
      if (Mx) begin : gen_mx
        ng_mx_pe #(
          .FormatSet(FormatSet),
          .CellCuts (CellCuts)
        ) u_pe (
          .clk_i,
          .rst_ni,
          .move_i      (move_q),
          .a_fp4_i     (a_fp4[r*ACodes +: ACodes]),
          .b_fp4_i     (b_fp4[c*BCodes +: BCodes]),
          .a_fp8_i     (a_fp8[r*Lanes*8 +: Lanes*8]),
          .b_fp8_i     (b_fp8[c*BLanes*8 +: BLanes*8]),
          .a_e5m2_i    (a_e5m2_q),
          .b_e5m2_i    (b_e5m2_q),
          .dot_en_i    (advance[DotStage-1]),
          .a_scale_i   (a_scale[r*Blocks*8 +: Blocks*8]),
          .b_scale_i   (b_scale[c*Blocks*8 +: Blocks*8]),
          .active_dot_i(active[0]),
          .term_en_i   (advance[Stages-1]),
          .acc_first_i (first_q[Stages]),
          .acc_en_i    (advance[Stages]),
          .shadow_en_i (shadow_en_q),
          .sum_o       (sum[r*AccWidth +: AccWidth])
        );
        assign {nan[r], pinf[r], ninf[r]} = 3'b000;
      end else begin : gen_exact
        ng_mac_pe #(
          .Lanes    (Lanes),
          .FormatSet(FormatSet),
          .TermWidth(TermWidth),
          .AccWidth (AccWidth),
          .LsbExp   (LsbExp),
          .CellCuts (CellCuts),
          .Sparse   (Sparse)
        ) u_pe (
          .clk_i,
          .rst_ni,
          .a_fp4_i    (a_fp4[r*ACodes +: ACodes]),
          .b_fp4_i    (b_fp4[c*BCodes +: BCodes]),
          .a_fp8_i    (a_fp8[r*Lanes*8 +: Lanes*8]),
          .b_fp8_i    (b_fp8[c*BLanes*8 +: BLanes*8]),
          .a_e5m2_i   (a_e5m2_q),
          .b_e5m2_i   (b_e5m2_q),
          .move_i     (move_q),
          .dot_en_i   (advance[DotStage-1]),
          .a_scale_i  (a_scale[r*Blocks*8 +: Blocks*8]),
          .b_scale_i  (b_scale[c*Blocks*8 +: Blocks*8]),
          .term_en_i  (advance[Stages-1]),
          .active_i   (active),
          .acc_first_i(first_q[Stages]),
          .acc_en_i   (advance[Stages]),
          .shadow_en_i(shadow_en_q),
          .sum_o      (sum[r*AccWidth +: AccWidth]),
          .nan_o      (nan[r]),
          .pinf_o     (pinf[r]),
          .ninf_o     (ninf[r])
        );
      end
    end
    if (Mx) begin : gen_fp32
      logic unused_flags;
      assign unused_flags = ^{nan, pinf, ninf};
      assign row_data[c*32 +: 32] = sum[row_q*AccWidth +: AccWidth];
    end else begin : gen_convert
      ng_fixed_to_fp32 #(
        .Width (AccWidth),
        .LsbExp(LsbExp),
        .Cuts  (ConvertCuts)
      ) u_convert (
        .clk_i,
        .en_i   (queue_ready),
        .fixed_i(sum[row_q*AccWidth +: AccWidth]),
        .nan_i  (nan[row_q]),
        .pinf_i (pinf[row_q]),
        .ninf_i (ninf[row_q]),
        .fp32_o (row_data[c*32 +: 32])
      );
    end
  end

  assign queue_ready_d = ~((~queue_ready | convert_valid[ConvertStages]) & valid_o & ~ready_i);
  ng_fifo2 #(
    .Width(Cols * 32 + 1)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(convert_valid[ConvertStages]),
    .ready_o(queue_ready),
    .data_i ({convert_last[ConvertStages], row_data}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, data_o})
  );

endmodule
