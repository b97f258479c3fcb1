// SPDX-License-Identifier: Apache-2.0
// Integer multiply-accumulate: adds the products of Lanes pairs of operands to a sum, exactly, in
// every cycle in which valid_i is set. The reference unit of the energy gauge.
//
// valid_i: take the operands. first_i: start a new sum with these products. acc_o is the sum up to
// the previous cycle's, or, with Pipelined, up to the one before: a register then stands between
// the adder tree and the accumulator, as in ng_mac_pe. Multipliers (ng_int_mult), adder tree
// (ng_sum_tree) and accumulator (ng_exact_acc) are modules of their own: a synthesizer that fused
// them would sign-extend every partial product to the accumulator's width.
//
// Width argument: a product has AWidth + BWidth bits, one more as a signed number if both operands
// are unsigned; Lanes of them clog2(Lanes) more. AccWidth = that + clog2(n) never overflows in n
// cycles; beyond, the sum is modulo 2^AccWidth.
module ng_int_mac #(
  parameter int AWidth    = 8,
  parameter int BWidth    = 8,
  parameter bit ASigned   = 1'b1,  // a_i is two's complement
  parameter bit BSigned   = 1'b1,  // b_i is two's complement
  parameter int Structure = 0,  // of the multipliers: 0 array, 1 booth, 2 wallace
  parameter int Lanes     = 1,
  parameter int AccWidth  = 32,
  parameter bit Pipelined = 1'b0,  // a register before the accumulator
  localparam int LaneWidth = AWidth + BWidth + (!ASigned && !BSigned ? 1 : 0),
  localparam int TermWidth = LaneWidth + $clog2(Lanes)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  input  logic                       first_i,
  input  logic [Lanes*AWidth-1:0]    a_i,
  input  logic [Lanes*BWidth-1:0]    b_i,
  output logic signed [AccWidth-1:0] acc_o   // unsigned if both operands are
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (AWidth < 1 || AWidth > 16) begin : gen_check_a_width
    $fatal(1, "ng_int_mac: AWidth=%0d; expected 1 to 16", AWidth);
  end
  if (BWidth < 1 || BWidth > 16) begin : gen_check_b_width
    $fatal(1, "ng_int_mac: BWidth=%0d; expected 1 to 16", BWidth);
  end
  if (Structure < 0 || Structure > 2) begin : gen_check_structure
    $fatal(1, "ng_int_mac: Structure=%0d; expected 0 (array), 1 (booth) or 2 (wallace)", Structure);
  end
  if (Lanes < 1 || Lanes > 1024) begin : gen_check_lanes
    $fatal(1, "ng_int_mac: Lanes=%0d; expected 1 to 1024", Lanes);
  end
  if (AccWidth < TermWidth || AccWidth > 128) begin : gen_check_acc_width
    $fatal(1, "ng_int_mac: AccWidth=%0d; expected %0d (the products of a cycle) to 128",
           AccWidth, TermWidth);
  end
`endif

  logic [Lanes*LaneWidth-1:0]  products;
  logic signed [TermWidth-1:0] term;

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [AWidth+BWidth-1:0] product;
    ng_int_mult #(
      .AWidth   (AWidth),
      .BWidth   (BWidth),
      .ASigned  (ASigned),
      .BSigned  (BSigned),
      .Structure(Structure)
    ) u_mult (
      .a_i      (a_i[i*AWidth +: AWidth]),
      .b_i      (b_i[i*BWidth +: BWidth]),
      .product_o(product)
    );
    // LaneWidth is wider for unsigned products only
    assign products[i*LaneWidth +: LaneWidth] = LaneWidth'(product);
  end

  if (Lanes <= 1) begin : gen_one
    assign term = products;
  end else begin : gen_sum
    ng_sum_tree #(
      .Operands(Lanes),
      .Width   (LaneWidth)
    ) u_sum (
      .x_i    (products),
      .carry_i({(Lanes - 1){1'b0}}),  // sized: Yosys 0.23 loads the tree twice for '0, and stops
      .sum_o  (term)
    );
  end

  // The register before the accumulator.
  logic signed [TermWidth-1:0] term_q;
  logic                        valid_q, first_q;
  if (Pipelined) begin : gen_register
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= valid_i;
    end
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        term_q  <= term;
        first_q <= first_i;
      end
    end
  end else begin : gen_no_register
    assign valid_q = 1'b0;
    assign first_q = 1'b0;
    assign term_q = '0;
  end

  logic unused_nan, unused_pinf, unused_ninf;
  ng_exact_acc #(
    .TermWidth(TermWidth),
    .AccWidth (AccWidth)
  ) u_acc (
    .clk_i,
    .rst_ni,
    .valid_i(Pipelined ? valid_q : valid_i),
    .first_i(Pipelined ? first_q : first_i),
    .term_i (Pipelined ? term_q : term),
    .nan_i  (1'b0),
    .pinf_i (1'b0),
    .ninf_i (1'b0),
    .acc_o,
    .nan_o  (unused_nan),
    .pinf_o (unused_pinf),
    .ninf_o (unused_ninf)
  );

endmodule
