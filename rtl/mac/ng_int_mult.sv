// SPDX-License-Identifier: Apache-2.0
// Product of two integers, as one of three textbook multipliers, written out so that synthesis
// keeps the structure: the reference that energy is compared with. Combinational. Each operand is
// signed (two's complement) or unsigned; the product is signed if either is.
//
// Structure
//   0 array    a row of AWidth full adders for each bit of b, carries rippling along the row. Signs
//              after Baugh and Wooley: the partial products of negative weight, -p, become ~p - 1,
//              and the -1s add up to the constant
//                Fix = [ASigned or BSigned] 2^(A+B-1) + [ASigned] 2^(A-1) + [BSigned] 2^(B-1)
//                      mod 2^(A+B)
//              whose three bits are what row 0 adds to, the carry into the last row, and an
//              inverter on the top bit.
//   1 booth    b recoded to digits of -2 to 2 (radix 4, Booth and MacSorley): half as many rows; a
//              row adds digit * a to the sum above it. A negative digit inverts, the +1 is the
//              row's carry-in.
//   2 wallace  the array's bits and Fix packed into columns, three rows at a time compressed to two
//              by full adders (a full adder with a zero is a half adder or a wire: the synthesizer
//              sees that), until two are left. Then one carry-propagate adder, a `+`.
//
// Width argument: |a| <= 2^A and |b| <= 2^B, or 2^(A-1), 2^(B-1) where signed, and only an unsigned
// operand is below its bound: the product fits A + B bits. Array: a row's sum is below 2^(A+1).
// Booth: with W = bits of a as a signed number, |digit * a| <= 2^W, and the sum in a row, in its
// units, is below 2^W (1 + 1/4 + ...) < 2^(W+1): W + 2 bits with sign.
module ng_int_mult #(
  parameter int AWidth    = 8,
  parameter int BWidth    = 8,
  parameter bit ASigned   = 1'b1,  // a_i is two's complement
  parameter bit BSigned   = 1'b1,  // b_i is two's complement
  parameter int Structure = 0,  // 0 array, 1 booth, 2 wallace
  localparam int ProductWidth = AWidth + BWidth
) (
  input  logic [AWidth-1:0]       a_i,
  input  logic [BWidth-1:0]       b_i,
  output logic [ProductWidth-1:0] product_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (AWidth < 1 || AWidth > 16) begin : gen_check_a_width
    $fatal(1, "ng_int_mult: AWidth=%0d; expected 1 to 16", AWidth);
  end
  if (BWidth < 1 || BWidth > 16) begin : gen_check_b_width
    $fatal(1, "ng_int_mult: BWidth=%0d; expected 1 to 16", BWidth);
  end
  if (Structure < 0 || Structure > 2) begin : gen_check_structure
    $fatal(1, "ng_int_mult: Structure=%0d; expected 0 (array), 1 (booth) or 2 (wallace)",
           Structure);
  end
`endif

  localparam logic [ProductWidth-1:0] Fix =
      (ProductWidth'(ASigned || BSigned) << (ProductWidth - 1)) +
      (ProductWidth'(ASigned) << (AWidth - 1)) + (ProductWidth'(BSigned) << (BWidth - 1));
  // Of column k of the array's bits: its first row, its bits; and the rows of packed columns after
  // some levels of compression.
  function automatic int first_row(int k);
    first_row = k < AWidth ? 0 : k - AWidth + 1;
  endfunction
  function automatic int height(int k);
    height = (k < BWidth ? k : BWidth - 1) - first_row(k) + 1;
  endfunction
  function automatic int rows_of_level(int level);
    rows_of_level = 2;
    for (int k = 0; k < ProductWidth; k++) begin
      if (height(k) + (Fix[k] ? 1 : 0) > rows_of_level)
        rows_of_level = height(k) + (Fix[k] ? 1 : 0);
    end
    for (int l = 0; l < level; l++) rows_of_level = rows_of_level / 3 * 2 + rows_of_level % 3;
  endfunction

  if (Structure == 0) begin : gen_array
    for (genvar j = 0; j < BWidth; j++) begin : gen_row
      localparam bit LastSigned = BSigned && j == BWidth - 1;
      localparam logic [AWidth-1:0] TopBit = AWidth'(ASigned) << (AWidth - 1);
      logic [AWidth-1:0] above, products;
      logic [AWidth:0]   sum;
      assign products = (a_i & {AWidth{b_i[j]}}) ^ {AWidth{LastSigned}} ^ TopBit;
      if (j == 0) begin : gen_first
        assign above = TopBit;
      end else begin : gen_next
        assign above = gen_row[j-1].sum[AWidth:1];
      end
      ng_ripple_add #(
        .Width(AWidth)
      ) u_row (
        .x_i    (above),
        .y_i    (products),
        .carry_i(LastSigned),
        .sum_o  (sum)
      );
      if (j < BWidth - 1) begin : gen_out
        assign product_o[j] = sum[0];
      end else begin : gen_out_last
        assign product_o[ProductWidth-1:j] = sum ^ {ASigned || BSigned, {AWidth{1'b0}}};
      end
    end
  end

  if (Structure == 1) begin : gen_booth
    // of a as a signed number
    localparam int SignedWidth = AWidth + (ASigned ? 0 : 1);
    localparam int Digits = (BWidth + (BSigned ? 1 : 2)) / 2;
    localparam int SumWidth = SignedWidth + 2 * Digits;
    // a, with room for 2a
    logic [SignedWidth+1:0]        multiplicand;
    logic [2*Digits:0]   digits;                                         // b, with a zero below it
    logic [SumWidth-1:0] all;
    assign multiplicand = {{(SignedWidth + 2 - AWidth){ASigned && a_i[AWidth-1]}}, a_i};
    assign digits = {{(2 * Digits - BWidth){BSigned && b_i[BWidth-1]}}, b_i, 1'b0};
    for (genvar j = 0; j < Digits; j++) begin : gen_row
      logic         one, two, negative;
      logic [SignedWidth+1:0] above, multiple, sum;
      logic         unused_carry;
      assign one = digits[2*j] ^ digits[2*j+1];
      assign two = ~one & (digits[2*j+1] ^ digits[2*j+2]);
      assign negative = digits[2*j+2];
      assign multiple = (({(SignedWidth + 2){one}} & multiplicand)
          | ({(SignedWidth + 2){two}} & (multiplicand << 1)))
          ^ {(SignedWidth + 2){negative}};
      if (j == 0) begin : gen_first
        assign above = '0;
      end else begin : gen_next
        assign above = {{2{gen_row[j-1].sum[SignedWidth+1]}}, gen_row[j-1].sum[SignedWidth+1:2]};
      end
      ng_ripple_add #(
        .Width(SignedWidth + 2)
      ) u_row (
        .x_i    (above),
        .y_i    (multiple),
        .carry_i(negative),
        .sum_o  ({unused_carry, sum})
      );
      if (j < Digits - 1) begin : gen_out
        assign all[2*j +: 2] = sum[1:0];
      end else begin : gen_out_last
        assign all[SumWidth-1:2*j] = sum;
      end
    end
    if (SumWidth > ProductWidth) begin : gen_excess
      logic unused_sign;
      assign unused_sign = ^all[SumWidth-1:ProductWidth];
    end
    assign product_o = all[ProductWidth-1:0];
  end

  if (Structure == 2) begin : gen_wallace
    localparam int MaxLevels = 7;  // 17 rows need 6; two rows stay two

    for (genvar l = 0; l <= MaxLevels; l++) begin : gen_level
      localparam int Rows = rows_of_level(l);
      logic [Rows*ProductWidth-1:0] bits;
      if (l == 0) begin : gen_products
        for (genvar k = 0; k < ProductWidth; k++) begin : gen_column
          for (genvar s = 0; s < Rows; s++) begin : gen_bit
            localparam int Column = s + first_row(k);
            localparam int Row = k - Column;
            if (s < height(k)) begin : gen_product
              localparam bit Negative = (ASigned && Row == AWidth - 1)
                  != (BSigned && Column == BWidth - 1);
              assign bits[s*ProductWidth+k] = (a_i[Row] & b_i[Column]) ^ Negative;
            end else begin : gen_constant
              assign bits[s*ProductWidth+k] = s == height(k) && Fix[k];
            end
          end
        end
      end else begin : gen_compress
        localparam int Above = rows_of_level(l - 1);
        localparam int Groups = Above / 3;
        for (genvar g = 0; g < Groups; g++) begin : gen_group
          logic [ProductWidth-1:0] add_x, add_y, add_z;
          assign add_x = gen_level[l-1].bits[(3*g)*ProductWidth +: ProductWidth];
          assign add_y = gen_level[l-1].bits[(3*g+1)*ProductWidth +: ProductWidth];
          assign add_z = gen_level[l-1].bits[(3*g+2)*ProductWidth +: ProductWidth];
          assign bits[(2*g)*ProductWidth +: ProductWidth] = add_x ^ add_y ^ add_z;
          assign bits[(2*g+1)*ProductWidth +: ProductWidth] =
              ((add_x & add_y) | (add_z & (add_x | add_y))) << 1;
        end
        if (Above % 3 != 0) begin : gen_rest
          assign bits[Rows*ProductWidth-1:2*Groups*ProductWidth] =
              gen_level[l-1].bits[Above*ProductWidth-1:3*Groups*ProductWidth];
        end
      end
    end
    assign product_o = gen_level[MaxLevels].bits[0 +: ProductWidth]
        + gen_level[MaxLevels].bits[ProductWidth +: ProductWidth];
  end

endmodule
