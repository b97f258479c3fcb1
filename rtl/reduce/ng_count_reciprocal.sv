// SPDX-License-Identifier: Apache-2.0
// 1/count as FP32 rounds it, one bit a cycle: significand_o * 2^-(23 + exp_o), 24 bits of which the
// top one is 1. Twin of narrowgauge::count_reciprocal.
//
// exp_o is found first: 1 is doubled until it reaches the count. Then each cycle gives a bit of
// (2^(23 + exp_o) + floor(count / 2)) / count, whose floor is the quotient rounded to nearest: it
// is no tie unless the count is a power of two, where it is exact. The half of the count enters
// where its bits stand, at the end. A count of 0 gives a significand without meaning.
//
// Width argument: the rest is below the count before a doubling, and below twice the count, at most
// 2^(CountBits - 1), behind it.
//
// start_i begins; count_i is read from the next cycle on, until done_o. At most CountBits + 24
// cycles pass.
module ng_count_reciprocal #(
  parameter int CountBits = 7  // of the count, 2^(CountBits - 1) at most
) (
  input  logic                 clk_i,
  input  logic                 start_i,
  input  logic [CountBits-1:0] count_i,
  output logic                 done_o,         // the results stand until start_i
  output logic [23:0]          significand_o,
  output logic [2:0]           exp_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (CountBits < 2 || CountBits > 7) begin : gen_check_count_bits
    $fatal(1, "ng_count_reciprocal: CountBits=%0d; expected 2 to 7", CountBits);
  end
`endif

  logic [CountBits-1:0] rest_q;
  logic [CountBits-2:0] less, kept;  // below the count
  logic [4:0]           bits_q;  // of the significand that stand
  logic                 reaches, unused_top, unused_half, next_bit;
  logic [5:0]           half;
  assign {reaches, unused_top, less, unused_half} = {1'b0, rest_q, 1'b1} + {1'b0, ~count_i, 1'b1};
  assign kept = reaches ? less : rest_q[CountBits-2:0];
  // Behind bit 17 come the six bits of half the count, the upper one first.
  assign half = 6'(count_i[CountBits-1:1]);
  always_comb begin
    // ng-no-fault: only a count of 64 has half[5], and its reciprocal needs no rounding
    unique case (bits_q)
      5'd17:   next_bit = half[5];
      5'd18:   next_bit = half[4];
      5'd19:   next_bit = half[3];
      5'd20:   next_bit = half[2];
      5'd21:   next_bit = half[1];
      5'd22:   next_bit = half[0];
      default: next_bit = 1'b0;
    endcase
  end
  assign done_o = bits_q == 5'd24;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rest_q        <= CountBits'(1);
      bits_q        <= '0;
      significand_o <= '0;
      exp_o         <= '0;
    end else if (bits_q == '0 && !reaches) begin
      rest_q <= rest_q << 1;
      exp_o  <= exp_o + 3'd1;
    end else if (!done_o) begin
      rest_q        <= {kept, next_bit};
      bits_q        <= bits_q + 5'd1;
      significand_o <= {significand_o[22:0], reaches};
    end
  end

endmodule
