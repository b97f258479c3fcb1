// SPDX-License-Identifier: Apache-2.0
// What travels through the queues of ng_tile.
package ng_tile_pkg;

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
    logic        relu;         // and before, what is negative becomes +0
    // the format of results, as a set of formats: at most one, instead of FP32 or BF16
    logic [3:0]  results;
  } requantize_t;

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

endpackage
