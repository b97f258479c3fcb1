// SPDX-License-Identifier: Apache-2.0
// Means of packets of BF16 numbers that come in any order, or do not: sums are exact, divided by
// the count of what arrived, and rounded once. Twin of narrowgauge::LossyReducer.
//
//   mean = (sum of the values of the workers whose packet arrived) * FP32(1 / count)   to BF16
//
// A sum is 16 digits d_c of weight 2^(16 c - 134) in a memory, each a signed integer. A value goes
// whole into one digit (ng_lossy_addend), so that adding it is one word read and one written, and
// carries wait until the end. A worker's packet that comes again is taken and not added: a bit for
// each worker and index says what arrived.
//
// A mean goes through the digits from the lowest on: the carry of one enters the next, and of each
// 16 bits two bytes are multiplied by the reciprocal (ng_count_reciprocal). The product's bytes
// come lowest first; ng_leading_bytes keeps where its magnitude begins, ng_lossy_round rounds.
// Nothing is divided but by one bit a cycle, once for all values of a packet. The digits become
// zero behind the reading.
//
// Time: a value a cycle. Means of an index take up to 31 cycles for the reciprocal, then 45 cycles
// a value, and no value is taken meanwhile. After reset, 16 Values Indices cycles clear the memory.
// All outputs come from registers.
//
// Width argument: |d_c| <= Workers * 255 * 2^15 < 2^(23 + clog2(Workers)), and the carry into it,
// below Workers * 2^8, does not reach that bound either. A sum is below 2^(14 + 254), its product
// with 24 bits below 2^292: 37 bytes, and byte 37 is a copy of the sign.
module ng_lossy_reduce #(
  parameter int Workers = 64,  // that send packets, at most
  parameter int Values  = 64,  // numbers of a packet
  parameter int Indices = 4,   // packets of a worker
  localparam int WorkerBits = $clog2(Workers),
  localparam int NumberBits = $clog2(Values),
  localparam int IndexBits = $clog2(Indices)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [WorkerBits-1:0] worker_i,  // of the packet; read with its first value
  input  logic [IndexBits-1:0]  index_i,   // of the packet, or of the means; read with close_i too
  input  logic                  close_i,   // no packet begins: the means of the index are wanted
  input  logic [15:0]           value_i,   // BF16
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [15:0]           mean_o,    // BF16
  output logic [WorkerBits:0]   count_o,   // packets of the index that arrived
  output logic                  last_o     // of the index
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Workers < 2 || Workers > 64 || (Workers & (Workers - 1)) != 0) begin : gen_check_workers
    $fatal(1, "ng_lossy_reduce: Workers=%0d; expected 2 to 64, a power of two", Workers);
  end
  if (Values < 4 || Values > 1024 || (Values & (Values - 1)) != 0) begin : gen_check_values
    $fatal(1, "ng_lossy_reduce: Values=%0d; expected 4 to 1024, a power of two", Values);
  end
  if (Indices < 2 || Indices > 1024 || (Indices & (Indices - 1)) != 0) begin : gen_check_indices
    $fatal(1, "ng_lossy_reduce: Indices=%0d; expected 2 to 1024, a power of two", Indices);
  end
