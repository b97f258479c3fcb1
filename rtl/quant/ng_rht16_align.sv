// SPDX-License-Identifier: Apache-2.0
// An element of ng_rht16 in units of the block: its significand, Window places below the largest
// one's, shifted down by the distance of the exponents. Combinational. What falls off below is cut
// off; lost_o says that it was not zero. A negative element comes as the complement of its
// magnitude, which lacks 1.
//
// Width argument: 8 bits of significand and Window places below. Distances from 8 + Window on leave
// nothing.
module ng_rht16_align #(
  parameter int Window = 8
) (
  input  logic [15:0]       code_i,
  input  logic [7:0]        largest_i,  // exponent field, at least 1
  input  logic              negate_i,
  output logic [Window+7:0] aligned_o,
  output logic              lost_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Window < 0 || Window > 253) begin : gen_check_window
    $fatal(1, "ng_rht16_align: Window=%0d; expected 0 to 253", Window);
  end
`endif

  localparam int Width = Window + 8;
  localparam int ShiftWidth = $clog2(Width) < 8 ? $clog2(Width) : 8;

  logic       hidden, negative, far;
  logic [7:0] distance;
  assign hidden = |code_i[14:7];
  assign negative = code_i[15] ^ negate_i;
  assign distance = largest_i - {code_i[14:8], code_i[7] | ~hidden};
  assign far = ({1'b0, distance} >> ShiftWidth) != '0;

  logic [Width-1:0] shifted;
  always_comb begin
    shifted = Width'({hidden, code_i[6:0]}) << Window;
    lost_o = 1'b0;
    for (int k = 0; k < ShiftWidth; k++) begin
      if (distance[k]) begin
        lost_o = lost_o | (|(shifted & ~({Width{1'b1}} << (1 << k))));
        shifted = shifted >> (1 << k);
      end
    end
    if (far) begin
      lost_o = hidden | (|code_i[6:0]);
      shifted = '0;
    end
  end
  assign aligned_o = shifted ^ {Width{negative}};

endmodule
