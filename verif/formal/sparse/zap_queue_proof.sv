// SPDX-License-Identifier: Apache-2.0
// ng_zap_queue of two columns makes the passes of its golden rule, from reset and for all samples. The reference keeps a list of
// outputs for each column, the oldest lowest, and counts rows down. Every row, and when it is offered, is compared with it; a row
// waits because the reference's does. hierconn: see fifo_proof.sv.
module zap_queue_proof #(
  parameter int Rows     = 2,
  parameter int Depth    = 3,
  parameter int BlockRam = 0,
  localparam int Columns = 2,
  localparam int PlaceBits = 1,
  localparam int CountBits = $clog2(Depth + 1),
  localparam int AddrBits = Depth > 1 ? $clog2(Depth) : 1,
  localparam int RingBits = (1 << AddrBits) * PlaceBits,
  localparam int RowBits = Rows > 1 ? $clog2(Rows) : 1,
  localparam int LeftBits = $clog2(Rows + 1)
) (
  input logic                 clk_i,
  input logic                 valid_i,
  input logic                 last_i,
  input logic                 ready_i,
  input logic [PlaceBits-1:0] place_i,
  input logic [Columns-1:0]   keep_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic                         ready, valid, pass_last, last;
  logic [Columns-1:0]           active;
  logic [Columns*PlaceBits-1:0] places;
  ng_zap_queue #(
    .Columns  (Columns),
    .Rows     (Rows),
    .Depth    (Depth),
    .PlaceBits(PlaceBits),
    .BlockRam (BlockRam != 0)
  ) u_queue (
    .clk_i      (clk_i),
    .rst_ni     (running),
    .valid_i    (valid_i),
    .ready_o    (ready),
    .place_i    (place_i),
    .keep_i     (keep_i),
    .last_i     (last_i),
    .valid_o    (valid),
    .ready_i    (ready_i),
    .active_o   (active),
    .places_o   (places),
    .pass_last_o(pass_last),
    .last_o     (last)
  );

  // ---- the reference
  logic                         filling_q = 1'b1, ending_q = 1'b0, valid_q = 1'b0, pass_last_q, last_q;
  logic [LeftBits-1:0]          left_q = LeftBits'(Rows);  // rows of the pass
  logic [Columns-1:0]           active_q, push, waits, fills;
  logic [Columns*PlaceBits-1:0] places_q;
  logic                         take, leave, ended, pass_ends;
  assign take = valid_i & filling_q;
  assign leave = ~filling_q & (~valid_q | ready_i);
  assign ended = ending_q && left_q == LeftBits'(Rows) && waits == '0;
  assign pass_ends = left_q == LeftBits'(1);
  always_ff @(posedge clk_i) if (running) begin
    valid_q <= leave | (valid_q & ~ready_i);
    if (take) begin
      filling_q <= ~(last_i | (|fills));
      ending_q  <= last_i;
    end
    if (leave) begin
      filling_q   <= ended | (pass_ends & ~ending_q);
      left_q      <= ended | pass_ends ? LeftBits'(Rows) : left_q - 1'b1;
      active_q    <= waits;
      pass_last_q <= pass_ends;
      last_q      <= ended;
    end
  end

  // ---- both
  (* hierconn *) wire \u_queue.filling_q , \u_queue.ending_q ;
  (* hierconn *) wire [RowBits-1:0] \u_queue.gen_row.row_q ;  // with more than one row
  (* hierconn *) wire [CountBits-1:0] \u_queue.mark_q ;
  (* hierconn *) wire [CountBits-1:0] \u_queue.gen_column[0].write_q , \u_queue.gen_column[1].write_q ;
  (* hierconn *) wire [RingBits-1:0] \u_queue.gen_column[0].gen_ring.words , \u_queue.gen_column[1].gen_ring.words ;
  (* hierconn *) wire [RingBits-1:0] \u_queue.gen_column[0].gen_block_ram.u_ram.words ;
  (* hierconn *) wire [RingBits-1:0] \u_queue.gen_column[1].gen_block_ram.u_ram.words ;
  logic [CountBits-1:0]         base;  // of the oldest outputs
  logic [Columns*CountBits-1:0] writes;
  logic [Columns*RingBits-1:0]  rings;
  assign base = \u_queue.mark_q - (filling_q ? CountBits'(Depth - 1) : '0);
  assign writes = {\u_queue.gen_column[1].write_q , \u_queue.gen_column[0].write_q };
  assign rings = BlockRam != 0
    ? {\u_queue.gen_column[1].gen_block_ram.u_ram.words , \u_queue.gen_column[0].gen_block_ram.u_ram.words }
    : {\u_queue.gen_column[1].gen_ring.words , \u_queue.gen_column[0].gen_ring.words };

  for (genvar c = 0; c < Columns; c++) begin : gen_column
    logic [CountBits-1:0]       count_q = '0;
    logic [Depth*PlaceBits-1:0] list_q = '0, list_d;
    logic [RingBits-1:0]        ring;
    logic [2*RingBits-1:0]      turned;  // the oldest output lowest
    logic                       pop;
    assign push[c] = take & keep_i[c];
    assign waits[c] = count_q != '0;
    assign fills[c] = push[c] && count_q == CountBits'(Depth - 1);
    assign pop = leave & waits[c];
    always_comb begin
      list_d = pop ? list_q >> PlaceBits : list_q;
      for (int i = 0; i < Depth; i++) begin
        if (push[c] && count_q == CountBits'(i)) list_d[i*PlaceBits +: PlaceBits] = place_i;
      end
    end
    always_ff @(posedge clk_i) if (running) begin
      list_q  <= list_d;
`ifdef QUEUE_FALSE
      count_q <= count_q + CountBits'(push[c] && push != '1) - CountBits'(pop);
`else
      count_q <= count_q + CountBits'(push[c]) - CountBits'(pop);
`endif
      if (leave) places_q[c*PlaceBits +: PlaceBits] <= list_q[PlaceBits-1:0];
    end

    assign ring = rings[c*RingBits +: RingBits];
    assign turned = {ring, ring} >> (PlaceBits * base[AddrBits-1:0]);
    always_comb begin
      if (running) begin
        assert (count_q <= CountBits'(filling_q ? Depth - 1 : Depth));
        // A pass takes an output a row of each queue that was full.
        if (!filling_q) assert (count_q + (LeftBits'(Rows) - left_q) <= (CountBits+LeftBits)'(Depth));
        assert (writes[c*CountBits +: CountBits] == CountBits'(base + count_q));
        for (int i = 0; i < Depth; i++) begin
          if (CountBits'(i) < count_q) assert (turned[i*PlaceBits +: PlaceBits] == list_q[i*PlaceBits +: PlaceBits]);
        end
        if (valid && active[c]) assert (places[c*PlaceBits +: PlaceBits] == places_q[c*PlaceBits +: PlaceBits]);
      end
    end
  end

  always_comb begin
    if (running) begin
      assert (ready == filling_q);
      assert (valid == valid_q);
      if (valid) assert (active == active_q && pass_last == pass_last_q && last == last_q);
      if (!filling_q) assert (\u_queue.ending_q == ending_q);
      assert (left_q >= LeftBits'(1) && left_q <= LeftBits'(Rows));
      if (filling_q) assert (left_q == LeftBits'(Rows));
      if (Rows > 1) assert (\u_queue.gen_row.row_q  == RowBits'(LeftBits'(Rows) - left_q));
    end else begin
      assert (ready && !valid);
    end
  end
endmodule
