// SPDX-License-Identifier: Apache-2.0
// Statistics of Range BN, 16 INT8 codes a beat: of a channel that comes in chunks, the sum of the
// chunks' maxima, that of their minima, and that of all codes. Twin of narrowgauge::add_chunk.
//
// Mean and range of the channel follow from them without a square or a square root. A code becomes
// an unsigned key by inverting its sign. Pairs of lanes share one comparison for both extremes;
// behind them are two trees of ng_max_node, that of the minima over complemented keys, in which
// the smallest is the largest. Two chunks' extremes are never compared: each ends in a sum.
//
// Latency: 1 + cuts edges, the first of which takes the channel's last beat. The result waits in
// registers of its own: a beat passes every cycle, but the unit stands still while a result waits
// and the next channel's last beat has come to the last stage, without cuts whenever a result
// waits. All outputs come from registers.
//
// Width argument: 16 extremes of INT8 are -2048 to 2032, 12 bits; 65536 codes are -2^23 to
// 2^23 - 2^16, 24 bits. Longer channels wrap around. The sum of a beat has 12 bits.
module ng_range_stats #(
  parameter int TreeCuts = 3  // bits of ng_norm_pkg::RangeStatsCut*
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [127:0] codes_i,
  input  logic         chunk_last_i,  // the chunk ends
  input  logic         last_i,        // the channel ends, and so does the chunk
  output logic         valid_o,
  input  logic         ready_i,
  output logic [11:0]  maxima_o,      // sum of the chunks' maxima, signed
  output logic [11:0]  minima_o,      // sum of the chunks' minima, signed
  output logic [23:0]  sum_o          // sum of the codes, signed
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (TreeCuts < 0 || TreeCuts > 3) begin : gen_check_cuts
    $fatal(1, "ng_range_stats: TreeCuts=%0d; expected 0 to 3", TreeCuts);
  end
