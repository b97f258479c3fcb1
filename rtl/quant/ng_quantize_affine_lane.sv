// SPDX-License-Identifier: Apache-2.0
// An element of ng_quantize_affine: a number over a scale, plus the zero point, rounded once to an
// integer code.
//
//   product   x as an integer times inverse_i; of FP32 its magnitude
//   shifted   the product less the bits that a code cannot need: at the top, where `over` tells
//             that there were any, and at the bottom, where `sticky` does
//   code      shifted product plus zero point, rounded and saturated by one sum
//
// The shifter keeps, behind the stage that shifts by 2^k, what stages of less than 2^k can still
// bring to the result, and no bit more.
//
// The sum. Let F be the kept fraction bits, y the number cut to them, t whether bits below are
// lost. Rounding to nearest adds half a unit less one last place to y, and a carry that says t or
// "ties go up". FP32 comes as sign and magnitude; its negative is ~magnitude plus one last place,
// which is there only if nothing is lost: both together make the addend half a unit, and the carry
// "not t and ties go up". Ties go up to even where the floor is odd; away from zero where the floor
// is not negative, which no code below zero needs to know if codes are unsigned. Stochastically
// random bits are the addend.
//
// Width argument. With B = Bits the zero point is at least -2^B and less than 2^B. A number of
// 2^(B+1) or more, or less than -2^(B+1), is beyond all codes with any zero point: B + 1 bits and
// the sign are kept. Their sum with the zero point and a carry is within -3 2^B and 3 2^B: B + 3
// bits.
// INT32 times 24 bits takes 56 bits, two significands 48. Of FP32 the number is the product times
// 2^-count, count = 126 + shift_i - e (Pow2: 103) from -128 to 188: 9 bits + sign. A negative count
// puts a normal number beyond all codes, as the product is 2^23 or more; subnormal ones have none.
// Counts that the shifter cannot hold are its largest one, behind which no kept bit is left, as F
// is 12 or less.
//
// Cuts (docs/cuts.md): bit 0 behind the product, 1 behind the shift.
module ng_quantize_affine_lane #(
  parameter int Bits     = 8,                            // of a code
  parameter int Input    = ng_affine_pkg::Int32,         // what x_i is
  parameter bit Pow2     = 1'b0,                         // 1: inverse_i counts as 1
  parameter bit Signed   = 1'b1,                         // 1: codes are two's complement
  parameter bit TiesAway = 1'b0,                         // 0: to even
  parameter int RandBits = 0,                            // 0: to nearest only
  parameter int Cuts     = 0,                            // registers: 1 product + 2 shifted
  localparam int ShiftWidth = ng_affine_pkg::shift_width(Input, Pow2),
  localparam int RandWidth  = RandBits > 0 ? RandBits : 1
) (
  input  logic                   clk_i,         // clock of the cuts
  input  logic                   en_i,          // enable of the cuts
  input  logic [31:0]            x_i,
  input  logic [23:0]            inverse_i,
  input  logic [ShiftWidth-1:0]  shift_i,
  input  logic signed [Bits:0]   zero_point_i,
  input  logic                   stochastic_i,
  input  logic [RandWidth-1:0]   rand_i,
  output logic [Bits-1:0]        code_o,
  output logic                   special_o      // x_i is an infinity or a NaN
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Bits < 2 || Bits > 8) begin : gen_check_bits
    $fatal(1, "ng_quantize_affine_lane: Bits=%0d; expected 2 to 8", Bits);
  end
  if (Input < 0 || Input > 1) begin : gen_check_input
    $fatal(1, "ng_quantize_affine_lane: Input=%0d; expected 0 (int32) or 1 (fp32)", Input);
  end
  if (RandBits < 0 || RandBits > 12) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_affine_lane: RandBits=%0d; expected 0 to 12", RandBits);
  end
