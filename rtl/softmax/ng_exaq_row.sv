// SPDX-License-Identifier: Apache-2.0
// EXAQ's sum and probabilities of a row from the counts of its codes. Twin of
// narrowgauge::exaq_row.
//
//   S = n e_0 + sum c_k (e_k - e_(k-1)),  p_k = e_k / S, rounded once to FP32 (nearest even)
//
// e_k is the exponential of code k, UQ0.16, from table_i, which stands while a row is inside. S is
// exact. No p_k is above 1: e_k >= S gives 1, and S = 0, a row without any weight, gives zeros and
// empty_o.
//
// Sum: S is also sum e_k (c_k - c_(k+1)). For each bit of the counts, highest first, S is doubled,
// and for each code, highest first, e_k is added where c_k has the bit and c_(k+1) has not, and
// subtracted in the opposite case: one adder, CountBits 2^Bits cycles. The counts are not stored:
// they are taken, by ready_o, in the last of these cycles, and stand until then.
//
// Quotients, one after the other, code 2^Bits - 1 first: restoring division as in ng_div_fp32, but
// of integers, since S has more bits than a significand of FP32 and rounding it first would round
// twice. A step compares the rest with S, shifts the bit into the quotient and doubles the rest;
// zeros before the quotient's first 1 are not kept, they lower the exponent. A quotient of z such
// zeros is offered z + 26 cycles after the one before was taken, or after the counts were; p = 1
// after 2, p = 0 after 1. A quotient of a 16-bit e_k that leaves nothing over has 16 bits at most,
// so none is a tie of 25 bits: the sticky bit need not look at the rest.
//
// Width argument: S <= n e_max < 2^(CountBits + 16) = 2^W for counts that do not rise; partial sums
// wrap around and come right. The rest is below 2 S: W + 1 bits. p >= 1 / S > 2^-W.
module ng_exaq_row #(
  parameter int Bits      = 2,   // of a code
  parameter int CountBits = 12,  // of a count
  localparam int Codes = 1 << Bits,
  localparam int SumBits = CountBits + 16
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [CountBits*Codes-1:0] counts_i,       // n in the low bits, c_1 ...: they do not rise
  input  logic [16*Codes-1:0]        table_i,        // e_0 in the low bits
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [31:0]                probability_o,  // of the code, FP32
  output logic [Bits-1:0]            code_o,
  output logic                       last_o,         // the row's last probability, of code 0
  output logic [SumBits-1:0]         sum_o,          // S of the row, in units of 2^-16
  output logic                       empty_o         // S is 0
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Bits < 2 || Bits > 4) begin : gen_check_bits
    $fatal(1, "ng_exaq_row: Bits=%0d; expected 2, 3 or 4", Bits);
  end
  if (CountBits < 8 || CountBits > 16) begin : gen_check_count_bits
    $fatal(1, "ng_exaq_row: CountBits=%0d; expected 8 to 16", CountBits);
  end
`endif

  localparam int IndexBits = $clog2(CountBits);
  localparam int ExpWidth = 7;

  typedef enum logic [1:0] {Sum, Load, Divide} state_e;
  state_e               state_q;
  logic [Bits-1:0]      code_q;
  logic [IndexBits-1:0] bit_q;   // of the counts
  logic                 top, bottom, final_bit, give;
  assign top = &code_q;
  assign bottom = ~|code_q;
  assign final_bit = bit_q == '0;
  assign ready_o = (state_q == Sum) & bottom & final_bit;
  assign give = valid_o & ready_i;

  logic [15:0]          exponential;
  logic [CountBits-1:0] count;
  assign exponential = table_i[16*code_q +: 16];
  assign count = counts_i[CountBits*code_q +: CountBits];

  // ---- the sum
  logic [SumBits-1:0] sum_q, term;
  logic               has, next_q, next_has, minus;  // the code's count has the bit; the next one's
  assign has = count[bit_q];
  assign next_has = next_q & ~top;
  assign minus = next_has & ~has;
  assign term = {{CountBits{1'b0}}, exponential & {16{has ^ next_has}}} ^ {SumBits{minus}};

  // ---- a step of the division
  logic                first_q;  // the step that compares e_k itself
  logic                zero_q;   // no division: e_k or S is 0
  logic                begun_q;  // the quotient has its first 1
  logic [SumBits:0]    rest_q;
  logic [SumBits:0]    less;     // the rest less S, from -S to S - 1: the top bit is its sign
  logic                one, leading;  // the step's bit; a zero before the first 1
  logic [24:0]         quotient_q;
  logic signed [ExpWidth-1:0] exp_q;
  assign less = rest_q - {1'b0, sum_q};
  assign one = ~less[SumBits];
  assign leading = ~(begun_q | one);
  assign valid_o = (state_q == Divide) & (zero_q | quotient_q[24]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Sum;
      code_q  <= '1;
      bit_q   <= IndexBits'(CountBits - 1);
      sum_q   <= '0;
    end else begin
      unique case (state_q)
        Sum: if (valid_i) begin
          sum_q  <= (top ? {sum_q[SumBits-2:0], 1'b0} : sum_q) + term + SumBits'(minus);
          code_q <= code_q - Bits'(1);
          if (bottom) bit_q <= final_bit ? IndexBits'(CountBits - 1) : bit_q - IndexBits'(1);
          if (ready_o) state_q <= Load;
        end
        Load: state_q <= Divide;
        default: if (give) begin
          state_q <= bottom ? Sum : Load;
          code_q  <= code_q - Bits'(1);
          if (bottom) sum_q <= '0;
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    next_q <= has;
    if (state_q == Load) begin
      first_q    <= 1'b1;
      begun_q    <= 1'b0;
      zero_q     <= ~(|exponential & |sum_q);
      empty_o    <= ~|sum_q;
      rest_q     <= {{CountBits + 1{1'b0}}, exponential};
      quotient_q <= '0;
      exp_q      <= '0;
    end else if (~valid_o) begin
      first_q    <= 1'b0;
      begun_q    <= ~leading;
      // e_k >= S: the quotient is 1
      quotient_q <= first_q & one ? {1'b1, 24'b0} : {quotient_q[23:0], one};
      rest_q     <= {one ? less[SumBits-1:0] : rest_q[SumBits-1:0], 1'b0};
      exp_q      <= exp_q - ExpWidth'(leading);
    end
  end

  ng_round_pack #(
    .SigWidth(26),
    .ExpWidth(ExpWidth),
    .ExpLo   (-SumBits),
    .ExpHi   (0),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(ng_round_pkg::NearestEven),
    .nan_i (1'b0),
    .inf_i (1'b0),
    .sign_i(1'b0),
    .exp_i (exp_q),
    .sig_i ({quotient_q, 1'b1} & {26{~zero_q}}),
    .rand_i(1'b0),
    .code_o(probability_o)
  );
  assign code_o = code_q;
  assign last_o = bottom;
  assign sum_o = sum_q;

endmodule
