# SPDX-License-Identifier: Apache-2.0
# Arty A7-35T: a tile behind the USB serial port. Not run with Vivado (synth/boards/xilinx.tcl).
source [file join [file dirname [info script]] .. xilinx.tcl]
ng::settings $argv
ng::project arty_a7 xc7a35ticsg324-1L [info script]
ng::generics
ng::implement arty_a7
