// SPDX-License-Identifier: Apache-2.0
// What the parts of ng_tile say to each other, and the places of their cuts.
package ng_tile_pkg;
  // Each part of the tile uses its own constants.
  // verilator lint_off UNUSEDPARAM

  // Places of CommandCuts.
  localparam int CommandCutFactors = 1;   // the counts of beats and panels, as they come
  localparam int CommandCutProducts = 2;  // the products of the counts, and the beats of the sum

  // The two masks in RequantizeCuts of ng_tile, which is QuantizeCuts of ng_tile_requantize.
  localparam int RequantizeBlockCuts = 31;    // Cuts of ng_quantize_nvfp4, where it is
  localparam int RequantizeNumberCuts = 96;   // Cuts of ng_quantize_fp8 and of ng_quantize_int4,
  localparam int RequantizeNumberShift = 5;   // from this bit on

  typedef struct packed {
    logic        operand;  // 0 A, 1 B
    logic        more;     // the bank stays open for the next load
    logic [15:0] beats;    // panel-beats, one image each
  } load_t;

  typedef struct packed {
    logic [31:0] scale;    // FP32 factor of the results
    logic        bf16;     // results in BF16 instead of FP32
    logic [1:0]  a_fmt;
    logic [1:0]  b_fmt;
    logic [15:0] a_panels;
    logic [15:0] b_panels;
    logic [15:0] beats;    // length along k, in panel-beats
    logic [7:0]  rows;     // in use in the last panel of A
    logic [7:0]  cols;     // in use in the last panel of B
    logic        part_a;   // of the bank of A, the images behind those of the command before
    logic        irq;
    logic        release_b;
    logic        release_a;
    logic        last;     // the sums are finished and leave
    logic        first;    // the sums start at zero
  } compute_t;

  // What a command has beside compute_t in tiles that requantize.
  typedef struct packed {
    logic [31:0] tensor_scale;
    logic        relu;         // negative sums become +0 before they are quantized
    // the format of results, as a set of formats: at most one, instead of FP32 or BF16
    logic [3:0]  results;
  } requantize_t;

  // What a command has beside them in tiles with integer results, and what its jobs have.
  typedef struct packed {
    logic       int8;        // results in INT8; the formats of requantize_t come first
    logic [8:0] zero_point;  // the code of 0, two's complement
  } integer_t;

  // One tile of results, Rows x Cols numbers, on its way out.
  typedef struct packed {
    logic [31:0] scale;
    logic        bf16;
    logic        irq;
    logic        final_tile;  // the last one of its command
  } job_t;

  // What a job has beside job_t in tiles that requantize.
  typedef struct packed {
    logic [31:0] tensor_scale;
    logic        relu;
    logic [3:0]  results;
    logic        row_end;      // no tile of the command stands beside it on the right
  } requantize_job_t;

  // What goes through the scaling beside a group of numbers of a row.
  typedef struct packed {
    logic odd;      // an odd group: in BF16 the upper half of a word
    logic row_end;
    logic bf16;
    logic last;     // the last group of its command
    logic irq;
  } scale_flags_t;

  // What goes beside scale_flags_t in tiles with integer results.
  typedef struct packed {
    logic       int8;
    logic [8:0] zero_point;
    logic [1:0] quarter;  // of a word, which the group is in INT8
    logic       row_end;
  } integer_flags_t;

  // What goes beside the numbers of a beat while those are quantized one by one.
  typedef struct packed {
    logic [31:0] scale;        // of the tensor, for NVFP4
    logic        fp4;          // the numbers are for NVFP4
    logic        image_end;    // the image has no columns behind this tile
    logic        packet_last;
    logic        irq;
  } beat_side_t;

  // What is said of an image when it is complete.
  typedef struct packed {
    logic [31:0] scale;        // of the tensor, for NVFP4
    logic        fp4;
    logic        packet_last;
    logic        irq;
  } image_flags_t;

  // What leaves with an image.
  typedef struct packed {
    logic fp4;
    logic packet_last;
    logic irq;
  } image_mark_t;

  // The activity counters, in the order of their registers, the first one lowest.
  typedef struct packed {
    logic [63:0] flips_b;
    logic [63:0] flips_a;
    logic [63:0] zero_b;
    logic [63:0] zero_a;
    logic [63:0] products;
    logic [63:0] stall_out;
    logic [63:0] stall_in;
    logic [63:0] busy;
    logic [63:0] cycles;
  } counters_t;

  // A word of a packet with its bytes the other way round: codes begin in its highest byte, files
  // and streams in the lowest.
  function automatic logic [31:0] swapped(input logic [31:0] word);
    swapped = {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

endpackage
