// SPDX-License-Identifier: Apache-2.0
// Activity counters of the tile, 64 bits each, cleared together:
//   cycles     clocks
//   busy       clocks with busy_i
//   stall_in   clocks with stall_in_i
//   stall_out  clocks with a beat that the array does not take
//   products   Lanes x rows in use x columns in use, of the beats that it takes
//   zero_a, zero_b    elements of these beats, in rows (columns) in use, that are +0 or -0: all
//              bits but the sign are zero, of LUQ's A, which is INT4, all bits
//   flips_a, flips_b  bits of all elements in which a beat differs from the beat before, where rows
//                     (columns) that are not in use count as zero; the first beat after a reset
//                     differs from zero
// What belongs to a beat is added three cycles after the array took it. clear_i forgets beats on
// their way, too.
//
// Width argument. In a beat a side has at most Vectors x Lanes (Vectors x BLanes) zero elements and
// ElemWidth times as many flips, and there are at most Rows x Cols x Lanes products, hence the
// widths of the three sums. 64 bits: 2^63 flips at 10^9 beats of 10^4 flips a second last a week,
// everything else longer.
module ng_tile_counters #(
  parameter int Rows      = 8,
  parameter int Cols      = 8,
  parameter int Lanes     = 16,
  parameter int FormatSet = ng_format_set_pkg::All,
  parameter bit Sparse    = 1'b0,  // of A, Lanes of 2 x Lanes elements are stored
  parameter bit Mx        = 1'b0,  // the formats of the set are MX's
  localparam int BLanes   = Sparse ? 2 * Lanes : Lanes,
  localparam int Bits8 = Mx ? ng_format_set_pkg::MxBits8 : ng_format_set_pkg::Bits8,
  localparam int ElemWidth = (FormatSet & Bits8) != 0 ? 8 : 4
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            clear_i,
  input  logic                            busy_i,
  input  logic                            stall_in_i,
  // The beat offered to the array.
  input  logic                            valid_i,
  input  logic                            ready_i,
  input  logic [1:0]                      fmt_i,      // of A
  input  logic [Rows-1:0]                 row_en_i,
  input  logic [Cols-1:0]                 col_en_i,
  input  logic [Rows*Lanes*ElemWidth-1:0] a_i,
  input  logic [Cols*BLanes*ElemWidth-1:0] b_i,
  output ng_tile_pkg::counters_t          counters_o
);

  localparam int ProductWidth = $clog2(Rows * Cols * Lanes + 1);
  logic take, stall_out;
  assign take = valid_i & ready_i;
  assign stall_out = valid_i & ~ready_i;

  logic luq;
  assign luq = (FormatSet & ng_format_set_pkg::Luq) != 0 && fmt_i == 2'(ng_format_set_pkg::CodeLuq);

  // ---- beats: look, count, add
  logic [2:1]              beat_q;  // a beat was looked at, its events are counted
  logic [Rows-1:0]         row_en_q;
  logic [Cols-1:0]         col_en_q;
  logic [ProductWidth-1:0] products_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else beat_q <= clear_i ? '0 : {beat_q[1], take};
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      row_en_q <= row_en_i;
      col_en_q <= col_en_i;
    end
    products_q <= ProductWidth'($countones(row_en_q)) * ProductWidth'($countones(col_en_q))
        * ProductWidth'(Lanes);
  end

  logic [63:0] zeros_a, zeros_b, flips_a, flips_b;
  ng_tile_activity #(
    .Vectors  (Rows),
    .Lanes    (Lanes),
    .FormatSet(FormatSet),
    .Mx       (Mx)
  ) u_a (
    .clk_i,
    .rst_ni,
    .take_i  (take),
    .fp4_i   (fmt_i[1]),
    .int4_i  (luq),
    .enable_i(row_en_i),
    .data_i  (a_i),
    .zeros_o (zeros_a),
    .flips_o (flips_a)
  );
  ng_tile_activity #(
    .Vectors  (Cols),
    .Lanes    (BLanes),
    .FormatSet(FormatSet),
    .Mx       (Mx)
  ) u_b (
    .clk_i,
    .rst_ni,
    .take_i  (take),
    .fp4_i   (fmt_i[1]),
    .int4_i  (1'b0),
    .enable_i(col_en_i),
    .data_i  (b_i),
    .zeros_o (zeros_b),
    .flips_o (flips_b)
  );

  // ---- add
  ng_tile_pkg::counters_t step;
  logic [$bits(step)-1:0] steps, counters_q;
  assign step.cycles = 64'd1;
  assign step.busy = 64'(busy_i);
  assign step.stall_in = 64'(stall_in_i);
  assign step.stall_out = 64'(stall_out);
  assign step.products = beat_q[2] ? 64'(products_q) : '0;
  assign step.zero_a = beat_q[2] ? zeros_a : '0;
  assign step.zero_b = beat_q[2] ? zeros_b : '0;
  assign step.flips_a = beat_q[2] ? flips_a : '0;
  assign step.flips_b = beat_q[2] ? flips_b : '0;
  assign steps = step;
  for (genvar n = 0; n < $bits(step) / 64; n++) begin : gen_counter
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) counters_q[n*64 +: 64] <= '0;
      else counters_q[n*64 +: 64] <= clear_i ? '0 : counters_q[n*64 +: 64] + steps[n*64 +: 64];
    end
  end
  assign counters_o = counters_q;

endmodule
