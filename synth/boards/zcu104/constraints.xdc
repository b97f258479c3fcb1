# SPDX-License-Identifier: Apache-2.0
# ZCU104, package ffvc1156 (AMD UG1267). Not run with Vivado.
set_property -dict {PACKAGE_PIN D5 IOSTANDARD LVCMOS33} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN D6 IOSTANDARD LVCMOS33} [get_ports {led_o[1]}]
set_false_path -to [get_ports {led_o[0] led_o[1]}]