`endif

  localparam int CutQuads = TreeCuts & ng_norm_pkg::RangeStatsCutQuads;
  localparam int CutBeat = TreeCuts & ng_norm_pkg::RangeStatsCutBeat;
  localparam int Depth = ng_prim_pkg::cut_count(TreeCuts);

  // ---- the pipe: a beat at stage Depth is added
  logic [Depth:0] valid;
  logic           move, push;
  logic           quad_chunk_last, quad_last, chunk_last, last;
  // Without cuts the last beat would be the one that is offered, on which ready_o must not depend.
  assign move = ~(valid_o & (Depth == 0 | (valid[Depth] & last)));
  assign push = move & valid[Depth];
  assign ready_o = move;
  ng_valid_pipe #(
    .Depth(Depth)
  ) u_valid (
    .clk_i,
    .rst_ni,
    .en_i   (move),
    .valid_i,
    .valid_o(valid)
  );

  // ---- four lanes: two pairs, then a node each for maximum and minimum
  for (genvar q = 0; q < 4; q++) begin : gen_quad
    logic [31:0] codes, keys;
    logic [7:0]  max_a, min_n_a, max_b_n, min_b, largest, least_n, max, min_n;
    logic [9:0]  sum, sum_quad;
    logic        unused_max, unused_min;
    assign codes = codes_i[32*q +: 32];
    assign keys = codes ^ 32'h80808080;
    ng_extreme_pair u_first (
      .a_i    (keys[7:0]),
      .b_i    (keys[15:8]),
      .max_o  (max_a),
      .min_n_o(min_n_a)
    );
    ng_extreme_pair #(
      .Complement(1'b1)
    ) u_second (
      .a_i    (keys[23:16]),
      .b_i    (keys[31:24]),
      .max_o  (max_b_n),
      .min_n_o(min_b)
    );
    ng_max_node #(
      .Width     (8),
      .Complement(q % 2 == 1)
    ) u_max (
      .a_valid_i(1'b1),
      .a_i      (max_a),
      .b_valid_i(1'b1),
      .b_n_i    (max_b_n),
      .valid_o  (unused_max),
      .max_o    (largest)
    );
    ng_max_node #(
      .Width     (8),
      .Complement(q % 2 == 1)
    ) u_min (
      .a_valid_i(1'b1),
      .a_i      (min_n_a),
      .b_valid_i(1'b1),
      .b_n_i    (min_b),
      .valid_o  (unused_min),
      .max_o    (least_n)
    );
    assign sum = (10'($signed(codes[7:0])) + 10'($signed(codes[15:8])))
               + (10'($signed(codes[23:16])) + 10'($signed(codes[31:24])));
    ng_cut #(
      .Width (26),
      .Enable(CutQuads)
    ) u_cut (
      .clk_i,
      .en_i(move),
      .d_i ({largest, least_n, sum}),
      .q_o ({max, min_n, sum_quad})
    );
  end
  ng_cut #(
    .Width (2),
    .Enable(CutQuads)
  ) u_cut_quads (
    .clk_i,
    .en_i(move),
    .d_i ({chunk_last_i | last_i, last_i}),
    .q_o ({quad_chunk_last, quad_last})
  );

  // ---- the beat
  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic [7:0] max, min_n;
    logic       unused_max, unused_min;
    ng_max_node #(
      .Width     (8),
      .Complement(h == 1)
    ) u_max (
      .a_valid_i(1'b1),
      .a_i      (gen_quad[2*h].max),
      .b_valid_i(1'b1),
      .b_n_i    (gen_quad[2*h+1].max),
      .valid_o  (unused_max),
      .max_o    (max)
    );
    ng_max_node #(
      .Width     (8),
      .Complement(h == 1)
    ) u_min (
      .a_valid_i(1'b1),
      .a_i      (gen_quad[2*h].min_n),
      .b_valid_i(1'b1),
      .b_n_i    (gen_quad[2*h+1].min_n),
      .valid_o  (unused_min),
      .max_o    (min_n)
    );
  end
  logic [7:0]  max_beat_n, min_beat, max_n, min;
  logic [11:0] sum_beat, sum;
  logic        unused_max, unused_min;
  ng_max_node #(
    .Width     (8),
    .Complement(1'b1)
  ) u_max (
    .a_valid_i(1'b1),
    .a_i      (gen_half[0].max),
    .b_valid_i(1'b1),
    .b_n_i    (gen_half[1].max),
    .valid_o  (unused_max),
    .max_o    (max_beat_n)
  );
  ng_max_node #(
    .Width     (8),
    .Complement(1'b1)
  ) u_min (
    .a_valid_i(1'b1),
    .a_i      (gen_half[0].min_n),
    .b_valid_i(1'b1),
    .b_n_i    (gen_half[1].min_n),
    .valid_o  (unused_min),
    .max_o    (min_beat)
  );
  assign sum_beat = (12'($signed(gen_quad[0].sum_quad)) + 12'($signed(gen_quad[1].sum_quad)))
                  + (12'($signed(gen_quad[2].sum_quad)) + 12'($signed(gen_quad[3].sum_quad)));
  ng_cut #(
    .Width (30),
    .Enable(CutBeat)
  ) u_cut_beat (
    .clk_i,
    .en_i(move),
    .d_i ({max_beat_n, min_beat, sum_beat, quad_chunk_last, quad_last}),
    .q_o ({max_n, min, sum, chunk_last, last})
  );

  // ---- the chunk, and the channel
  logic        open_q;             // the chunk has begun
  logic        begun_q, chunks_q;  // the channel has, and a chunk of it has ended
  logic [7:0]  chunk_max_q, chunk_max, chunk_min_n_q, chunk_min_n;
  logic        unused_chunk_max, unused_chunk_min;
  logic [11:0] maxima_q, maxima, minima_q, minima;
  logic [23:0] sum_q, total;
  ng_max_node #(
    .Width(8)
  ) u_chunk_max (
    .a_valid_i(open_q),
    .a_i      (chunk_max_q),
    .b_valid_i(1'b1),
    .b_n_i    (max_n),
    .valid_o  (unused_chunk_max),
    .max_o    (chunk_max)
  );
  ng_max_node #(
    .Width(8)
  ) u_chunk_min (
    .a_valid_i(open_q),
    .a_i      (chunk_min_n_q),
    .b_valid_i(1'b1),
    .b_n_i    (min),
    .valid_o  (unused_chunk_min),
    .max_o    (chunk_min_n)
  );
  assign maxima = (maxima_q & {12{chunks_q}}) + 12'($signed(chunk_max ^ 8'h80));
  assign minima = (minima_q & {12{chunks_q}}) + 12'($signed(chunk_min_n ^ 8'h7F));
  assign total = (sum_q & {24{begun_q}}) + 24'($signed(sum));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, begun_q, chunks_q} <= '0;
      valid_o                     <= 1'b0;
    end else begin
      if (push) begin
        open_q   <= ~chunk_last;
        begun_q  <= ~last;
        chunks_q <= ~last & (chunks_q | chunk_last);
      end
      valid_o <= (valid_o & ~ready_i) | (push & last);
    end
  end
  always_ff @(posedge clk_i) if (push) begin
    chunk_max_q   <= chunk_max;
    chunk_min_n_q <= chunk_min_n;
    sum_q         <= total;
    if (chunk_last) begin
      maxima_q <= maxima;
      minima_q <= minima;
    end
    if (last) begin
      maxima_o <= maxima;
      minima_o <= minima;
      sum_o    <= total;
    end
  end

endmodule
