// SPDX-License-Identifier: Apache-2.0
// ng_exact_acc with Split shows in every cycle what the one without showed in the cycle before, under any sequence of valid, first,
// terms and flags, by induction. Beside the outputs the induction needs what the two halves hold: the low half is that of the
// whole sum, and where the upper half still owes a term, it is that of the whole sum without it. hierconn: see fifo_proof.sv.
//
// ACC_FALSE lets the specification forget the delay.
module exact_acc_proof #(
  parameter int TermWidth = 6,
  parameter int AccWidth  = 8,
  parameter int Split     = 4
) (
  input logic                        clk_i,
  input logic                        valid_i,
  input logic                        first_i,
  input logic signed [TermWidth-1:0] term_i,
  input logic                        nan_i,
  input logic                        pinf_i,
  input logic                        ninf_i
);
  logic running = 1'b0;  // out of reset from the second cycle on
  always_ff @(posedge clk_i) running <= 1'b1;

  logic signed [AccWidth-1:0] acc, whole;
  logic        [2:0]          flags, whole_flags;
  ng_exact_acc #(
    .TermWidth(TermWidth),
    .AccWidth (AccWidth),
    .Split    (Split)
  ) u_dut (
    .clk_i  (clk_i),
    .rst_ni (running),
    .valid_i(valid_i),
    .first_i(first_i),
    .term_i (term_i),
    .nan_i  (nan_i),
    .pinf_i (pinf_i),
    .ninf_i (ninf_i),
    .acc_o  (acc),
    .nan_o  (flags[2]),
    .pinf_o (flags[1]),
    .ninf_o (flags[0])
  );
  ng_exact_acc #(
    .TermWidth(TermWidth),
    .AccWidth (AccWidth)
  ) u_whole (
    .clk_i  (clk_i),
    .rst_ni (running),
    .valid_i(valid_i),
    .first_i(first_i),
    .term_i (term_i),
    .nan_i  (nan_i),
    .pinf_i (pinf_i),
    .ninf_i (ninf_i),
    .acc_o  (whole),
    .nan_o  (whole_flags[2]),
    .pinf_o (whole_flags[1]),
    .ninf_o (whole_flags[0])
  );

  logic signed [AccWidth-1:0] late;
  logic        [2:0]          late_flags;
`ifdef ACC_FALSE
  assign late = whole;
  assign late_flags = whole_flags;
`else
  logic signed [AccWidth-1:0] whole_q;
  logic        [2:0]          whole_flags_q;
  always_ff @(posedge clk_i or negedge running) begin
    if (!running) begin
      whole_q       <= '0;
      whole_flags_q <= '0;
    end else begin
      whole_q       <= whole;
      whole_flags_q <= whole_flags;
    end
  end
  assign late = whole_q;
  assign late_flags = whole_flags_q;
`endif

  (* hierconn *) wire                              \u_dut.gen_split.valid_q ;
  (* hierconn *) wire                              \u_dut.gen_split.first_q ;
  (* hierconn *) wire                              \u_dut.gen_split.nan_q ;
  (* hierconn *) wire                              \u_dut.gen_split.pinf_q ;
  (* hierconn *) wire                              \u_dut.gen_split.ninf_q ;
  (* hierconn *) wire                              \u_dut.gen_split.carry_q ;
  (* hierconn *) wire signed [TermWidth-Split-1:0] \u_dut.gen_split.high_term_q ;
  (* hierconn *) wire        [Split-1:0]           \u_dut.gen_split.low_q ;

  // The upper half and the flags of the whole sum, from those of the one in halves.
  logic [AccWidth-Split-1:0] high;
  logic [2:0]                owed;
  assign high = (\u_dut.gen_split.first_q ? '0 : acc[AccWidth-1:Split])
              + (AccWidth - Split)'(\u_dut.gen_split.high_term_q ) + (AccWidth - Split)'(\u_dut.gen_split.carry_q );
  assign owed = {\u_dut.gen_split.nan_q , \u_dut.gen_split.pinf_q , \u_dut.gen_split.ninf_q } | (flags & {3{~\u_dut.gen_split.first_q }});
  always_comb begin
    if (running) begin
      assert (acc == late);
      assert (flags == late_flags);
      assert (\u_dut.gen_split.low_q == whole[Split-1:0]);
      if (\u_dut.gen_split.valid_q ) begin
        assert (whole[AccWidth-1:Split] == high);
        assert (whole_flags == owed);
      end else begin
        assert (whole == acc);
        assert (whole_flags == flags);
      end
    end
  end
endmodule