`endif

  localparam bit Float = Input == ng_affine_pkg::Fp32;
  localparam int FracBits = RandWidth;
  localparam int ProductWidth = (Float ? 24 : 32) + (Pow2 ? 0 : 24);
  localparam int KeptBits = Bits + 1 + FracBits;     // beside the sign
  localparam int AllBits = ProductWidth + FracBits;  // places that the shifter sees
  localparam int CountWidth = Float ? (AllBits <= 31 ? 5 : 6) : ShiftWidth;
  // Places that matter where the shift that is left is less than 2^k.
  function automatic int places(int k);
    places = KeptBits - 1 + (1 << k) < AllBits ? KeptBits - 1 + (1 << k) : AllBits;
  endfunction

  // ---- product, how far it is shifted
  logic [ProductWidth-1:0] product, product_q;
  logic [CountWidth-1:0]   count, count_q;
  logic                    sign, nan, huge;  // huge: beyond all codes whatever the product is
  if (Float) begin : gen_fp32
    logic              normal, special;
    logic [23:0]       sig;
    logic signed [9:0] distance;
    localparam int Base = Pow2 ? 103 : 126;
    assign normal = |x_i[30:23];
    assign special = &x_i[30:23];
    assign sig = {normal, x_i[22:0]};
    assign distance = $signed(10'(Base) + 10'(shift_i) - {2'b0, x_i[30:24], x_i[23] | ~normal});
    assign count = distance[9] ? '0
        : distance[CountWidth-1:0] | {CountWidth{|distance[8:CountWidth]}};
    assign sign = x_i[31];
    assign nan = special & (|x_i[22:0]);
    assign huge = special | (distance[9] & (Pow2 | (|inverse_i)));
    if (Pow2) begin : gen_shift_only
      assign product = sig;
    end else begin : gen_product
      assign product = 48'(sig) * 48'(inverse_i);
    end
    assign special_o = special;
  end else begin : gen_int32
    assign count = shift_i;
    assign sign = product[ProductWidth-1];
    assign {nan, huge, special_o} = '0;
    if (Pow2) begin : gen_shift_only
      assign product = x_i;
    end else begin : gen_product
      assign product = 56'($signed(x_i)) * 56'($signed({1'b0, inverse_i}));
    end
  end
  if (Pow2) begin : gen_no_inverse
    logic unused_inverse;
    assign unused_inverse = ^inverse_i;
  end

  logic                 sign_p, nan_p, huge_p, stochastic_p;
  logic signed [Bits:0] zero_point_p;
  logic [RandWidth-1:0] rand_p;
  ng_cut #(
    .Width (ProductWidth + CountWidth + 4 + Bits + 1 + RandWidth),
    .Enable(Cuts & ng_affine_pkg::CutProduct)
  ) u_cut_product (
    .clk_i,
    .en_i,
    .d_i  ({product, count, sign, nan, huge, stochastic_i, zero_point_i, rand_i}),
    .q_o  ({product_q, count_q, sign_p, nan_p, huge_p, stochastic_p, zero_point_p, rand_p})
  );

  // ---- the shift
  logic fill;  // what comes in at the top
  assign fill = !Float && sign_p;
  for (genvar k = CountWidth; k >= 0; k--) begin : gen_stage
    localparam int Width = places(k);
    logic [Width-1:0] bits;
    logic             over, sticky;
    if (k == CountWidth) begin : gen_first
      assign bits = {product_q, {FracBits{1'b0}}};
      assign over = huge_p;
      assign sticky = 1'b0;
    end else begin : gen_next
      localparam int Above = places(k + 1);
      localparam int Lost = (1 << k) < Above ? 1 << k : Above;
      logic [Above-1:0] moved;
      assign moved = count_q[k] ? Above'({{Above{fill}}, gen_stage[k+1].bits} >> (1 << k))
          : gen_stage[k+1].bits;
      assign bits = moved[Width-1:0];
      assign sticky = gen_stage[k+1].sticky | (count_q[k] & (|gen_stage[k+1].bits[Lost-1:0]));
      if (Above > Width) begin : gen_over
        assign over = gen_stage[k+1].over | (|(moved[Above-1:Width] ^ {Above - Width{fill}}));
      end else begin : gen_whole
        assign over = gen_stage[k+1].over;
      end
    end
  end
  // All places may be fewer than those that are kept.
  localparam int LastBits = AllBits < KeptBits ? AllBits : KeptBits;
  logic [KeptBits-1:0] kept;
  assign kept = KeptBits'(gen_stage[0].bits[LastBits-1:0]);

  logic                        sign_q, nan_q, over_q, sticky_q, stochastic_q;
  logic [KeptBits-1:0]         kept_q;
  logic signed [Bits:0]        zero_point_q;
  logic [RandWidth-1:0]        rand_q;
  ng_cut #(
    .Width (KeptBits + 5 + Bits + 1 + RandWidth),
    .Enable(Cuts & ng_affine_pkg::CutShifted)
  ) u_cut_shifted (
    .clk_i,
    .en_i,
    .d_i  ({kept, sign_p, nan_p, gen_stage[0].over, gen_stage[0].sticky, stochastic_p, zero_point_p,
        rand_p}),
    .q_o  ({kept_q, sign_q, nan_q, over_q, sticky_q, stochastic_q, zero_point_q, rand_q})
  );

  // ---- the sum
  localparam int SumBits = Bits + 3;
  logic                         minus;  // kept_q is the magnitude of a negative number
  logic                         random, up, carry;
  logic [Bits+1+FracBits:0]     term;
  logic [FracBits-1:0]          addend;
  logic [SumBits+FracBits-1:0]  sum;
  logic [SumBits-1:0]           code;
  assign minus = Float && sign_q;
  assign term = {sign_q, kept_q ^ {KeptBits{minus}}};
  assign random = RandBits > 0 && stochastic_q;
  if (!TiesAway) begin : gen_ties_even
    assign up = term[FracBits] ^ zero_point_q[0];
  end else if (!Signed) begin : gen_ties_up
    assign up = 1'b1;
  end else begin : gen_ties_away
    logic [SumBits-1:0] floor;
    assign floor = {{2{zero_point_q[Bits]}}, zero_point_q} + {term[Bits+1+FracBits],
        term[Bits+1+FracBits:FracBits]};
    assign up = ~floor[SumBits-1];
  end
  assign carry = minus ? ~sticky_q & (random | up) : ~random & (sticky_q | up);
  if (RandBits > 0) begin : gen_random
    logic [FracBits-1:0] half;
    assign half = {minus, {FracBits - 1{~minus}}};
    assign addend = random ? rand_q : half;
  end else begin : gen_nearest
    logic unused_random;
    assign unused_random = stochastic_q ^ rand_q[0];
    assign addend = minus;
  end
  assign sum = {{2{zero_point_q[Bits]}}, zero_point_q, addend}
      + {term[Bits+1+FracBits], term} + (SumBits + FracBits)'(carry);
  assign code = sum[SumBits+FracBits-1:FracBits];

  // ---- saturated
  logic negative, above, below, most, least;
  assign negative = code[SumBits-1];
  if (Signed) begin : gen_signed
    assign above = ~negative & (|code[SumBits-2:Bits-1]);
    assign below = negative & ~(&code[SumBits-2:Bits-1]);
  end else begin : gen_unsigned
    assign above = ~negative & (|code[SumBits-2:Bits]);
    assign below = negative;
  end
  assign most = nan_q | (over_q ? ~sign_q : above);
  assign least = ~nan_q & (over_q ? sign_q : below);
  assign code_o = Signed
      ? {(code[Bits-1] & ~most) | least, (code[Bits-2:0] | {Bits - 1{most}}) & ~{Bits - 1{least}}}
      : (code[Bits-1:0] | {Bits{most}}) & ~{Bits{least}};

  logic unused;
  assign unused = ^sum[FracBits-1:0];
endmodule
