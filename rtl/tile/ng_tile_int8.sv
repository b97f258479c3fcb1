// SPDX-License-Identifier: Apache-2.0
// Groups of numbers of a row as INT8, four groups a word of the stream: each number plus the zero
// point, rounded to nearest even and limited to -128 to 127, NaN as 127.
//
//   numbers -> shift | -> sum, saturation -> codes -> quarter of a word
//
// The cut is where an edge with en_i ends the group's first stage; what is said of the group behind
// it comes beside its codes. Groups with less than the highest quarter are kept for the word.
module ng_tile_int8 #(
  parameter int StreamWidth = 128,  // multiple of 32
  parameter int LastUnits   = 4     // numbers in the last group of a row
) (
  input  logic                   clk_i,
  // A group's numbers.
  input  logic                   en_i,
  input  logic [StreamWidth-1:0] data_i,        // FP32
  input  logic [8:0]             zero_point_i,  // two's complement
  // The group behind the cut.
  input  logic                   valid_i,
  input  logic [1:0]             quarter_i,     // of the word, which it is
  input  logic                   row_end_i,     // the last group of its row
  output logic [StreamWidth-1:0] word_o         // with the row's groups before it
);
  localparam int Units = StreamWidth / 32;
  localparam int Quarter = StreamWidth / 4;
  logic [Quarter-1:0]   codes, quarter;
  logic [3*Quarter-1:0] kept_q;
  for (genvar u = 0; u < Units; u++) begin : gen_code
    logic unused_special;
    ng_quantize_affine_lane #(
      .Bits    (8),
      .Input   (ng_affine_pkg::Fp32),
      .Pow2    (1),
      .Signed  (1),
      .TiesAway(0),
      .RandBits(0),
      .Cuts    (ng_affine_pkg::CutShifted)
    ) u_lane (
      .clk_i,
      .en_i,
      .x_i         (data_i[u*32 +: 32]),
      .inverse_i   ('0),
      .shift_i     (6'd47),  // a scale of 1
      .zero_point_i,
      .stochastic_i(1'b0),
      .rand_i      ('0),
      .code_o      (codes[u*8 +: 8]),
      .special_o   (unused_special)
    );
    // Zeros after a row are zeros whatever the zero point is.
    if (u < LastUnits) begin : gen_number
      assign quarter[u*8 +: 8] = codes[u*8 +: 8];
    end else begin : gen_padding
      assign quarter[u*8 +: 8] = row_end_i ? '0 : codes[u*8 +: 8];
    end
  end
  for (genvar q = 0; q < 4; q++) begin : gen_quarter
    logic here;
    assign here = quarter_i == 2'(q);
    if (q < 3) begin : gen_kept
      always_ff @(posedge clk_i) begin
        if (valid_i & here) kept_q[q*Quarter +: Quarter] <= quarter;
      end
      assign word_o[q*Quarter +: Quarter] = here ? quarter
          : quarter_i > 2'(q) ? kept_q[q*Quarter +: Quarter] : '0;
    end else begin : gen_last
      assign word_o[q*Quarter +: Quarter] = here ? quarter : '0;
    end
  end
  if (LastUnits == Units) begin : gen_no_padding
    logic unused_row_end;
    assign unused_row_end = row_end_i;
  end

endmodule
