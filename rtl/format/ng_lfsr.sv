// SPDX-License-Identifier: Apache-2.0
// Random words of a Galois LFSR of maximal length, period 2^Width - 1, as many bits a cycle as
// asked for. Twin of narrowgauge::Lfsr: bit k of a word is what falls out in its step k.
//
// A beat of the input sets the state (0, which would never change, becomes 1); words come from the
// cycle after the next on, one a cycle, until the next beat. A beat is always taken. A word that
// waits for ready_i then is not withdrawn: it is the last of the state before.
// state_o is that after the word offered: set again, it continues the stream behind that word. It
// is 0 until a state was set.
//
// A step shifts right and, if a 1 fell out, xors the polynomial, whose bit i-1 is the coefficient
// of x^i.
module ng_lfsr #(
  parameter int Width = 32,  // bits of the state
  parameter int Bits  = 8    // of a word
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width-1:0] state_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Bits-1:0]  random_o,
  output logic [Width-1:0] state_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 8 || Width > 64 || Width % 8 != 0) begin : gen_check_width
    $fatal(1, "ng_lfsr: Width=%0d; expected 8 to 64, a multiple of 8", Width);
  end
  if (Bits < 1 || Bits > 128) begin : gen_check_bits
    $fatal(1, "ng_lfsr: Bits=%0d; expected 1 to 128", Bits);
  end
`endif

  localparam logic [63:0] Polynomial =
      Width == 8  ? 64'hB8 :              // x^8 + x^6 + x^5 + x^4 + 1
      Width == 16 ? 64'hB400 :            // x^16 + x^14 + x^13 + x^11 + 1
      Width == 24 ? 64'hE10000 :          // x^24 + x^23 + x^22 + x^17 + 1
      Width == 32 ? 64'h80200003 :        // x^32 + x^22 + x^2 + x + 1
      Width == 40 ? 64'hA000140000 :      // x^40 + x^38 + x^21 + x^19 + 1
      Width == 48 ? 64'hC00000180000 :    // x^48 + x^47 + x^21 + x^20 + 1
      Width == 56 ? 64'hC0000600000000 :  // x^56 + x^55 + x^35 + x^34 + 1
                    64'hD800000000000000; // x^64 + x^63 + x^61 + x^60 + 1

  logic [Width-1:0] state_q, state_d;
  logic [Bits-1:0]  random_q, random_d;
  logic             running_q, valid_q;

  always_comb begin
    state_d = state_q;
    random_d = '0;
    for (int i = 0; i < Bits; i++) begin
      random_d[i] = state_d[0];
      state_d = (state_d >> 1) ^ (Polynomial[Width-1:0] & {Width{state_d[0]}});
    end
  end

  assign valid_o = valid_q;
  assign random_o = random_q;
  assign state_o = state_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= '0;
      random_q  <= '0;
      running_q <= 1'b0;
      valid_q   <= 1'b0;
    end else if (valid_i) begin
      state_q   <= {state_i[Width-1:1], state_i[0] | (state_i == '0)};
      running_q <= 1'b1;
      valid_q   <= valid_q & ~ready_i;
    end else if (running_q & (~valid_q | ready_i)) begin
      state_q  <= state_d;
      random_q <= random_d;
      valid_q  <= 1'b1;
    end
  end

endmodule
