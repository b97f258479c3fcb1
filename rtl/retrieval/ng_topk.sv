// SPDX-License-Identifier: Apache-2.0
// The K largest of a stream of keys, each with its index: one candidate a cycle, largest first, and
// of equal keys the earlier first. Twin of narrowgauge::insert_candidate.
//
// K places hold what was best so far, in order. A candidate is compared with all of them at once,
// and a cycle later it goes before the first place that it exceeds: the places from there on take
// their neighbours' candidates. So a place needs one multiplexer of two, whose select comes from a
// register, and whether it changes at all is the enable of its registers.
//
// The candidate before, x, goes to its place while y is compared with the places as they were. Were
// k[p] places that y does not exceed, then of the places with x in them y does not exceed
//   x >= y ? k[p-1] : k[p]     k[-1] = 1
// since what stands before x is not below x: if x >= y, it is not below y either, and x adds one
// more; if x < y, y exceeds what stands where x goes. That holds too where x exceeds no place.
//
// A comparison is the carry of place + ~candidate + 1, out where place >= candidate. A bit above the
// key says that the place holds one. All places share the complement.
//
// Latency: 2 edges, the first of which takes the stream's last candidate. The result is the places
// themselves: no candidate is taken from a stream's end until its result has left. All outputs come
// from registers. No width grows.
module ng_topk #(
  parameter int K         = 8,  // places
  parameter int KeyBits   = 24,
  parameter int IndexBits = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [KeyBits-1:0]     key_i,     // an unsigned integer
  input  logic [IndexBits-1:0]   index_i,   // of any meaning
  input  logic                   last_i,    // the stream ends
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [K-1:0]           found_o,   // places that hold a candidate, from bit 0 on
  output logic [K*KeyBits-1:0]   keys_o,    // the largest in the low bits
  output logic [K*IndexBits-1:0] indices_o  // the index of the largest in the low bits
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (K < 1 || K > 64) begin : gen_check_k
    $fatal(1, "ng_topk: K=%0d; expected 1 to 64", K);
  end
  if (KeyBits < 1 || KeyBits > 64) begin : gen_check_key_bits
    $fatal(1, "ng_topk: KeyBits=%0d; expected 1 to 64", KeyBits);
  end
  if (IndexBits < 1 || IndexBits > 64) begin : gen_check_index_bits
    $fatal(1, "ng_topk: IndexBits=%0d; expected 1 to 64", IndexBits);
  end
`endif

  logic               push, clear, last_q;
  logic [KeyBits-1:0] key_n;
  assign push = valid_i & ready_o;
  assign clear = valid_o & ready_i;
  assign key_n = ~key_i;

  // ---- x, the candidate before
  logic                 taken_q;  // there is one
  logic [KeyBits-1:0]   key_q;
  logic [IndexBits-1:0] index_q;
  logic                 x_keeps;  // the candidate does not exceed it
  logic [KeyBits+1:0]   unused_x_less;
  // The carry-in as a half-unit column: one addition, hence one carry chain.
  assign {x_keeps, unused_x_less} = {1'b0, taken_q, key_q, 1'b1} + {2'b0, key_n, 1'b1};
  always_ff @(posedge clk_i) begin
    key_q   <= key_i;
    index_q <= index_i;
  end

  // ---- the places
  logic [K:0]   keeps;     // bit p+1: the candidate does not exceed place p
  logic [K-1:0] enters_q;  // places that change, of which the first takes x
  assign keeps[0] = 1'b1;
  for (genvar p = 0; p < K; p++) begin : gen_place
    logic [KeyBits-1:0]   place_key_q;
    logic [IndexBits-1:0] place_index_q;
    logic [KeyBits+1:0]   unused_less;
    assign {keeps[p+1], unused_less} = {1'b0, found_o[p], place_key_q, 1'b1} + {2'b0, key_n, 1'b1};
    always_ff @(posedge clk_i) begin
      enters_q[p] <= push & ~(x_keeps ? keeps[p] : keeps[p+1]);
    end
    if (p == 0) begin : gen_first
      always_ff @(posedge clk_i) if (enters_q[0]) begin
        place_key_q   <= key_q;
        place_index_q <= index_q;
      end
    end else begin : gen_behind
      always_ff @(posedge clk_i) if (enters_q[p]) begin
        place_key_q   <= enters_q[p-1] ? gen_place[p-1].place_key_q : key_q;
        place_index_q <= enters_q[p-1] ? gen_place[p-1].place_index_q : index_q;
      end
    end
    assign keys_o[p*KeyBits +: KeyBits] = place_key_q;
    assign indices_o[p*IndexBits +: IndexBits] = place_index_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      found_o <= '0;
      taken_q <= 1'b0;
      last_q  <= 1'b0;
      ready_o <= 1'b1;
      valid_o <= 1'b0;
    end else begin
      // A candidate fills a place until all are full, wherever it goes.
      if (clear) found_o <= '0;
      else if (taken_q) found_o <= ~(~found_o << 1);
      taken_q <= push;
      last_q  <= push & last_i;
      ready_o <= clear | (ready_o & ~(valid_i & last_i));
      valid_o <= last_q | (valid_o & ~ready_i);
    end
  end

endmodule
