// SPDX-License-Identifier: Apache-2.0
// L2 normalization of rows, nGPT's: y_i = x_i / sqrt(sum x^2 + eps), an element a cycle. Twin of
// narrowgauge::l2_normalize.
//
//   s_0 = eps;  s_i = x_i x_i + s_(i-1), rounded once (fused), in the order of the row;
//   r = 1 / sqrt(s_n), rounded once (ng_rsqrt_fp32);  y_i = x_i r, rounded once. All in FP32, to
//                                                     nearest even.
//
// A row is held until its last element has come and the root is found, then it leaves; the next one
// is taken after that. One fused multiply-add does both passes, so a row of n elements takes 2 n +
// 29 cycles. ready_o and valid_o come from registers, y_o from those of the memory and of the root,
// through the multiply-add: no combinational path crosses the unit.
module ng_l2_normalize #(
  parameter int ManBits     = 7,    // of x: 7 BF16, 23 FP32
  parameter int MaxElements = 512,  // of a row; power of two
  parameter int Epsilon     = 897988541,  // FP32 code, 32'h358637BD: 1e-6
  localparam int Bits = 9 + ManBits
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  output logic            ready_o,
  input  logic [Bits-1:0] x_i,
  input  logic            last_i,      // the last element of a row
  output logic            valid_o,
  input  logic            ready_i,
  output logic [31:0]     y_o,         // FP32
  output logic            last_o,
  // a row had more than MaxElements elements and was cut; until reset
  output logic            too_long_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ManBits < 1 || ManBits > 23) begin : gen_check_man_bits
    $fatal(1, "ng_l2_normalize: ManBits=%0d; expected 1 to 23", ManBits);
  end
  if (MaxElements < 2 || (MaxElements & (MaxElements - 1)) != 0) begin : gen_check_max_elements
    $fatal(1, "ng_l2_normalize: MaxElements=%0d; expected a power of two, 2 or more", MaxElements);
  end
  if (Epsilon < 1 || Epsilon > 2139095039) begin : gen_check_epsilon
    $fatal(1, "ng_l2_normalize: Epsilon=%0d; expected 1 to 2139095039", Epsilon);
  end
`endif

  // 1: so that a wrong one gets as far as the message
  localparam int IndexWidth = MaxElements > 1 ? $clog2(MaxElements) : 1;

  typedef enum logic [1:0] {Fill, Start, Root, Drain} state_e;
  state_e                state_q;
  // the next element; once the row is whole, write_q is its last one
  logic [IndexWidth-1:0] write_q, read_q;
  logic                  all_read_q;      // Drain: the last element is in the memory's register
  logic [30:0]           sum_q;           // of squares, never negative; 0 while a row leaves
  logic                  push, close, fetch;
  // an element was taken: its square is added; else a product is made
  logic                  add_q;
  assign ready_o = state_q == Fill;
  assign push = valid_i & ready_o;
  assign close = last_i | (&write_q);
  assign fetch = ~all_read_q & (~valid_o | ready_i);  // of use in Drain alone
  assign last_o = all_read_q;

  // ---- the row
  logic [Bits-1:0] held;
  ng_ram #(
    .Width(Bits),
    .Depth(MaxElements)
  ) u_row (
    .clk_i,
    .we_i   (push),
    .waddr_i(write_q),
    .wdata_i(x_i),
    .re_i   (fetch),
    .raddr_i(read_q),
    .rdata_o(held)
  );

  // ---- x x + s, then x r + -0, which is x r with its own sign where it is zero; then sum_q is 0
  logic [Bits-2:0] magnitude_q;  // the element without its sign, for the square
  logic [31:0]     element, result;
  logic [30:0]     root;  // never negative
  always_ff @(posedge clk_i) magnitude_q <= x_i[Bits-2:0];
  assign element = {~add_q & held[Bits-1], add_q ? magnitude_q
      : held[Bits-2:0], {23 - ManBits{1'b0}}};
  ng_fma_fp32 #(
    .ExpBits(8),
    .ManBits(23)
  ) u_fma (
    .clk_i (1'b0),
    .en_i  (1'b0),
    .a_i   (element),
    .b_i   ({1'b0, add_q ? element[30:0] : root}),
    .c_i   ({~add_q, sum_q}),
    .fp32_o(result)
  );
  assign y_o = result;

  // ---- the root, which stands until the row has left
  logic unused_ready, unused_sign, root_valid, left;
  assign left = last_o & ready_i;
  ng_rsqrt_fp32 u_rsqrt (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == Root),
    .ready_o(unused_ready),
    .a_i    ({1'b0, sum_q}),
    .valid_o(root_valid),
    .ready_i(left),
    .y_o    ({unused_sign, root})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= Fill;
      write_q    <= '0;
      read_q     <= '0;
      all_read_q <= 1'b0;
      sum_q      <= 31'(Epsilon);
      add_q      <= 1'b0;
      valid_o    <= 1'b0;
      too_long_o <= 1'b0;
    end else begin
      add_q <= push;
      if (add_q) sum_q <= result[30:0];
      unique case (state_q)
        Fill: if (push) begin
          if (close) begin
            state_q <= Start;
            if (~last_i) too_long_o <= 1'b1;
          end else begin
            write_q <= write_q + IndexWidth'(1);
          end
        end
        Start: state_q <= Root;  // the last square is added
        Root: if (root_valid) state_q <= Drain;
        default: begin
          sum_q <= left ? 31'(Epsilon) : '0;
          if (fetch) begin
            valid_o <= 1'b1;
            read_q  <= read_q + IndexWidth'(1);
          end else if (ready_i) begin
            valid_o <= 1'b0;
          end
          if (left) begin
            state_q <= Fill;
            write_q <= '0;
            read_q  <= '0;
          end
          // when the row has left, read_q is one ahead of its last element
          if (fetch | left) all_read_q <= read_q == write_q;
        end
      endcase
    end
  end
endmodule
