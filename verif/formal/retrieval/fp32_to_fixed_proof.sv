// SPDX-License-Identifier: Apache-2.0
// ng_fp32_to_fixed for all numbers, shared exponents and pauses of its stages: beside it, what it took is kept, and its integer is
// compared with the number's significand in a frame wide enough for every bit, rounded by what lies below. hierconn: see
// fifo_proof.sv.
module fp32_to_fixed_proof #(
  parameter int Width = 24
) (
  input logic        clk_i,
  input logic        en_i,
  input logic [31:0] fp32_i,
  input logic [7:0]  exponent_i
);
  logic signed [Width-1:0] fixed;
  ng_fp32_to_fixed #(
    .Width(Width)
  ) u_fixed (
    .clk_i     (clk_i),
    .en_i      (en_i),
    .fp32_i    (fp32_i),
    .exponent_i(exponent_i),
    .fixed_o   (fixed)
  );

  // ---- what its stages hold
  logic        first_q = 1'b0, second_q = 1'b0;  // they hold something
  logic [31:0] first_number_q, number_q;
  logic [7:0]  first_exponent_q, exponent_q;
  always_ff @(posedge clk_i) begin
    if (en_i) begin
      first_q          <= 1'b1;
      second_q         <= first_q;
      first_number_q   <= fp32_i;
      first_exponent_q <= exponent_i;
      number_q         <= first_number_q;
      exponent_q       <= first_exponent_q;
    end
  end

  // ---- the integer of a number: significand * 2^(own - exponent_q + Width - 25)
  localparam int Below = Width + 27;  // bits below an integer's lowest one, of which the last stands for all lower ones
  logic [8:0]              own, distance;  // of the significand's lowest bit; how far down it goes from the top
  logic [23:0]             significand;
  logic                    nan, too_large, negative, up;
  logic [Width+24+Below:0] frame, moved;
  logic [Below-1:0]        rest;
  logic [Width+24:0]       magnitude;
  logic [Width-1:0]        expected;
  assign nan = &number_q[30:23] & |number_q[22:0];
  assign negative = number_q[31];
  assign own = number_q[30:23] == 8'd0 ? 9'd1 : {1'b0, number_q[30:23]};
  assign significand = {number_q[30:23] != 8'd0, number_q[22:0]};
  assign too_large = own > {1'b0, exponent_q} || number_q[30:23] == 8'hFF;
  assign distance = {1'b0, exponent_q} - own > 9'(Width + 1) ? 9'(Width + 26)
      : {1'b0, exponent_q} - own + 9'd25;
  assign frame = {1'b0, significand, {Width + Below{1'b0}}};
  assign moved = frame >> distance;
  assign rest = moved[Below-1:0];
`ifdef FIXED_FALSE
  assign up = rest[Below-1];  // ties away from zero
`else
  assign up = rest[Below-1] & ((|rest[Below-2:0]) | moved[Below]);
`endif
  assign magnitude = moved[Below +: Width+25] + (Width+25)'(up);
  always_comb begin
    if (nan) expected = {1'b1, {(Width-1){1'b0}}};
    else if (too_large || magnitude >= (Width+25)'(1) << (Width - 1))
      expected = {negative, {(Width-1){~negative}}};
    else expected = negative ? -magnitude[Width-1:0] : magnitude[Width-1:0];
  end

  // ---- the first stage, for the induction
  (* hierconn *) wire [23:0] \u_fixed.significand_q ;
  (* hierconn *) wire [7:0] \u_fixed.by_q ;
  (* hierconn *) wire \u_fixed.large_q , \u_fixed.sign_q ;
  logic       first_special;
  logic [7:0] first_own;
  assign first_special = &first_number_q[30:23];
  assign first_own = first_number_q[30:23] == 8'd0 ? 8'd1 : first_number_q[30:23];
  always_comb begin
    if (first_q) begin
      assert (\u_fixed.significand_q == {first_number_q[30:23] != 8'd0, first_number_q[22:0]});
      assert (\u_fixed.by_q == first_exponent_q - first_own);
      assert (\u_fixed.large_q == (first_own > first_exponent_q || first_special));
      assert (\u_fixed.sign_q == (first_number_q[31] | (first_special & |first_number_q[22:0])));
    end
    if (second_q) assert (fixed == $signed(expected));
  end
endmodule
