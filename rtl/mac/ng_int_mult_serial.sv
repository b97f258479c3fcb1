// SPDX-License-Identifier: Apache-2.0
// Product of two integers by shift and add: one bit of b a cycle, lowest first, through one adder.
// Each operand is signed (two's complement) or unsigned; the product is signed if either is.
//
// One register holds the running sum above the bits of b that are to come. Its lowest bit decides
// whether a is added to the sum; then all moves right by one, the sum's finished bit into the place
// that b's bit left. The last bit of a signed b weighs negatively: a is subtracted.
//
// A pair takes BWidth cycles, and the next may follow at once. The first step, which adds to
// nothing, is made as the pair is taken; the last one goes to the output and is not stored: valid_o
// comes with it, the register and with it product_o stand until ready_i. In the cycles before,
// product_o shows the register's next value.
//
// Width argument: after i steps the sum is a times the low i bits of b. It fits AWidth + i bits, as
// a signed number if a is signed or, with the last step, b: AWidth + 1 bits above those that are
// finished. The register's sum has one bit less: what is above is a's sign or, since only the last
// step makes an unsigned a's sum negative, 0.
module ng_int_mult_serial #(
  parameter int AWidth  = 8,
  parameter int BWidth  = 8,
  parameter bit ASigned = 1'b1,  // a_i is two's complement
  parameter bit BSigned = 1'b1,  // b_i is two's complement
  localparam int ProductWidth = AWidth + BWidth
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    valid_i,
  output logic                    ready_o,
  input  logic [AWidth-1:0]       a_i,
  input  logic [BWidth-1:0]       b_i,
  output logic                    valid_o,
  input  logic                    ready_i,
  output logic [ProductWidth-1:0] product_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (AWidth < 1 || AWidth > 16) begin : gen_check_a_width
    $fatal(1, "ng_int_mult_serial: AWidth=%0d; expected 1 to 16", AWidth);
  end
  if (BWidth < 2 || BWidth > 16) begin : gen_check_b_width
    $fatal(1, "ng_int_mult_serial: BWidth=%0d; expected 2 to 16", BWidth);
  end
`endif

  localparam int CountWidth = BWidth > 2 ? $clog2(BWidth) : 1;

  logic [AWidth-1:0]       multiplier_q;
  logic [ProductWidth-1:0] sum_q;
  logic [CountWidth-1:0]   count_q;  // steps to go

  logic take, last, subtract;
  assign last = (count_q >> 1) == '0;  // or none: the adder rests between two pairs
  assign ready_o = count_q == '0;
  assign valid_o = last & ~ready_o;
  assign take = valid_i & ready_o;
  assign subtract = BSigned & last & sum_q[0];

  logic [AWidth:0] above, term, sum;
  logic            unused_carry;
  assign above = {ASigned & sum_q[ProductWidth-1], sum_q[ProductWidth-1:BWidth]};
  assign term = ({ASigned & multiplier_q[AWidth-1], multiplier_q} & {(AWidth + 1){sum_q[0]}})
      ^ {(AWidth + 1){subtract}};
  ng_ripple_add #(
    .Width(AWidth + 1)
  ) u_add (
    .x_i    (above),
    .y_i    (term),
    .carry_i(subtract),
    .sum_o  ({unused_carry, sum})
  );
  assign product_o = {sum, sum_q[BWidth-1:1]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      multiplier_q <= '0;
      sum_q        <= '0;
      count_q      <= '0;
    end else if (take) begin
      multiplier_q <= a_i;
      sum_q        <= {{ASigned & a_i[AWidth-1], a_i} & {(AWidth + 1){b_i[0]}}, b_i[BWidth-1:1]};
      count_q      <= CountWidth'(BWidth - 1);
    end else if (!last) begin
      sum_q   <= product_o;
      count_q <= count_q - CountWidth'(1);
    end else if (ready_i) begin
      count_q <= '0;
    end
  end

endmodule
