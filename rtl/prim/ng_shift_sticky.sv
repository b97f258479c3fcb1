// SPDX-License-Identifier: Apache-2.0
// Shifts right and keeps the "or" of what falls off. Combinational.
//
// Width argument: from Width on every count empties the register, so counts that CountWidth bits
// cannot hold are taken as all ones, which is at least Width.
module ng_shift_sticky #(
  parameter int Width   = 26,
  parameter int ByWidth = 10
) (
  input  logic [Width-1:0]   data_i,
  input  logic [ByWidth-1:0] by_i,
  output logic [Width-1:0]   data_o,
  output logic               sticky_o
);

  localparam int CountWidth = $clog2(Width + 1);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1) begin : gen_check_width
    $fatal(1, "ng_shift_sticky: Width=%0d; expected 1 or more", Width);
  end
  if (ByWidth <= CountWidth) begin : gen_check_by_width
    $fatal(1, "ng_shift_sticky: ByWidth=%0d; expected more than %0d, what Width=%0d takes",
           ByWidth, CountWidth, Width);
  end
`endif

  logic [CountWidth-1:0] count;
  assign count = by_i[CountWidth-1:0] | {CountWidth{|by_i[ByWidth-1:CountWidth]}};
  always_comb begin
    data_o = data_i;
    sticky_o = 1'b0;
    for (int k = 0; k < CountWidth; k++) begin
      if (count[k]) begin
        sticky_o = sticky_o | (|(data_o & ~({Width{1'b1}} << (1 << k))));
        data_o = data_o >> (1 << k);
      end
    end
  end

endmodule
