// SPDX-License-Identifier: Apache-2.0
//
// Exact dot product of INT4 and FP4 [1,3,0] numbers, as an integer in units of alpha: shifts and a
// tree of adders.
//
//   dot_o = sum_i value(a_i[4*i+:4]) * value(b_i[4*i+:4])
//
// A lane shifts its INT4 number by the exponent of its FP4 number and inverts it if that is
// negative; the +1 that inversion owes is the carry-in of an adder of the tree, of which there is
// one fewer than lanes: lane 0 negates in full (ng_mul_luq). The adder of two subtrees takes what
// the first lane of the right one owes.
//
// Width argument: a lane is within +-512, less 1 while it owes: 11 bits. The sum of Lanes of them
// is within +-512 Lanes.
//
// Cuts (docs/cuts.md): bit 0 behind the shifts, in front of the tree.
module ng_dot_luq #(
  parameter int Lanes = 16,
  parameter int Cuts  = 0,  // registers: 1 products
  localparam int DotWidth = 11 + $clog2(Lanes)
) (
  input  logic                       clk_i,  // clock of the cut
  input  logic                       en_i,   // enable of the cut
  input  logic        [Lanes*4-1:0]  a_i,    // INT4, two's complement
  input  logic        [Lanes*4-1:0]  b_i,    // FP4 [1,3,0]: sign, exponent field
  output logic signed [DotWidth-1:0] dot_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 2 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_dot_luq: Lanes=%0d; expected a power of two, 2 or more", Lanes);
  end
  if (Cuts < 0 || Cuts > 1) begin : gen_check_cuts
    $fatal(1, "ng_dot_luq: Cuts=%0d; expected 0 or 1", Cuts);
  end
`endif

  localparam int Levels = $clog2(Lanes);

  logic [Lanes*11-1:0] products_d, products;
  logic [Lanes-2:0]    owed_d, owed;

  ng_mul_luq u_first (
    .a_i      (a_i[3:0]),
    .b_i      (b_i[3:0]),
    .product_o(products_d[10:0])
  );
  for (genvar i = 1; i < Lanes; i++) begin : gen_lane
    logic [3:0]  operand;
    logic [11:0] shifted;
    logic        unused_half;
    assign operand = a_i[4*i +: 4] & {4{|b_i[4*i +: 3]}};
    assign shifted = {{8{operand[3]}}, operand} << b_i[4*i +: 3];
    assign products_d[11*i +: 11] = shifted[11:1] ^ {11{b_i[4*i+3]}};
    assign unused_half = shifted[0];
  end
  for (genvar l = 1; l <= Levels; l++) begin : gen_level
    for (genvar i = 0; i < (Lanes >> l); i++) begin : gen_owed
      assign owed_d[Lanes - (Lanes >> (l - 1)) + i] = b_i[4 * ((2 * i + 1) << (l - 1)) + 3];
    end
  end

  ng_cut #(
    .Width (Lanes * 12 - 1),
    .Enable(Cuts & ng_luq_pkg::DotCutProducts)
  ) u_products (
    .clk_i,
    .en_i,
    .d_i  ({products_d, owed_d}),
    .q_o  ({products, owed})
  );

  ng_sum_tree #(
    .Operands(Lanes),
    .Width   (11)
  ) u_tree (
    .x_i    (products),
    .carry_i(owed),
    .sum_o  (dot_o)
  );
endmodule
