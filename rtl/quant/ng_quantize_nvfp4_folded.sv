// SPDX-License-Identifier: Apache-2.0
//
// Quantizes blocks of 16 BF16 numbers to NVFP4 as ng_quantize_nvfp4_sr does, Lanes numbers a cycle,
// to nearest even, or stochastically under tensor scales that are powers of two. Golden function:
// narrowgauge::quantize_nvfp4 without tiny scales.
//
//   scale_o   RNE to UE4M3 of amax / (6 g), at most 448; g = tensor_scale_i
//   codes_o   RNE to E2M1 of x / (scale g); stochastic_i: rounded up if delta 2^RandBits + R >=
//             2^RandBits
//   NaN (8'h7F), codes zero: a NaN or an infinity in the block; g not finite, below 2^-111, or with
//   stochastic_i no power of two
//
// Beats wait in a ring of eight blocks in block RAM, with their random bits, until thresholds of
// their block are there: while one block is collected, one has come to ng_nvfp4_block, four are in
// its stages, one waits there, and one leaves. So the ring cannot overflow. The last beat of a
// block waits until ng_nvfp4_block can take the block, all others are taken at once. Eight lanes
// collect a block in two cycles, half the time of a stage: they have two ng_nvfp4_block that take
// turns, and a ring of 16 blocks, of which 14 are in use at most.
//
// The largest magnitude is kept inverted, and a lane after another is compared with it: a carry
// chain, and a multiplexer that inverts. From four lanes on each half of the lanes has one, so that
// no path has more than four chains.
//
// Handshake: docs/handshake.md. valid_o and all data come from registers, ready_o from registers
// through gates that see no input.
module ng_quantize_nvfp4_folded #(
  parameter int Lanes    = 4,  // numbers of a beat: 1, 2, 4 or 8
  parameter int RandBits = 8   // random bits of an element
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  output logic                      ready_o,
  input  logic [Lanes*16-1:0]       a_i,
  input  logic [Lanes*RandBits-1:0] rand_i,          // used if stochastic_i
  // this and stochastic_i: beside the block's last beat
  input  logic [31:0]               tensor_scale_i,
  input  logic                      stochastic_i,
  output logic                      valid_o,
  input  logic                      ready_i,
  output logic [Lanes*4-1:0]        codes_o,
  output logic [7:0]                scale_o,         // of the block, beside each of its beats
  output logic                      last_o           // the block's last beat
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Lanes < 1 || Lanes > 8 || (Lanes & (Lanes - 1)) != 0) begin : gen_check_lanes
    $fatal(1, "ng_quantize_nvfp4_folded: Lanes=%0d; expected 1 to 8, a power of two", Lanes);
  end
  if (RandBits < 1 || RandBits > 16) begin : gen_check_rand_bits
    $fatal(1, "ng_quantize_nvfp4_folded: RandBits=%0d; expected 1 to 16", RandBits);
  end
