// SPDX-License-Identifier: Apache-2.0
// Half of ng_transposable_2_4: the best way to keep two elements in each of two rows of four, for
// each way in which the columns can share them. 19 counts of four columns are possible, each 0 to
// 2, of sum 4; one of type 2200 has one pair of rows, 2110 has two, 1111 has six. Counts are in
// descending order, those of column 0 being the most significant; in this order that of index k and
// that of index 18 - k make two in every column. Among equal sums the descending order of the upper
// row decides.
module ng_mask_row_pair #(
  parameter int Width = 8  // bits of a magnitude
) (
  input  logic [4*Width-1:0]      upper_i,
  input  logic [4*Width-1:0]      lower_i,
  output logic [19*(Width+2)-1:0] sums_o,
  output logic [19*8-1:0]         masks_o  // upper row in the low half
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_mask_row_pair: Width=%0d; expected 1 or more", Width);
  end
`endif

  // Counts of the columns, two bits each, column 0 lowest.
  function automatic logic [7:0] counts(int k);
    case (k)
      0: counts = 8'b00_00_10_10;
      1: counts = 8'b00_01_01_10;
      2: counts = 8'b01_00_01_10;
      3: counts = 8'b00_10_00_10;
      4: counts = 8'b01_01_00_10;
      5: counts = 8'b10_00_00_10;
      6: counts = 8'b00_01_10_01;
      7: counts = 8'b01_00_10_01;
      8: counts = 8'b00_10_01_01;
      9: counts = 8'b01_01_01_01;
      10: counts = 8'b10_00_01_01;
      11: counts = 8'b01_10_00_01;
      12: counts = 8'b10_01_00_01;
      13: counts = 8'b00_10_10_00;
      14: counts = 8'b01_01_10_00;
      15: counts = 8'b10_00_10_00;
      16: counts = 8'b01_10_01_00;
      17: counts = 8'b10_01_01_00;
      default: counts = 8'b10_10_00_00;
    endcase
  endfunction
  // Columns with a two, columns with a one.
  function automatic logic [3:0] columns(logic [7:0] counted, logic twos);
    for (int c = 0; c < 4; c++) columns[c] = twos ? counted[2*c+1] : counted[2*c];
  endfunction
  function automatic logic [3:0] lowest(logic [3:0] ones);
    lowest = ones & (~ones + 4'd1);
  endfunction
  // Pairs of columns in descending order: 0 is columns 0 and 1, 5 is columns 2 and 3; pair p and
  // pair 5 - p are all columns.
  function automatic logic [3:0] pair(int p);
    case (p)
      0: pair = 4'b0011;
      1: pair = 4'b0101;
      2: pair = 4'b1001;
      3: pair = 4'b0110;
      4: pair = 4'b1010;
      default: pair = 4'b1100;
    endcase
  endfunction
  function automatic int index_of(logic [3:0] mask);
    index_of = mask == 4'b0011 ? 0 : mask == 4'b0101 ? 1 : mask == 4'b1001 ? 2 : mask == 4'b0110 ? 3
        : mask == 4'b1010 ? 4 : 5;
  endfunction

  logic [6*(Width+1)-1:0] upper, lower;  // sums of pairs
  for (genvar p = 0; p < 6; p++) begin : gen_pair
    localparam int First = p < 3 ? 0 : p < 5 ? 1 : 2;
    localparam int Second = p < 3 ? p + 1 : p < 5 ? p - 1 : 3;
    assign upper[p*(Width+1) +: Width+1] = {1'b0, upper_i[First*Width +: Width]}
        + {1'b0, upper_i[Second*Width +: Width]};
    assign lower[p*(Width+1) +: Width+1] = {1'b0, lower_i[First*Width +: Width]}
        + {1'b0, lower_i[Second*Width +: Width]};
  end

  for (genvar k = 0; k < 19; k++) begin : gen_counts
    localparam logic [7:0] Counts = counts(k);
    localparam logic [3:0] Twos = columns(Counts, 1'b1);
    localparam logic [3:0] Ones = columns(Counts, 1'b0);
    localparam int Ways = Ones == 4'd0 ? 1 : Twos == 4'd0 ? 6 : 2;
    for (genvar w = 0; w < Ways; w++) begin : gen_way
      localparam logic [3:0] Upper = Ways == 1 ? Twos : Ways == 6 ? pair(w)
          : Twos | (w == 0 ? lowest(Ones) : Ones & ~lowest(Ones));
      localparam logic [3:0] Lower = Ways == 1 ? Twos : Ways == 6 ? ~pair(w)
          : Twos | (w == 0 ? Ones & ~lowest(Ones) : lowest(Ones));
      logic [Width+1:0] sum, best;
      logic [7:0]       mask;
      assign sum = {1'b0, upper[index_of(Upper)*(Width+1) +: Width+1]}
          + {1'b0, lower[index_of(Lower)*(Width+1) +: Width+1]};
      if (w == 0) begin : gen_first
        assign best = sum;
        assign mask = {Lower, Upper};
      end else begin : gen_next
        logic better;
        assign better = sum > gen_way[w-1].best;
        assign best = better ? sum : gen_way[w-1].best;
        assign mask = better ? {Lower, Upper} : gen_way[w-1].mask;
      end
    end
    assign sums_o[k*(Width+2) +: Width+2] = gen_way[Ways-1].best;
    assign masks_o[k*8 +: 8] = gen_way[Ways-1].mask;
  end
endmodule