`endif

  localparam int DigitBits = 24 + WorkerBits;
  // Steps of a mean: of the last byte's last stage, and of the code.
  localparam logic [5:0] LastStep = 6'd44;

  // ---- what the unit does: one of three, or it takes values
  logic clear_q, divide_q, mean_q, take;
  assign take = ~(clear_q | divide_q | mean_q);
  assign ready_o = take;

  logic                  beat, begins, closes, adds;
  logic [IndexBits-1:0]  index, index_q;
  logic [NumberBits-1:0] number_q;  // of the value that is taken, cleared, or whose mean is made
  logic [5:0]            step_q;    // of the mean; of the clearing its digit
  logic                  divided, last_step, last_number, next_number;
  assign beat = valid_i & take;
  assign begins = ~(|number_q);
  assign closes = beat & begins & close_i;
  assign adds = beat & ~closes;
  assign index = begins & take ? index_i : index_q;
  assign last_step = step_q == LastStep;
  assign last_number = &number_q;
  assign next_number = (clear_q & (&step_q[3:0])) | (mean_q & last_step & ~valid_o) | adds;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q  <= 1'b1;
      divide_q <= 1'b0;
      mean_q   <= 1'b0;
      step_q   <= '0;
      number_q <= '0;
      index_q  <= '0;
    end else begin
      if (next_number & last_number) mean_q <= 1'b0;
      else if (divide_q & divided) mean_q <= 1'b1;
      divide_q <= closes | (divide_q & ~divided);
      if (next_number & last_number & (&index_q)) clear_q <= 1'b0;
      if (clear_q | (mean_q & ~last_step)) step_q <= step_q + 6'd1;
      else if (next_number | divide_q) step_q <= '0;
      if (next_number) number_q <= number_q + NumberBits'(1);
      if (beat) index_q <= index;
      else if (clear_q & next_number & last_number) index_q <= index_q + IndexBits'(1);
    end
  end

  // ---- a value is added, a cycle behind its beat
  logic                  add_q, first_q, nan_q, arrived, skip, skip_q;
  logic [3:0]            digit, digit_q;
  logic [23:0]           addend, addend_q;
  logic                  nan;
  logic [NumberBits-1:0] add_number_q;
  logic [WorkerBits-1:0] worker_q;
  ng_lossy_addend u_addend (
    .value_i (value_i),
    .digit_o (digit),
    .addend_o(addend),
    .nan_o   (nan)
  );
  assign skip = first_q ? arrived : skip_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) add_q <= 1'b0;
    else add_q <= adds;
  end
  always_ff @(posedge clk_i) begin
    if (beat) begin
      first_q      <= begins;
      digit_q      <= digit;
      addend_q     <= nan ? '0 : addend;
      nan_q        <= nan;
      add_number_q <= number_q;
      if (begins) worker_q <= worker_i;
    end
    skip_q <= skip;
  end

  // ---- what arrived, and how many
  // Every worker's number comes by while an index is cleared.
  logic                  count_first;
  logic [WorkerBits:0]   count, next_count;
  logic [WorkerBits-1:0] swept;
  if (WorkerBits > 4) begin : gen_sweep
    assign swept = {number_q[WorkerBits-5:0], step_q[3:0]};
  end else begin : gen_sweep_digits
    assign swept = step_q[WorkerBits-1:0];
  end
  assign next_count = take ? count + (WorkerBits + 1)'(1) : '0;
  assign count_first = add_q & first_q & ~arrived;
  ng_ram #(
    .Width(1),
    .Depth(Indices * Workers)
  ) u_arrived (
    .clk_i,
    .we_i   (count_first | ~take),
    .waddr_i({index_q, take ? worker_q : swept}),
    .wdata_i(take),
    .re_i   (beat & begins),
    .raddr_i({index_i, worker_i}),
    .rdata_o(arrived)
  );
  ng_ram #(
    .Width(WorkerBits + 1),
    .Depth(Indices)
  ) u_counts (
    .clk_i,
    .we_i   (count_first | ~take),
    .waddr_i(index_q),
    .wdata_i(next_count),
    .re_i   (beat & begins),
    .raddr_i(index_i),
    .rdata_o(count)
  );

  // ---- the digits, each with a bit that says that an infinity or a NaN came
  logic [DigitBits:0]   word, next_word;
  logic [DigitBits-1:0] sum;
  assign next_word = take ? {word[DigitBits] | nan_q, sum} : '0;
  assign sum = word[DigitBits-1:0] + DigitBits'($signed(addend_q));
  ng_ram #(
    .Width(DigitBits + 1),
    .Depth(16 * Values * Indices)
  ) u_digits (
    .clk_i,
    .we_i   ((add_q & ~skip) | clear_q | (mean_q & step_q[0])),
    .waddr_i({index_q, take ? add_number_q : number_q,
        take ? digit_q : clear_q ? step_q[3:0] : step_q[4:1]}),
    .wdata_i(next_word),
    .re_i   (beat | (mean_q & ~step_q[0])),
    .raddr_i({index, number_q, take ? digit : step_q[4:1]}),
    .rdata_o(word)
  );

  // ---- the reciprocal of the count
  logic [23:0] reciprocal;
  logic [2:0]  reciprocal_exp;
  ng_count_reciprocal #(
    .CountBits(WorkerBits + 1)
  ) u_reciprocal (
    .clk_i,
    .start_i      (take),
    .count_i      (count),
    .done_o       (divided),
    .significand_o(reciprocal),
    .exp_o        (reciprocal_exp)
  );

  // ---- a mean: the digit is there in odd steps, its 16 bits behind them, a byte of these a step
  logic                         begin_q;
  logic signed [DigitBits-1:0]  total;
  logic signed [DigitBits-17:0] carry_q;
  logic [15:0]                  bits_q;
  logic [27:0]                  low, low_q, high, high_q;
  logic [31:0]                  product;
  logic [23:0]                  rest_q;
  logic [7:0]                   byte_q;
  logic                         mean_nan_q, early;
  assign total = $signed(word[DigitBits-1:0]) + DigitBits'(carry_q);
  ng_lossy_product u_product (
    .byte_i  (step_q[0] ? bits_q[15:8] : bits_q[7:0]),
    .factor_i(reciprocal),
    .low_o   (low),
    .high_o  (high)
  );
  assign product = 32'(low_q) + {high_q, 4'b0000} + 32'(rest_q);
  assign early = ~(|step_q[5:2]);
  assign begin_q = early & ~(&step_q[1:0]);
  always_ff @(posedge clk_i) begin
    if (step_q == '0) begin
      carry_q    <= '0;
      mean_nan_q <= 1'b0;
    end else if (step_q[0]) begin
      carry_q    <= total[DigitBits-1:16];
      bits_q     <= total[15:0];
      mean_nan_q <= mean_nan_q | word[DigitBits];
    end
    low_q  <= low;
    high_q <= high;
    byte_q <= product[7:0];
    rest_q <= begin_q ? '0 : product[31:8];
  end

  logic [15:0] bytes;
  logic        below;
  logic [5:0]  number;
  ng_leading_bytes u_leading (
    .clk_i,
    .start_i (early),
    .byte_i  (byte_q),
    .number_i(step_q - 6'd4),
    .bytes_o (bytes),
    .below_o (below),
    .number_o(number)
  );
  logic [15:0] code;
  ng_lossy_round u_round (
    .clk_i,
    .sign_i  (byte_q[7]),
    .nan_i   (mean_nan_q),
    .bytes_i (bytes),
    .below_i (below),
    .number_i(number),
    .exp_i   (reciprocal_exp),
    .code_o  (code)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= (valid_o & ~ready_i) | (mean_q & last_step & ~valid_o);
  end
  always_ff @(posedge clk_i) if (mean_q & last_step & ~valid_o) begin
    mean_o  <= code;
    count_o <= count;
    last_o  <= last_number;
  end

endmodule
