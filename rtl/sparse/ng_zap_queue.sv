// SPDX-License-Identifier: Apache-2.0
// Queues of kept outputs before the columns of an array, which turn them into passes (docs/zap.md).
// Twin of narrowgauge::zap_passes.
//
// Places of a sample come a beat each, with a bit for each of Columns channels that says whether
// its output is kept. A kept output waits in its column's queue. A pass begins when a queue is full,
// and behind the last place while an output waits. It takes the Rows oldest outputs of each queue,
// or all of a shorter one, and leaves a row a beat: Rows beats. A beat without outputs ends the sample.
//
// Queues are rings of memory with one common place to be read, because a pass reads all columns in
// step: a column without an output skips it. So a column has one counter, of the place it writes
// next, and one comparison with mark_q, which is
//   while places come: the place before which a queue has room for one more output,
//   in a pass:         the place to be read, whose column has an output unless it would write there.
// Neither happens beside the other, so that a pass has what waited when it began, at any stalls.
//
// Time: a place a cycle, Rows cycles a pass and one cycle a sample; places wait meanwhile. The first
// row is offered two edges behind the place that fills a queue. All outputs come from registers.
//
// Width argument: a queue holds 0 to Depth outputs, so that counters, which count modulo a power of
// two, tell all of these apart in clog2(Depth + 1) bits.
module ng_zap_queue #(
  parameter int Columns   = 8,   // of the array
  parameter int Rows      = 4,   // of the array
  parameter int Depth     = 16,  // outputs that a queue holds, Rows or more
  parameter int PlaceBits = 10,  // of a place's number
  parameter bit BlockRam  = 1'b0  // a queue in block RAM, not where the tool puts it
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // Places of a sample.
  input  logic                         valid_i,
  output logic                         ready_o,
  input  logic [PlaceBits-1:0]         place_i,      // number of the place
  input  logic [Columns-1:0]           keep_i,       // of each channel whether its output is kept
  input  logic                         last_i,       // the place is the sample's last
  // Rows of passes.
  output logic                         valid_o,
  input  logic                         ready_i,
  output logic [Columns-1:0]           active_o,     // of each column whether its cell has an output
  output logic [Columns*PlaceBits-1:0] places_o,     // places of outputs, low bits: column 0
  output logic                         pass_last_o,  // the row is its pass's last
  output logic                         last_o        // no row, but the end of the sample
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Columns < 1 || Columns > 64) begin : gen_check_columns
    $fatal(1, "ng_zap_queue: Columns=%0d; expected 1 to 64", Columns);
  end
  if (Rows < 1 || Rows > 256) begin : gen_check_rows
    $fatal(1, "ng_zap_queue: Rows=%0d; expected 1 to 256", Rows);
  end
  if (Depth < 1 || Depth > 4096) begin : gen_check_depth
    $fatal(1, "ng_zap_queue: Depth=%0d; expected 1 to 4096", Depth);
  end
  if (Depth < Rows) begin : gen_check_depth_and_rows
    $fatal(1, "ng_zap_queue: Depth=%0d with Rows=%0d; expected Rows or more", Depth, Rows);
  end
  if (PlaceBits < 1 || PlaceBits > 32) begin : gen_check_place_bits
    $fatal(1, "ng_zap_queue: PlaceBits=%0d; expected 1 to 32", PlaceBits);
  end
`endif

  localparam int CountBits = $clog2(Depth + 1);
  localparam int AddrBits  = Depth > 1 ? $clog2(Depth) : 1;  // of a ring

  // ---- control: places come, or rows of passes leave
  logic                 filling_q;  // places come
  logic                 ending_q;   // in a pass: the sample's last place has come
  logic [CountBits-1:0] mark_q;
  logic [Columns-1:0]   met;        // of each column whether its counter stands at the mark
  logic                 row_first, row_last;
  logic                 take, start, step, may_end, ended, finish;
  assign ready_o = filling_q;
  assign take = valid_i & filling_q;
  assign start = take & (last_i | (|(keep_i & met)));
  assign step = ~filling_q & (~valid_o | ready_i);
  // ng-no-fault: the pass of a full queue has an output in its first row, whatever ending_q is
  assign may_end = ending_q & row_first;
  assign ended = may_end & (&met);  // no output waits
  assign finish = step & (ended | (row_last & ~ending_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filling_q <= 1'b1;
      valid_o   <= 1'b0;
      mark_q    <= CountBits'(Depth - 1);
    end else begin
      filling_q <= (filling_q & ~start) | finish;
      valid_o   <= step | (valid_o & ~ready_i);
      if (start | step) begin
        mark_q <= mark_q + (start ? CountBits'(1 - Depth) : finish ? CountBits'(Depth) : CountBits'(1));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) ending_q <= last_i;
    if (step) begin
      active_o    <= ~met;
      pass_last_o <= row_last;
      last_o      <= ended;
    end
  end

  if (Rows > 1) begin : gen_row
    localparam int RowBits = $clog2(Rows);
    logic [RowBits-1:0] row_q;
    assign row_first = ~(|row_q);
    assign row_last = row_q == RowBits'(Rows - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) row_q <= '0;
      else if (step) row_q <= ended | row_last ? '0 : row_q + 1'b1;
    end
  end else begin : gen_one_row
    assign row_first = 1'b1;
    assign row_last = 1'b1;
  end

  // ---- queues
  for (genvar c = 0; c < Columns; c++) begin : gen_column
    logic [CountBits-1:0] write_q;
    assign met[c] = write_q == mark_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) write_q <= '0;
      else if ((take & keep_i[c]) | (step & met[c])) write_q <= write_q + 1'b1;
    end
    if (BlockRam) begin : gen_block_ram
      ng_ram #(
        .Width(PlaceBits),
        .Depth(1 << AddrBits)
      ) u_ram (
        .clk_i,
        .we_i   (take & keep_i[c]),
        .waddr_i(write_q[AddrBits-1:0]),
        .wdata_i(place_i),
        .re_i   (step),
        .raddr_i(mark_q[AddrBits-1:0]),
        .rdata_o(places_o[c*PlaceBits +: PlaceBits])
      );
    end else begin : gen_ring
      logic [PlaceBits-1:0] ring [1 << AddrBits];
      always_ff @(posedge clk_i) begin
        if (take & keep_i[c]) ring[write_q[AddrBits-1:0]] <= place_i;
        if (step) places_o[c*PlaceBits +: PlaceBits] <= ring[mark_q[AddrBits-1:0]];
      end
`ifdef FORMAL
      logic [(1<<AddrBits)*PlaceBits-1:0] words;  // for the invariant of zap_queue_proof.sv
      for (genvar i = 0; i < 1 << AddrBits; i++) begin : gen_word
        assign words[i*PlaceBits +: PlaceBits] = ring[i];
      end
`endif
    end
  end

endmodule
