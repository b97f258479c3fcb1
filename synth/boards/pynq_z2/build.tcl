# SPDX-License-Identifier: Apache-2.0
# PYNQ-Z2: tile and FIFOs as slaves of the processor. Not run with Vivado (synth/boards/xilinx.tcl).
source [file join [file dirname [info script]] .. xilinx.tcl]
ng::settings $argv
ng::project pynq_z2 xc7z020clg400-1 [info script]
source [file join [file dirname [info script]] block_design.tcl]
ng::implement pynq_z2
ng::platform pynq_z2
