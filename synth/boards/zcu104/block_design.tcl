# SPDX-License-Identifier: Apache-2.0
# The processor of a Zynq UltraScale+ at 50 MHz, and the tile behind its port HPM0_FPD, with the addresses and the interrupt
# of firmware/ports/ng_uio.dtso. Not run with Vivado.
set preset [ng::preset xilinx.com:zcu104:part0:1.1]
create_bd_design system
create_bd_cell -type ip -vlnv [ng::ip zynq_ultra_ps_e] ps
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config [list apply_board_preset $preset] [get_bd_cells ps]
set_property -dict [list \
  CONFIG.PSU__USE__M_AXI_GP0 1 \
  CONFIG.PSU__USE__M_AXI_GP1 0 \
  CONFIG.PSU__USE__M_AXI_GP2 0 \
  CONFIG.PSU__USE__IRQ0 1 \
  CONFIG.PSU__FPGA_PL0_ENABLE 1 \
  CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 50 \
] [get_bd_cells ps]
ng::tile ps pl_clk0 pl_resetn0 M_AXI_HPM0_FPD maxihpm0_fpd_aclk pl_ps_irq0
ng::wrap system
