// SPDX-License-Identifier: Apache-2.0
// Operand registers of one row or column of ng_mac_array: the elements of a beat for the dot
// products, its block scales in stage ScaleStage, its enable when the terms are accumulated. What a
// beat does not use loads zero: nothing behind it toggles.
//
// Sparse: the row of a 2:4 sparse operand, with metadata (docs/sparsity.md) beside its elements.
// illegal_o: the row is in use and has metadata that name no two ascending positions. void_o is
// that when the terms are accumulated: cells make them NaN.
//
// Mx: the scale is E8M0 and belongs to beats of all formats of the set (ng_mx_pe).
//
// take_i: a beat is accepted. advance_i[k]: it leaves stage k for stage k+1.
module ng_mac_operand #(
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::All,  // 1 NVFP4 + 2 E4M3 + 4 E5M2 + 8 LUQ
  parameter int Stages     = 3,     // of the array's pipeline
  parameter int ScaleStage = 2,     // the stage that wants the block scales
  parameter bit Sparse     = 1'b0,  // with metadata
  parameter bit Mx         = 1'b0,  // beats of all formats have a scale, one for all lanes
  // block scales
  parameter int Blocks     = (FormatSet & ng_format_set_pkg::Nvfp4) != 0 && !Mx ? Lanes / 16 : 1,
  localparam bit HasFp4    = (FormatSet & ng_format_set_pkg::Nvfp4) != 0,
  localparam int Bits8 = Mx ? ng_format_set_pkg::MxBits8 : ng_format_set_pkg::Bits8,
  localparam int ElemWidth = (FormatSet & Bits8) != 0 ? 8 : 4,
  localparam bit HasLuq    = (FormatSet & ng_format_set_pkg::Luq) != 0 && !Mx,
  localparam int Narrow    = HasFp4 && HasLuq ? 2 : 1
) (
  input  logic                       clk_i,
  input  logic                       take_i,
  input  logic [Stages-1:1]          advance_i,
  input  logic                       enable_i,   // this row or column takes part in the beat
  input  logic                       fp4_i,      // the beat is NVFP4
  input  logic                       luq_i,      // the beat is LUQ; with neither it is FP8
  input  logic [Lanes*ElemWidth-1:0] data_i,
  input  logic [Blocks*8-1:0]        scale_i,
  input  logic [Lanes*2-1:0]         metadata_i, // with Sparse
  // stage 1; LUQ's above NVFP4's, if the set has both
  output logic [Narrow*Lanes*4-1:0]  fp4_o,
  output logic [Lanes*8-1:0]         fp8_o,      // stage 1; with Mx integers, too
  output logic [Blocks*8-1:0]        scale_o,    // stage ScaleStage
  output logic [Lanes*2-1:0]         metadata_o, // stage 1
  output logic                       illegal_o,  // in the cycle of the beat
  output logic                       active_o,   // last stage, with Mx stage ScaleStage
  output logic                       void_o      // last stage
);

  logic [Stages:1] active_q;
  assign active_o = active_q[Mx ? ScaleStage : Stages];
  always_ff @(posedge clk_i) begin
    if (take_i) active_q[1] <= enable_i;
    for (int k = 1; k < Stages; k++) begin
      if (advance_i[k]) active_q[k+1] <= active_q[k];
    end
  end

  logic [Lanes*4-1:0] codes;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    assign codes[i*4 +: 4] = data_i[i*ElemWidth +: 4];
  end
  if (HasLuq) begin : gen_luq
    always_ff @(posedge clk_i) begin
      if (take_i) fp4_o[(Narrow-1)*Lanes*4 +: Lanes*4] <= enable_i & luq_i ? codes : '0;
    end
  end else begin : gen_no_luq
    logic unused_luq;
    assign unused_luq = luq_i ^ (^codes);
  end

  if (Sparse) begin : gen_sparse
    logic [Lanes/2-1:0] illegal;  // groups of four, a nibble each
    for (genvar g = 0; g < Lanes / 2; g++) begin : gen_group
      assign illegal[g] = metadata_i[g*4 +: 2] >= metadata_i[g*4+2 +: 2];
    end
    assign illegal_o = enable_i & (|illegal);
    logic [Stages:1] void_q;
    assign void_o = void_q[Stages];
    always_ff @(posedge clk_i) begin
      if (take_i) begin
        metadata_o <= enable_i ? metadata_i : '0;
        void_q[1] <= illegal_o;
      end
      for (int k = 1; k < Stages; k++) begin
        if (advance_i[k]) void_q[k+1] <= void_q[k];
      end
    end
  end else begin : gen_dense
    logic unused_metadata;
    assign unused_metadata = ^metadata_i;
    assign illegal_o = 1'b0;
    assign void_o = 1'b0;
    assign metadata_o = '0;
  end

  if (HasFp4 || Mx) begin : gen_fp4
    logic [ScaleStage*Blocks*8-1:0] scale_q;  // stage 1 lowest
    always_ff @(posedge clk_i) begin
      if (take_i) begin
        fp4_o[Lanes*4-1:0] <= enable_i & fp4_i ? codes : '0;
        scale_q[Blocks*8-1:0] <= enable_i & (fp4_i | Mx) ? scale_i : '0;
      end
      for (int k = 1; k < ScaleStage; k++) begin
        if (advance_i[k]) scale_q[k*Blocks*8 +: Blocks*8] <= scale_q[(k-1)*Blocks*8 +: Blocks*8];
      end
    end
    assign scale_o = scale_q[(ScaleStage-1)*Blocks*8 +: Blocks*8];
  end else begin : gen_no_fp4
    logic unused_fp4;
    assign unused_fp4 = (^scale_i) ^ fp4_i;
    if (!HasLuq) begin : gen_no_codes
      assign fp4_o = '0;
    end
    assign scale_o = '0;
  end

  if ((FormatSet & Bits8) != 0) begin : gen_fp8
    always_ff @(posedge clk_i) begin
      if (take_i) fp8_o <= enable_i & ~fp4_i & ~luq_i ? data_i : '0;
    end
  end else begin : gen_no_fp8
    assign fp8_o = '0;
  end

endmodule
