// SPDX-License-Identifier: Apache-2.0
// ng_count_reciprocal gives 1/count as FP32 rounds it, for every count. With c the count, e the exponent and h the half of c
// without its fraction, the quotient is that of N = 2^(23 + e) + h by c. After b bits the significand s, the rest r and what has
// entered of N are held together by 2 c s + r = P(b), where P(b) is 2^(e + b) and the bits of h that have entered; r < 2 c. So at
// the end c s <= N < c (s + 1). hierconn: see fifo_proof.sv.
module count_reciprocal_proof #(
  parameter int CountBits = 7
) (
  input logic                 clk_i,
  input logic                 start_i,
  input logic [CountBits-1:0] count_i
);
  localparam int Bits = 33;  // of P, and of 2 c s + r
  logic                 done;
  logic [23:0]          significand;
  logic [2:0]           exp;
  logic                 begun = 1'b0;  // out of the first start
  logic [CountBits-1:0] count_q;
  logic                 start;
  assign start = start_i | ~begun;
  ng_count_reciprocal #(
    .CountBits(CountBits)
  ) u_reciprocal (
    .clk_i        (clk_i),
    .start_i      (start),
    .count_i      (count_q),
    .done_o       (done),
    .significand_o(significand),
    .exp_o        (exp)
  );
  // The count stands from the cycle behind the start on.
  always_ff @(posedge clk_i) begin
    begun <= 1'b1;
    if (start) count_q <= count_i;
  end
  always_comb assume (count_i != '0 && count_i <= CountBits'(1 << (CountBits - 1)));

  (* hierconn *) wire [CountBits-1:0] \u_reciprocal.rest_q ;
  (* hierconn *) wire [4:0] \u_reciprocal.bits_q ;
  logic [4:0]      bits;
  logic [Bits-1:0] count, half, entered, quotient;
  assign bits = \u_reciprocal.bits_q ;
  assign count = Bits'(count_q);
  assign half = Bits'(count_q[CountBits-1:1]);
  assign entered = (Bits'(1) << (Bits'(exp) + Bits'(bits)))
      + (bits == 5'd24 ? half << 1 : bits < 5'd18 ? '0 : half >> (5'd23 - bits));
  assign quotient = Bits'(significand) * count;
  always_comb begin
    if (begun) begin
      assert (count_q != '0 && count_q <= CountBits'(1 << (CountBits - 1)));
      assert (bits <= 5'd24 && done == (bits == 5'd24));
      assert (exp < 3'(CountBits));
`ifdef RECIPROCAL_FALSE
      assert (exp == 3'd0 || (Bits'(1) << exp) < count);  // as if 1 were not doubled up to the count itself
`else
      assert (exp == 3'd0 || (Bits'(1) << exp) < (count << 1));  // no doubling too many
`endif
      assert ((quotient << 1) + Bits'(\u_reciprocal.rest_q ) == entered);
      assert (Bits'(\u_reciprocal.rest_q ) < (count << 1));
      assert (significand >> bits == '0);
      if (bits != 5'd0) begin
        assert (significand[5'(bits - 5'd1)]);  // the top one
      end
      if (done) begin
        assert (quotient <= (entered >> 1) && (entered >> 1) < quotient + count);
      end
    end
  end
endmodule
