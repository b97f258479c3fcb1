// SPDX-License-Identifier: Apache-2.0
// The places of ng_topk under any sequence of candidates, from reset, against a chain that carries the candidate from place to
// place. It goes before the first that it exceeds, from where on each place hands its own on; equal ones stay in order. The
// chain does not use that the places are in order, the unit does; that they are is an assertion too. hierconn: see
// fifo_proof.sv.
module topk_proof #(
  parameter int K         = 4,
  parameter int KeyBits   = 24,
  parameter int IndexBits = 16
) (
  input logic                 clk_i,
  input logic                 valid_i,
  input logic                 last_i,
  input logic                 ready_i,
  input logic [KeyBits-1:0]   key_i,
  input logic [IndexBits-1:0] index_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                   ready, valid;
  logic [K-1:0]           found;
  logic [K*KeyBits-1:0]   keys;
  logic [K*IndexBits-1:0] indices;
  ng_topk #(
    .K        (K),
    .KeyBits  (KeyBits),
    .IndexBits(IndexBits)
  ) u_topk (
    .clk_i    (clk_i),
    .rst_ni   (running),
    .valid_i  (valid_i),
    .ready_o  (ready),
    .key_i    (key_i),
    .index_i  (index_i),
    .last_i   (last_i),
    .valid_o  (valid),
    .ready_i  (ready_i),
    .found_o  (found),
    .keys_o   (keys),
    .indices_o(indices)
  );

  // ---- the chain, which a candidate enters a cycle after it was taken
  (* hierconn *) wire \u_topk.taken_q , \u_topk.last_q ;
  (* hierconn *) wire [K-1:0] \u_topk.enters_q ;
  (* hierconn *) wire [KeyBits-1:0] \u_topk.key_q ;
  (* hierconn *) wire [IndexBits-1:0] \u_topk.index_q ;
  logic                 push, clear;
  logic                 taken_q = 1'b0, last_q = 1'b0, opened_q = 1'b1;
  logic [KeyBits-1:0]   key_q;
  logic [IndexBits-1:0] index_q;
  assign push = running & valid_i & opened_q;
  assign clear = valid & ready_i;
  always_ff @(posedge clk_i) begin
    taken_q  <= push;
    last_q   <= push & last_i;
    opened_q <= clear | (opened_q & ~(push & last_i));
    key_q    <= key_i;
    index_q  <= index_i;
  end
  for (genvar p = 0; p < K; p++) begin : gen_place
    logic                 there_q = 1'b0;
    logic                 comes, exchange, moved;  // moved: a place before hands its own on
    logic [KeyBits-1:0]   place_key_q, key, key_on;
    logic [IndexBits-1:0] place_index_q, index, index_on;
    if (p == 0) begin : gen_first
      assign comes = taken_q;
      assign moved = 1'b0;
      assign {key, index} = {key_q, index_q};
    end else begin : gen_behind
      assign comes = gen_place[p-1].comes & gen_place[p-1].there_q;
      assign moved = gen_place[p-1].exchange;
      assign {key, index} = {gen_place[p-1].key_on, gen_place[p-1].index_on};
    end
`ifdef TOPK_FALSE
    assign exchange = comes & (~there_q | moved | key >= place_key_q);  // as if the later of equals were first
`else
    assign exchange = comes & (~there_q | moved | key > place_key_q);
`endif
    assign {key_on, index_on} = exchange ? {place_key_q, place_index_q} : {key, index};
    always_ff @(posedge clk_i) begin
      there_q <= ~clear & (there_q | comes);
      if (exchange) {place_key_q, place_index_q} <= {key, index};
    end
    always_comb begin
      if (running) begin
        assert (found[p] == there_q);
        if (there_q) begin
          assert (keys[p*KeyBits +: KeyBits] == place_key_q);
          assert (indices[p*IndexBits +: IndexBits] == place_index_q);
        end
        if (taken_q) begin
          assert (\u_topk.enters_q [p] == (~there_q | key_q > place_key_q));
        end else if (there_q) begin
          assert (!\u_topk.enters_q [p]);
        end
      end
    end
    if (p > 0) begin : gen_order
      always_comb begin
        if (running && there_q) begin
          assert (gen_place[p-1].there_q && place_key_q <= gen_place[p-1].place_key_q);
        end
      end
    end
  end

  // ---- the handshake
  logic                   waited_q = 1'b0;
  logic [K-1:0]           found_q;
  logic [K*KeyBits-1:0]   keys_q;
  logic [K*IndexBits-1:0] indices_q;
  always_ff @(posedge clk_i) begin
    waited_q  <= running & valid & ~ready_i;
    found_q   <= found;
    keys_q    <= keys;
    indices_q <= indices;
  end
  always_comb begin
    if (running) begin
      assert (ready == opened_q && \u_topk.last_q == last_q);
      assert (3'(ready) + 3'(last_q) + 3'(valid) <= 3'd1 && (ready || last_q || valid));
      assert (\u_topk.taken_q == taken_q);
      if (taken_q) assert (\u_topk.key_q == key_q && \u_topk.index_q == index_q);
      if (last_q) assert (taken_q);
      if (valid) assert (!taken_q);
      if (waited_q) assert (valid && found == found_q && keys == keys_q && indices == indices_q);
    end else begin
      assert (!valid);
    end
  end
endmodule
