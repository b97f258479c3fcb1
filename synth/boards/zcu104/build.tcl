# SPDX-License-Identifier: Apache-2.0
# ZCU104: tile and FIFOs as slaves of the processor. Not run with Vivado (synth/boards/xilinx.tcl).
source [file join [file dirname [info script]] .. xilinx.tcl]
ng::settings $argv
ng::project zcu104 xczu7ev-ffvc1156-2-e [info script]
source [file join [file dirname [info script]] block_design.tcl]
ng::implement zcu104
ng::platform zcu104
