// SPDX-License-Identifier: Apache-2.0
// A tile and its pair of FIFOs as two slaves on AXI4-Lite, for a processor's block design in Vivado,
// which takes a module with these attributes, and in Verilog only. The parameters are those of
// ng_tile and ng_axil_fifos; the registers are those of docs/registers.md and docs/units/axil_fifos.md.
// Lights: led_o[0] lives, [1] the tile's interrupt.
module ng_axil_tile #(
  parameter integer TxBytes        = 2048,
  parameter integer RxBytes        = 2048,
  parameter integer Rows           = 2,
  parameter integer Cols           = 2,
  parameter integer Lanes          = 16,
  parameter integer FormatSet      = 1,
  parameter integer StreamWidth    = 32,
  parameter integer ADepth         = 32,
  parameter integer BDepth         = 32,
  parameter integer MaxBeats       = 65536,
  parameter integer Counters       = 1,
  parameter integer LoadCuts       = 0,
  parameter integer CommandCuts    = 0,
  parameter integer CellCuts       = 0,
  parameter integer ConvertCuts    = 0,
  parameter integer ScaleCuts      = 0,
  parameter integer Requantize     = 0,
  parameter integer RequantizeCuts = 0,
  parameter integer Sparse         = 0,
  parameter integer Codec          = 0,
  parameter integer Encoders       = 0,
  parameter integer Protect        = 0,
  parameter integer Deadline       = 0,
  parameter integer Integers       = 0,
  parameter integer Mx             = 0
) (
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 clk_i CLK" *)
  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME clk_i, ASSOCIATED_BUSIF S_AXIL_TILE:S_AXIL_FIFOS, ASSOCIATED_RESET rst_ni" *)
  input  wire         clk_i,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 rst_ni RST" *)
  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME rst_ni, POLARITY ACTIVE_LOW" *)
  input  wire         rst_ni,  // ends with a rising edge of clk_i
  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME S_AXIL_TILE, PROTOCOL AXI4LITE, DATA_WIDTH 32, ADDR_WIDTH 12" *)
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE AWVALID" *)
  input  wire         s_axil_tile_awvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE AWREADY" *)
  output wire         s_axil_tile_awready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE AWADDR" *)
  input  wire [11:0]  s_axil_tile_awaddr_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE WVALID" *)
  input  wire         s_axil_tile_wvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE WREADY" *)
  output wire         s_axil_tile_wready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE WDATA" *)
  input  wire [31:0]  s_axil_tile_wdata_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE WSTRB" *)
  input  wire [3:0]   s_axil_tile_wstrb_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE BVALID" *)
  output wire         s_axil_tile_bvalid_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE BREADY" *)
  input  wire         s_axil_tile_bready_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE BRESP" *)
  output wire [1:0]   s_axil_tile_bresp_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE ARVALID" *)
  input  wire         s_axil_tile_arvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE ARREADY" *)
  output wire         s_axil_tile_arready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE ARADDR" *)
  input  wire [11:0]  s_axil_tile_araddr_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE RVALID" *)
  output wire         s_axil_tile_rvalid_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE RREADY" *)
  input  wire         s_axil_tile_rready_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE RDATA" *)
  output wire [31:0]  s_axil_tile_rdata_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_TILE RRESP" *)
  output wire [1:0]   s_axil_tile_rresp_o,
  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME S_AXIL_FIFOS, PROTOCOL AXI4LITE, DATA_WIDTH 32, ADDR_WIDTH 12" *)
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS AWVALID" *)
  input  wire         s_axil_fifos_awvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS AWREADY" *)
  output wire         s_axil_fifos_awready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS AWADDR" *)
  input  wire [11:0]  s_axil_fifos_awaddr_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS WVALID" *)
  input  wire         s_axil_fifos_wvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS WREADY" *)
  output wire         s_axil_fifos_wready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS WDATA" *)
  input  wire [31:0]  s_axil_fifos_wdata_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS WSTRB" *)
  input  wire [3:0]   s_axil_fifos_wstrb_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS BVALID" *)
  output wire         s_axil_fifos_bvalid_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS BREADY" *)
  input  wire         s_axil_fifos_bready_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS BRESP" *)
  output wire [1:0]   s_axil_fifos_bresp_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS ARVALID" *)
  input  wire         s_axil_fifos_arvalid_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS ARREADY" *)
  output wire         s_axil_fifos_arready_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS ARADDR" *)
  input  wire [11:0]  s_axil_fifos_araddr_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS RVALID" *)
  output wire         s_axil_fifos_rvalid_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS RREADY" *)
  input  wire         s_axil_fifos_rready_i,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS RDATA" *)
  output wire [31:0]  s_axil_fifos_rdata_o,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 S_AXIL_FIFOS RRESP" *)
  output wire [1:0]   s_axil_fifos_rresp_o,
  (* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq_o INTERRUPT" *)
  (* X_INTERFACE_PARAMETER = "XIL_INTERFACENAME irq_o, SENSITIVITY LEVEL_HIGH" *)
  output wire         irq_o,
  output wire [1:0]   led_o
);
  wire operand_valid, operand_ready, operand_last, result_valid, result_ready, result_last;
  wire [StreamWidth-1:0] operand, result;

  ng_axil_fifos #(
    .StreamWidth(StreamWidth),
    .TxBytes    (TxBytes),
    .RxBytes    (RxBytes)
  ) u_fifos (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .s_axil_awvalid_i (s_axil_fifos_awvalid_i),
    .s_axil_awready_o (s_axil_fifos_awready_o),
    .s_axil_awaddr_i  (s_axil_fifos_awaddr_i),
    .s_axil_wvalid_i  (s_axil_fifos_wvalid_i),
    .s_axil_wready_o  (s_axil_fifos_wready_o),
    .s_axil_wdata_i   (s_axil_fifos_wdata_i),
    .s_axil_wstrb_i   (s_axil_fifos_wstrb_i),
    .s_axil_bvalid_o  (s_axil_fifos_bvalid_o),
    .s_axil_bready_i  (s_axil_fifos_bready_i),
    .s_axil_bresp_o   (s_axil_fifos_bresp_o),
    .s_axil_arvalid_i (s_axil_fifos_arvalid_i),
    .s_axil_arready_o (s_axil_fifos_arready_o),
    .s_axil_araddr_i  (s_axil_fifos_araddr_i),
    .s_axil_rvalid_o  (s_axil_fifos_rvalid_o),
    .s_axil_rready_i  (s_axil_fifos_rready_i),
    .s_axil_rdata_o   (s_axil_fifos_rdata_o),
    .s_axil_rresp_o   (s_axil_fifos_rresp_o),
    .m_axis_tvalid_o (operand_valid),
    .m_axis_tready_i (operand_ready),
    .m_axis_tdata_o  (operand),
    .m_axis_tlast_o  (operand_last),
    .s_axis_tvalid_i (result_valid),
    .s_axis_tready_o (result_ready),
    .s_axis_tdata_i  (result)
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
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .s_axil_awvalid_i (s_axil_tile_awvalid_i),
    .s_axil_awready_o (s_axil_tile_awready_o),
    .s_axil_awaddr_i  (s_axil_tile_awaddr_i),
    .s_axil_wvalid_i  (s_axil_tile_wvalid_i),
    .s_axil_wready_o  (s_axil_tile_wready_o),
    .s_axil_wdata_i   (s_axil_tile_wdata_i),
    .s_axil_wstrb_i   (s_axil_tile_wstrb_i),
    .s_axil_bvalid_o  (s_axil_tile_bvalid_o),
    .s_axil_bready_i  (s_axil_tile_bready_i),
    .s_axil_bresp_o   (s_axil_tile_bresp_o),
    .s_axil_arvalid_i (s_axil_tile_arvalid_i),
    .s_axil_arready_o (s_axil_tile_arready_o),
    .s_axil_araddr_i  (s_axil_tile_araddr_i),
    .s_axil_rvalid_o  (s_axil_tile_rvalid_o),
    .s_axil_rready_i  (s_axil_tile_rready_i),
    .s_axil_rdata_o   (s_axil_tile_rdata_o),
    .s_axil_rresp_o   (s_axil_tile_rresp_o),
    .s_axis_tvalid_i (operand_valid),
    .s_axis_tready_o (operand_ready),
    .s_axis_tdata_i  (operand),
    .s_axis_tlast_i  (operand_last),
    .m_axis_tvalid_o (result_valid),
    .m_axis_tready_i (result_ready),
    .m_axis_tdata_o  (result),
    .m_axis_tlast_o  (result_last),
    .irq_o           (irq_o)
  );

  reg [25:0] lives_q;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lives_q <= 26'd0;
    else lives_q <= lives_q + 26'd1;
  end
  assign led_o = {irq_o, lives_q[25]};

  wire unused = result_last;  // the FIFOs count words, not packets

endmodule
