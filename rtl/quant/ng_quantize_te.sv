// SPDX-License-Identifier: Apache-2.0
// Quantizes a block of 16 BF16 numbers to NVFP4 by the dialect `te` (docs/dialects.md), one block
// an edge: Transformer Engine's sequence of FP32 operations, each rounded to nearest even, bit for
// bit.
//
//   scale_o   s = E4M3(min(fl(a m), FLT_MAX)), a the largest magnitude of the block
//   codes_o   E2M1(fl(x e)), e = min(fl(1 / fl(s d)), FLT_MAX)
//   a NaN or an infinity in the block, or no complete table: scale NaN (8'h7F), codes zero
//
// m and d belong to the tensor, so fl(a m) belongs to one of 128 significands of a, and e and with
// it the magnitudes at which a code changes to one of 127 scales: ng_te_table holds both in block
// RAM, made when a tensor's largest magnitude comes. Nothing is multiplied for a block: the
// exponents of a and m are added, and each element is compared with seven thresholds, which are
// BF16 codes.
//
// A block's outputs come with the fourth edge of clk_i with a high en_i, that which takes it being
// the first. A block that is behind its first or second edge while a table is made has the scale
// NaN; one between its second and third edge when a new tensor begins and the table is complete
// would have a scale of the one and codes of the other: let blocks through before.
//
// Width argument: m is 2^-120 to 2^126, so the exponent of a m is -253 to 252. It matters from -11
// to 9 only, and is kept to -16 to 15.
module ng_quantize_te (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,  // a tensor begins
  output logic         ready_o,  // no table is being made
  input  logic [30:0]  amax_i,   // the tensor's largest magnitude, FP32 without its sign
  input  logic         en_i,
  input  logic [255:0] a_i,
  output logic [63:0]  codes_o,
  output logic [7:0]   scale_o
);

  logic         filled;
  logic [7:0]   m_exp;
  logic [6:0]   a_man;
  logic [5:0]   product;
  logic [6:0]   scale;
  logic [104:0] below_n;
  ng_te_table u_table (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .amax_i,
    .filled_o (filled),
    .m_exp_o  (m_exp),
    .re_i     (en_i),
    .a_man_i  (a_man),
    .product_o(product),
    .scale_i  (scale),
    .below_no (below_n)
  );

  // ---- largest magnitude
  logic [255:0] block_q;
  logic [14:0]  amax, amax_q;
  ng_amax #(
    .Lanes(16),
    .Width(16)
  ) u_amax (
    .a_i,
    .amax_o(amax)
  );

  // ---- a m: its exponent, while the significand is read
  logic              a_normal, a_some, unused_sticky;
  logic [2:0]        shift;
  logic signed [8:0] exponent;
  logic signed [4:0] kept;
  assign a_normal = |amax_q[14:7];
  ng_normalize #(
    .Width   (8),
    .OutWidth(8)
  ) u_normalize (
    .clk_i   (1'b0),
    .en_i    (1'b0),
    .data_i  ({a_normal, amax_q[6:0]}),
    .fill_i  (1'b0),
    .sig_o   ({a_some, a_man}),
    .sticky_o(unused_sticky),
    .shift_o (shift)
  );
  assign exponent = ($signed({1'b0, m_exp}) - 9'sd254)
                  + ($signed({1'b0, amax_q[14:8], amax_q[7] | ~a_normal}) - $signed({6'b0, shift}));
  always_comb begin
    kept = exponent[4:0];
    if (~exponent[8] & |exponent[7:4]) kept = 5'b01111;
    if ((exponent[8] & ~(&exponent[7:4])) | ~a_some) kept = 5'b10000;
  end

  logic [255:0]      a_qq;
  logic signed [4:0] kept_q;
  logic              nan_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      block_q    <= '0;
      amax_q <= '0;
      a_qq   <= '0;
      kept_q <= 5'b10000;
      nan_q  <= 1'b0;
    end else if (en_i) begin
      block_q    <= a_i;
      amax_q <= amax;
      a_qq   <= block_q;
      kept_q <= kept;
      nan_q  <= (&amax_q[14:7]) | ~filled;
    end
  end

  // ---- rounded to E4M3
  ng_round_pack #(
    .Bits    (7),
    .Sign    (0),
    .ExpBits (4),
    .ManBits (3),
    .Bias    (7),
    .HasInf  (0),
    .Nan     (ng_format_pkg::NanFn),
    .Overflow(0),
    .SigWidth(6),
    .ExpWidth(6),
    .ExpLo   (-16),
    .ExpHi   (16),
    .RandBits(1)
  ) u_round (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .mode_i(2'd0),
    .nan_i (1'b0),
    .inf_i (1'b0),
    .sign_i(1'b0),
    .exp_i (6'(kept_q) + $signed({5'b0, product[5]})),
    .sig_i ({1'b1, product[4:0]}),
    .rand_i(1'b0),
    .code_o(scale)
  );

  logic [255:0] a_qqq;
  logic [6:0]   scale_q;
  logic         nan_qq;
  logic [63:0]  codes;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_qqq   <= '0;
      scale_q <= '0;
      nan_qq  <= 1'b0;
      codes_o <= '0;
      scale_o <= '0;
    end else if (en_i) begin
      a_qqq   <= a_qq;
      scale_q <= scale;
      nan_qq  <= nan_q | ~filled;
      codes_o <= codes;
      scale_o <= nan_qq ? 8'h7F : {1'b0, scale_q};
    end
  end

  // ---- codes
  for (genvar i = 0; i < 16; i++) begin : gen_lane
    logic [15:0] element;
    logic [6:0]  over;
    assign element = a_qqq[16*i +: 16];
    for (genvar k = 0; k < 7; k++) begin : gen_threshold
      // |x| > threshold is the carry of |x| + ~threshold: no bit of the sum, so carry cells and no
      // LUT.
      logic [14:0] unused_sum;
      assign {over[k], unused_sum} = {1'b0, element[14:0]} + {1'b0, below_n[15*k +: 15]};
    end
    assign codes[4*i +: 4] = {
        ~nan_qq & element[15],
        ~nan_qq & over[3],
        ~nan_qq & (over[3] ? over[5] : over[1]),
        ~nan_qq & ((over[0] & ~over[1]) | (over[2] & ~over[3]) | (over[4] & ~over[5]) | over[6])};
  end

endmodule
