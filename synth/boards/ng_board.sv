// SPDX-License-Identifier: Apache-2.0
// A tile behind a serial line: what the images of all boards have in common. The parameters are
// those of ng_tile and ng_uart_bridge.
module ng_board #(
  parameter int ClocksPerBit   = 8,
  parameter int RequestBytes   = 512,
  parameter int AnswerBytes    = 512,
  parameter int TxBytes        = 512,
  parameter int RxBytes        = 512,
  parameter int TimeoutClocks  = 2400000,
  parameter int Rows           = 2,
  parameter int Cols           = 2,
  parameter int Lanes          = 16,
  parameter int FormatSet      = ng_format_set_pkg::Nvfp4,
  parameter int StreamWidth    = 32,
  parameter int ADepth         = 32,
  parameter int BDepth         = 32,
  parameter int MaxBeats       = 65536,
  parameter bit Counters       = 1'b1,
  parameter bit LoadCuts       = 1'b0,
  parameter int CommandCuts    = 0,
  parameter int CellCuts       = 0,
  parameter int ConvertCuts    = 0,
  parameter int ScaleCuts      = 0,
  parameter bit Requantize     = 1'b0,
  parameter int RequantizeCuts = 0,
  parameter bit Sparse         = 1'b0,
  parameter int Codec          = 0,
  parameter int Encoders       = 0,
  parameter bit Protect        = 1'b0,
  parameter bit Deadline       = 1'b0,
  parameter bit Integers       = 1'b0,
  parameter bit Mx             = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o,
  output logic locked_o,   // a good frame has come
  output logic running_o,  // the loop runs
  output logic irq_o       // the tile's
);

  logic        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [11:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [3:0]  wstrb;
  logic [1:0]  bresp, rresp;
  logic        operand_valid, operand_ready, operand_last, result_valid, result_ready, result_last;
  logic [StreamWidth-1:0] operand, result;

  ng_uart_bridge #(
    .ClocksPerBit (ClocksPerBit),
    .StreamWidth  (StreamWidth),
    .RequestBytes (RequestBytes),
    .AnswerBytes  (AnswerBytes),
    .TxBytes      (TxBytes),
    .RxBytes      (RxBytes),
    .TimeoutClocks(TimeoutClocks)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .m_axil_awvalid_o(awvalid),
    .m_axil_awready_i(awready),
    .m_axil_awaddr_o (awaddr),
    .m_axil_wvalid_o (wvalid),
    .m_axil_wready_i (wready),
    .m_axil_wdata_o  (wdata),
    .m_axil_wstrb_o  (wstrb),
    .m_axil_bvalid_i (bvalid),
    .m_axil_bready_o (bready),
    .m_axil_bresp_i  (bresp),
    .m_axil_arvalid_o(arvalid),
    .m_axil_arready_i(arready),
    .m_axil_araddr_o (araddr),
    .m_axil_rvalid_i (rvalid),
    .m_axil_rready_o (rready),
    .m_axil_rdata_i  (rdata),
    .m_axil_rresp_i  (rresp),
    .m_axis_tvalid_o (operand_valid),
    .m_axis_tready_i (operand_ready),
    .m_axis_tdata_o  (operand),
    .m_axis_tlast_o  (operand_last),
    .s_axis_tvalid_i (result_valid),
    .s_axis_tready_o (result_ready),
    .s_axis_tdata_i  (result),
    .locked_o,
    .running_o
  );

  ng_tile #(
    .Rows          (Rows),
    .Cols          (Cols),
    .Lanes         (Lanes),
    .FormatSet     (FormatSet),
    .StreamWidth   (StreamWidth),
    .ADepth        (ADepth),
    .BDepth        (BDepth),
    .MaxBeats      (MaxBeats),
    .Counters      (Counters),
    .LoadCuts      (LoadCuts),
    .CommandCuts   (CommandCuts),
    .CellCuts      (CellCuts),
    .ConvertCuts   (ConvertCuts),
    .ScaleCuts     (ScaleCuts),
    .Requantize    (Requantize),
    .RequantizeCuts(RequantizeCuts),
    .Sparse        (Sparse),
    .Codec         (Codec),
    .Encoders      (Encoders),
    .Protect       (Protect),
    .Deadline      (Deadline),
    .Integers      (Integers),
    .Mx            (Mx)
  ) u_tile (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i(awvalid),
    .s_axil_awready_o(awready),
    .s_axil_awaddr_i (awaddr),
    .s_axil_wvalid_i (wvalid),
    .s_axil_wready_o (wready),
    .s_axil_wdata_i  (wdata),
    .s_axil_wstrb_i  (wstrb),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (bready),
    .s_axil_bresp_o  (bresp),
    .s_axil_arvalid_i(arvalid),
    .s_axil_arready_o(arready),
    .s_axil_araddr_i (araddr),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (rready),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .s_axis_tvalid_i (operand_valid),
    .s_axis_tready_o (operand_ready),
    .s_axis_tdata_i  (operand),
    .s_axis_tlast_i  (operand_last),
    .m_axis_tvalid_o (result_valid),
    .m_axis_tready_i (result_ready),
    .m_axis_tdata_o  (result),
    .m_axis_tlast_o  (result_last),
    .irq_o
  );

  logic unused;  // the bridge counts words, not packets
  assign unused = result_last;

endmodule