`endif

  localparam int BeatBits = $clog2(16 / Lanes);
  localparam int Units = Lanes == 8 ? 2 : 1;
  localparam int PlaceBits = BeatBits + (Units == 2 ? 4 : 3);
  localparam int Groups = Lanes < 4 ? 1 : 2;
  localparam int CountBits = RandBits < 3 ? 2 : $clog2(RandBits + 1);

  // ---- collect
  logic [PlaceBits-1:0] write_q;
  logic                 push, first, last, enters, out;
  logic [Units-1:0]     block_ready;
  assign first = ~(|write_q[BeatBits-1:0]);
  assign last = &write_q[BeatBits-1:0];
  assign ready_o = ~last | block_ready[enters];
  assign push = valid_i & ready_o;

  for (genvar i = 0; i < Lanes; i++) begin : gen_largest
    localparam int First = i % (Lanes / Groups) == 0 ? 1 : 0;
    localparam int Last = i + Lanes / Groups < Lanes ? i + Lanes / Groups - 1 : Lanes - 1;
    logic [14:0] x, so_far, minus_amax, unused_sum;
    logic        larger;
    assign x = a_i[16*i +: 15];
    if (First != 0) begin : gen_first
      logic [14:0] minus_amax_q;
      always_ff @(posedge clk_i) if (push) minus_amax_q <= gen_largest[Last].minus_amax;
      assign so_far = minus_amax_q;
    end else begin : gen_next
      assign so_far = gen_largest[i-1].minus_amax;
    end
    assign {larger, unused_sum} = {1'b0, x} + {1'b0, so_far};
    assign minus_amax = larger | (first & (First != 0)) ? ~x : so_far;
  end
  logic [14:0] other;  // of the second half of the lanes
  assign other = Groups == 2 ? ~gen_largest[Lanes-1].minus_amax : '0;

  // ---- scale and thresholds
  logic                       block_valid, take;
  ng_quant_pkg::nvfp4_block_t block;
  logic [CountBits-1:0]       minus_base;
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    logic                       valid;
    ng_quant_pkg::nvfp4_block_t results;
    logic [CountBits-1:0]       base;
    ng_nvfp4_block #(
      .RandBits(RandBits)
    ) u_block (
      .clk_i,
      .rst_ni,
      .valid_i       (valid_i & last & (enters == 1'(u))),
      .ready_o       (block_ready[u]),
      .minus_amax_i  (gen_largest[Lanes/Groups-1].minus_amax),
      .amax_i        (other),
      .tensor_scale_i,
      .stochastic_i,
      .valid_o       (valid),
      .ready_i       (take & (out == 1'(u))),
      .block_o       (results),
      .minus_base_o  (base)
    );
  end
  if (Units == 2) begin : gen_turns
    logic enters_q, out_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        enters_q  <= 1'b0;
        out_q <= 1'b0;
      end else begin
        enters_q  <= enters_q ^ (push & last);
        out_q <= out_q ^ (block_valid & take);
      end
    end
    assign enters = enters_q;
    assign out = out_q;
    assign block_valid = out_q ? gen_unit[1].valid : gen_unit[0].valid;
    assign block = out_q ? gen_unit[1].results : gen_unit[0].results;
    assign minus_base = out_q ? gen_unit[1].base : gen_unit[0].base;
  end else begin : gen_one
    assign enters = 1'b0;
    assign out = 1'b0;
    assign block_valid = gen_unit[0].valid;
    assign block = gen_unit[0].results;
    assign minus_base = gen_unit[0].base;
  end

  // ---- the block that leaves: a beat is read, and passes three registers, all of which wait for
  // ready_i
  logic [PlaceBits-1:0] read_q;
  logic [BeatBits-1:0]  beat;   // that was read
  logic                 active_q, ends, enable, fetch;
  assign enable = ~valid_o | ready_i;
  assign beat = read_q[BeatBits-1:0];  // of the next one, as long as there is one
  assign ends = active_q & ~(|beat);
  assign take = ~active_q | (enable & ends);
  assign fetch = (block_valid & take) | (active_q & enable & ~ends);

  logic [Lanes*16-1:0]       x;
  logic [Lanes*RandBits-1:0] random;
  ng_ram #(
    .Width(Lanes * (16 + RandBits)),
    .Depth(1 << PlaceBits)
  ) u_ring (
    .clk_i,
    .we_i   (push),
    .waddr_i(write_q),
    .wdata_i({rand_i, a_i}),
    .re_i   (fetch),
    .raddr_i(read_q),
    .rdata_o({random, x})
  );

  logic [3:0] valid;  // of the beats in the registers; what is read in bit 0
  logic       unused_valid;
  ng_valid_pipe #(
    .Depth(3)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (enable),
    .valid_i(active_q),
    .valid_o(valid)
  );
  assign valid_o = valid[3];
  assign unused_valid = ^valid[2:0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q  <= '0;
      read_q   <= '0;
      active_q <= 1'b0;
    end else begin
      if (push) write_q <= write_q + PlaceBits'(1);
      if (fetch) read_q <= read_q + PlaceBits'(1);
      active_q <= (block_valid & take) | (active_q & ~take);
    end
  end

  // ---- what the block's elements share
  ng_quant_pkg::nvfp4_block_t block_q;
  logic [CountBits-1:0]       minus_base_q;
  logic [2:0]                 sig1_q;
  logic [1:0]                 rows2_q;
  logic [7:0]                 scale1_q, scale2_q;
  logic                       live1_q, live2_q, stochastic1_q, last1_q, last2_q;
  always_ff @(posedge clk_i) begin
    if (block_valid & take) {block_q, minus_base_q} <= {block, minus_base};
    if (enable) begin
      {stochastic1_q, live1_q, scale1_q, last1_q} <=
          {block_q.stochastic, block_q.live, block_q.scale, ends};
      {live2_q, scale2_q, last2_q} <= {live1_q, scale1_q, last1_q};
      {scale_o, last_o} <= {scale2_q, last2_q};
      sig1_q  <= ~block_q.minus_sig;
      rows2_q <= sig1_q[1:0];
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    ng_quantize_nvfp4_folded_lane #(
      .RandBits(RandBits)
    ) u_lane (
      .clk_i,
      .en_i         (enable),
      .x_i          (x[16*i +: 16]),
      .rand_i       (random[RandBits*i +: RandBits]),
      .block_i      (block_q),
      .minus_base_i (minus_base_q),
      .row1_i       (sig1_q[2]),
      .stochastic1_i(stochastic1_q),
      .rows2_i      (rows2_q),
      .live2_i      (live2_q),
      .code_o       (codes_o[4*i +: 4])
    );
  end
endmodule
