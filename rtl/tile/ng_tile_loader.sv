// SPDX-License-Identifier: Apache-2.0
// Executes load commands in order: sends the words of the stream to the operand buffer that the
// command names, and watches that commands, banks and packets agree. One word a cycle, also from
// one load to the next.
//
// A load waits while its buffer has no open bank. The command stays at the head of its queue until
// its last word. Errors, as pulses, beside which nothing is written that is ever computed with: the
// tile raises stop_i in the next cycle.
//   load_error_o   no panel-beats, or more than the open bank has room for (before any word is
//                  taken)
//   short_error_o  TLAST before the last word of the load
//   long_error_o   no TLAST on it
// stop_i: the stream is accepted and dropped.
// LoadCuts: whether a load fits is known one cycle after its bank is open and the load before
// it is complete, in registers, and what its words need of its command is in registers, too. The
// bank stays open then, so go needs no more than that.
//
// Width argument: banks have at most 2^15 images, powers of two. A load that is executed has at
// most as many images as the deeper of the banks, 2^CountWidth: the number of the last one fits
// CountWidth. beats above that are refused by their upper bits; the rest and filled have CountWidth
// + 1 bits each, their sum one more.
module ng_tile_loader #(
  parameter int ADepth = 512,
  parameter int BDepth = 128,
  parameter bit LoadCuts = 1'b0,  // a register for whether a load fits
  localparam int AAddrWidth = $clog2(ADepth),
  localparam int BAddrWidth = $clog2(BDepth)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                stop_i,
  // Commands.
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  ng_tile_pkg::load_t  cmd_i,
  // The stream; its data goes to the buffers directly.
  input  logic                valid_i,
  output logic                ready_o,
  input  logic                last_i,
  // The buffers.
  input  logic                a_open_i,
  input  logic [AAddrWidth:0] a_filled_i,
  input  logic                a_last_word_i,
  output logic                a_write_o,
  input  logic                b_open_i,
  input  logic [BAddrWidth:0] b_filled_i,
  input  logic                b_last_word_i,
  output logic                b_write_o,
  output logic                close_o,     // of the buffer that is written
  output logic                done_o,      // the last word of a load is taken
  output logic                load_error_o,
  output logic                short_error_o,
  output logic                long_error_o
);

`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (ADepth > 32768) begin : gen_check_a_depth
    $fatal(1, "ng_tile_loader: ADepth=%0d; expected at most 32768", ADepth);
  end
  if (BDepth > 32768) begin : gen_check_b_depth
    $fatal(1, "ng_tile_loader: BDepth=%0d; expected at most 32768", BDepth);
  end
`endif

  localparam int CountWidth = AAddrWidth > BAddrWidth ? AAddrWidth : BAddrWidth;
  logic [CountWidth-1:0] image_q;    // images of this load that are complete
  logic        pending, last_word, fits, go, refused, take, last_of_load;
  logic        operand, more;          // of the load whose words are taken
  logic [CountWidth-1:0] last_image;
  logic [CountWidth:0]   filled;
  logic [CountWidth+1:0] filling;      // images in the bank after this load
  logic        a_beyond, b_beyond;
  assign pending = cmd_valid_i & ~stop_i & (cmd_i.operand ? b_open_i : a_open_i);
  assign filled = cmd_i.operand ? (CountWidth+1)'(b_filled_i) : (CountWidth+1)'(a_filled_i);
  assign last_word = operand ? b_last_word_i : a_last_word_i;
  assign filling = (CountWidth+2)'(filled) + (CountWidth+2)'(cmd_i.beats[CountWidth:0]);
  assign a_beyond = (filling >> (AAddrWidth + 1)) != '0
      || (filling[AAddrWidth] && filling[AAddrWidth-1:0] != '0);
  assign b_beyond = (filling >> (BAddrWidth + 1)) != '0
      || (filling[BAddrWidth] && filling[BAddrWidth-1:0] != '0);
  assign fits = cmd_i.beats != '0 && (cmd_i.beats >> (CountWidth + 1)) == '0
      && !(cmd_i.operand ? b_beyond : a_beyond);

  if (!LoadCuts) begin : gen_fits
    logic started_q;  // words of this load have been taken
    // ng-no-fault: the word that a refused load would bring is dropped with all others after the
    //   error
    assign go = pending & (started_q | fits);
    assign refused = pending & ~started_q & ~fits;
    assign operand = cmd_i.operand;
    assign more = cmd_i.more;
    assign last_image = CountWidth'(cmd_i.beats - 16'd1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) started_q <= 1'b0;
      else if (take) started_q <= ~done_o;
    end
  end else begin : gen_fits_registered
    logic fits_q, refused_q;  // this load was found to fit, or not to
    assign go = fits_q & ~stop_i;
    assign refused = refused_q & ~stop_i;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        fits_q    <= 1'b0;
        refused_q <= 1'b0;
      end else begin
        fits_q    <= pending & ~done_o & (fits_q | fits);
        refused_q <= pending & ~fits_q & ~fits;
      end
    end
    always_ff @(posedge clk_i) begin
      operand    <= cmd_i.operand;
      more       <= cmd_i.more;
      last_image <= CountWidth'(cmd_i.beats - 16'd1);
    end
  end

  assign ready_o = stop_i | go;
  assign take = valid_i & go;
  assign last_of_load = last_word && image_q == last_image;
  assign a_write_o = take & ~operand;
  assign b_write_o = take & operand;
  assign done_o = take & last_of_load & last_i;
  assign close_o = done_o & ~more;
  assign cmd_ready_o = done_o;
  assign load_error_o = refused;
  assign short_error_o = take & ~last_of_load & last_i;
  assign long_error_o = take & last_of_load & ~last_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) image_q <= '0;
    else if (take) image_q <= done_o ? '0 : image_q + CountWidth'(last_word);
  end

endmodule
