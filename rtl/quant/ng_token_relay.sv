// SPDX-License-Identifier: Apache-2.0
// Carries a word of a block along a pipeline whose blocks are at least Step enabled cycles apart,
// in as few registers as that allows: the word is at d_i in the Step cycles behind the block's
// place First, and at q_o in the Step cycles behind its place Last. token_i[n] is high while a
// block is at place n, which is n enabled cycles behind its place 0. Not reset.
module ng_token_relay #(
  parameter int Width  = 1,
  parameter int First  = 0,
  parameter int Last   = 1,  // above First
  parameter int Step   = 4,
  parameter int Tokens = 2   // above Last
) (
  input  logic              clk_i,
  input  logic              en_i,
  input  logic [Tokens-1:0] token_i,
  input  logic [Width-1:0]  d_i,
  output logic [Width-1:0]  q_o
);
  localparam int Count = (Last - First + Step - 1) / Step;
  for (genvar i = 0; i <= Count; i++) begin : gen_word
    logic [Width-1:0] word;
    if (i == 0) begin : gen_first
      assign word = d_i;
    end else begin : gen_next
      localparam int Place = i == Count ? Last : First + i * Step;
      always_ff @(posedge clk_i) begin
        if (en_i & token_i[Place]) word <= gen_word[i-1].word;
      end
    end
  end
  assign q_o = gen_word[Count].word;
  logic unused;
  assign unused = ^token_i;
endmodule
