# SPDX-License-Identifier: Apache-2.0
# PYNQ-Z2, package clg400 (TUL's user manual). Not run with Vivado.
set_property -dict {PACKAGE_PIN R14 IOSTANDARD LVCMOS33} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN P14 IOSTANDARD LVCMOS33} [get_ports {led_o[1]}]
set_false_path -to [get_ports {led_o[0] led_o[1]}]
