# SPDX-License-Identifier: Apache-2.0
# The processor of a Zynq-7000 at 50 MHz, and the tile behind its port GP1, whose window has the addresses of
# firmware/ports/ng_uio.dtso; that of GP0 ends at 0x7FFFFFFF. The interrupt is number 29 in a device tree. Not run with Vivado.
set preset [ng::preset tul.com.tw:pynq-z2:part0:1.0]
create_bd_design system
create_bd_cell -type ip -vlnv [ng::ip processing_system7] ps
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
  -config [list make_external "FIXED_IO, DDR" apply_board_preset $preset Master Disable Slave Disable] [get_bd_cells ps]
set_property -dict [list \
  CONFIG.PCW_USE_M_AXI_GP0 0 \
  CONFIG.PCW_USE_M_AXI_GP1 1 \
  CONFIG.PCW_USE_FABRIC_INTERRUPT 1 \
  CONFIG.PCW_IRQ_F2P_INTR 1 \
  CONFIG.PCW_EN_CLK0_PORT 1 \
  CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 50 \
] [get_bd_cells ps]
ng::tile ps FCLK_CLK0 FCLK_RESET0_N M_AXI_GP1 M_AXI_GP1_ACLK IRQ_F2P
ng::wrap system
