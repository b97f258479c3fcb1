# SPDX-License-Identifier: Apache-2.0
# Arty A7-35T, package csg324 (Digilent's reference manual). Not run with Vivado.
set_property CFGBVS VCCO [current_design]
set_property CONFIG_VOLTAGE 3.3 [current_design]

set_property -dict {PACKAGE_PIN E3 IOSTANDARD LVCMOS33} [get_ports clk_100mhz_i]
create_clock -name clk_100mhz -period 10.000 [get_ports clk_100mhz_i]

set_property -dict {PACKAGE_PIN A9 IOSTANDARD LVCMOS33} [get_ports rx_i]
set_property -dict {PACKAGE_PIN D10 IOSTANDARD LVCMOS33} [get_ports tx_o]
set_property -dict {PACKAGE_PIN H5 IOSTANDARD LVCMOS33} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN J5 IOSTANDARD LVCMOS33} [get_ports {led_o[1]}]
set_property -dict {PACKAGE_PIN T9 IOSTANDARD LVCMOS33} [get_ports {led_o[2]}]

# A serial line and lights have no clock.
set_false_path -from [get_ports rx_i]
set_false_path -to [get_ports {tx_o led_o[0] led_o[1] led_o[2]}]
