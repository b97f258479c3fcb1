// SPDX-License-Identifier: Apache-2.0
// One round of Philox4x32. Combinational. Twin of a round of narrowgauge::Philox4x32::after.
//
//   word 0 <- high(M1 word 2) ^ word 1 ^ key 0      M0 = D2511F53
//   word 1 <- low (M1 word 2)                       M1 = CD9E8D57
//   word 2 <- high(M0 word 0) ^ word 3 ^ key 1
//   word 3 <- low (M0 word 0)
//
// The products are sums of shifted multiples, 1, 7 and 9 times the word, of which these constants
// need few:
//   M0 = 2^30 + 9 2^28 + 9 2^22 + 2^20 + 9 2^13 - 2^7 - 9 2^2 - 9             8 additions with the
//                                                                             one for 9
//   M1 = 7 2^29 - 9 2^25 - 7 2^20 + 7 2^17 + 9 2^12 - 9 2^6 - 7 2^4 + 7       9 with those for 7
//                                                                             and 9
// They are added from the lowest on: bits below the next term are finished and pass, so adders stay
// about as wide as a multiple.
//
// Width argument: a name says the multiple, and no partial sum is negative. n times a word of 32
// bits is below 2^(32 + clog2(n)).
module ng_philox_round (
  input  logic [127:0] words_i,  // word 0 in the low bits
  input  logic [63:0]  key_i,    // of this round, key 0 in the low bits
  output logic [127:0] words_o
);

  logic [31:0] left, right;
  assign left = words_i[31:0];
  assign right = words_i[95:64];

  logic [35:0] left_9, right_9;
  logic [34:0] right_7;
  assign left_9 = {1'b0, left, 3'b0} + {4'b0, left};
  assign right_9 = {1'b0, right, 3'b0} + {4'b0, right};
  assign right_7 = {right, 3'b0} - {3'b0, right};

  // M0 a: 45 = 9 + 9 2^2, 173 = 45 + 2^7, 73555 = 9 2^13 - 173; what follows is of weight 2^20,
  // 2^22, 2^28, 2^30.
  logic [37:0] a45;
  logic [39:0] a173;
  logic [48:0] a73555;
  logic [32:0] a_20;
  logic [35:0] a_22, a_28;
  logic [33:0] a_30;
  logic [63:0] product_a;
  assign a45 = {left_9, 2'b0} + {2'b0, left_9};
  assign a173 = {2'b0, a45} + {1'b0, left, 7'b0};
  assign a73555 = {left_9, 13'b0} - {9'b0, a173};
  assign a_20 = {4'b0, a73555[48:20]} + {1'b0, left};
  assign a_22 = {5'b0, a_20[32:2]} + left_9;
  assign a_28 = {6'b0, a_22[35:6]} + left_9;
  assign a_30 = a_28[35:2] + {2'b0, left};
  assign product_a = {a_30, a_28[1:0], a_22[5:0], a_20[1:0], a73555[19:0]};

  // M1 b: 43 = 7 + 9 2^2, 36871 = 7 + 9 2^12, 36183 = 36871 - 43 2^4; 3289 = 7 2^9 - 295 and 295 =
  // 7 + 9 2^5, of weight 2^20.
  logic [37:0] b43;
  logic [47:0] b36871, b36183;
  logic [34:0] b_17;
  logic [40:0] b295;
  logic [43:0] b3289, b_20;
  logic [63:0] product_b;
  assign b43 = {3'b0, right_7} + {right_9, 2'b0};
  assign b36871 = {right_9 + {13'b0, right_7[34:12]}, right_7[11:0]};
  assign b36183 = b36871 - {6'b0, b43, 4'b0};
  assign b_17 = {4'b0, b36183[47:17]} + right_7;
  assign b295 = {right_9, 5'b0} + {6'b0, right_7};
  assign b3289 = {right_7, 9'b0} - {3'b0, b295};
  assign b_20 = b3289 + {12'b0, b_17[34:3]};
  assign product_b = {b_20, b_17[2:0], b36183[16:0]};

  assign words_o = {product_a[31:0], product_a[63:32] ^ words_i[127:96] ^ key_i[63:32],
                    product_b[31:0], product_b[63:32] ^ words_i[63:32] ^ key_i[31:0]};

endmodule
