# SPDX-License-Identifier: Apache-2.0
# What the Vivado projects of all boards have in common. Nobody has run it with Vivado: it was written from the manuals
# (UG835, UG994, UG912), and a test runs it with procedures in place of Vivado's commands (tests/tools/vivado_test.py).
#
#   synth/image.py BOARD                 writes sources.tcl: files, parameters of the tile, top module
#   vivado -mode batch -source synth/boards/BOARD/build.tcl -tclargs FOLDER
#
# FOLDER has sources.tcl, and gets the project, the reports and the bitstream.
namespace eval ng {
  variable root [file normalize [file join [file dirname [info script]] .. ..]]
  variable folder ""
}

# The folder of -tclargs, and from its sources.tcl `files`, `parameters` and `top`.
proc ng::settings {arguments} {
  variable root
  variable folder
  if {[llength $arguments] != 1} {
    error "the arguments are \"$arguments\"; expected -tclargs and the folder that synth/image.py wrote sources.tcl into"
  }
  set folder [file normalize [lindex $arguments 0]]
  set sources [file join $folder sources.tcl]
  if {![file exists $sources]} {
    error "\"$sources\" does not exist; expected what synth/image.py BOARD writes, run that first"
  }
  uplevel #0 [list source $sources]
}

# A new project of this board with all files, and the constraints beside `script`.
proc ng::project {name part script} {
  variable root
  variable folder
  create_project -force $name [file join $folder project] -part $part
  set paths {}
  foreach file $::ng_files {
    lappend paths [file join $root $file]
  }
  add_files -fileset sources_1 -norecurse $paths
  foreach path $paths {
    if {[file extension $path] eq ".sv"} {
      set_property file_type SystemVerilog [get_files $path]
    }
  }
  add_files -fileset constrs_1 -norecurse [file join [file dirname [file normalize $script]] constraints.xdc]
}

# The tile's parameters as those of the top module.
proc ng::generics {} {
  set generics {}
  foreach {name value} $::ng_parameters {
    lappend generics "$name=$value"
  }
  set_property top $::ng_top [current_fileset]
  set_property generic $generics [current_fileset]
}

# The newest version of one of Xilinx' IPs.
proc ng::ip {name} {
  set found [lsort -dictionary [get_ipdefs -all "xilinx.com:ip:${name}:*"]]
  if {[llength $found] == 0} {
    error "the IP \"$name\" is not in this Vivado's catalog; expected xilinx.com:ip:$name, install the device family"
  }
  return [lindex $found end]
}

# The board's preset (memory, pins of the processor), where its board files are installed.
proc ng::preset {board_part} {
  if {[llength [get_board_parts -quiet $board_part]] == 0} {
    puts "board files of $board_part are not installed: the processor has Vivado's defaults for memory and pins, which is\
          enough for a bitstream that a running Linux loads, and not for one that boots"
    return 0
  }
  set_property board_part $board_part [current_project]
  return 1
}

# Tile and FIFOs behind a master of the processor: `clock` and `reset` are its pins, `master` its interface of AXI,
# `master_clock` that interface's clock, `interrupt` its input.
proc ng::tile {processor clock reset master master_clock interrupt} {
  update_compile_order -fileset sources_1
  create_bd_cell -type module -reference ng_axil_tile tile
  set configuration {}
  foreach {name value} $::ng_parameters {
    lappend configuration CONFIG.$name $value
  }
  set_property -dict $configuration [get_bd_cells tile]
  create_bd_cell -type ip -vlnv [ng::ip proc_sys_reset] reset
  create_bd_cell -type ip -vlnv [ng::ip smartconnect] bus
  set_property -dict [list CONFIG.NUM_SI 1 CONFIG.NUM_MI 2 CONFIG.NUM_CLKS 1] [get_bd_cells bus]

  connect_bd_net [get_bd_pins $processor/$clock] [get_bd_pins $processor/$master_clock] [get_bd_pins bus/aclk] \
    [get_bd_pins reset/slowest_sync_clk] [get_bd_pins tile/clk_i]
  connect_bd_net [get_bd_pins $processor/$reset] [get_bd_pins reset/ext_reset_in]
  connect_bd_net [get_bd_pins reset/peripheral_aresetn] [get_bd_pins tile/rst_ni]
  connect_bd_net [get_bd_pins reset/interconnect_aresetn] [get_bd_pins bus/aresetn]
  connect_bd_net [get_bd_pins tile/irq_o] [get_bd_pins $processor/$interrupt]
  connect_bd_intf_net [get_bd_intf_pins $processor/$master] [get_bd_intf_pins bus/S00_AXI]
  connect_bd_intf_net [get_bd_intf_pins bus/M00_AXI] [get_bd_intf_pins tile/S_AXIL_TILE]
  connect_bd_intf_net [get_bd_intf_pins bus/M01_AXI] [get_bd_intf_pins tile/S_AXIL_FIFOS]
  create_bd_port -dir O -from 1 -to 0 led_o
  connect_bd_net [get_bd_pins tile/led_o] [get_bd_ports led_o]

  # As firmware/ports/ng_uio.dtso has them.
  assign_bd_address -target_address_space [get_bd_addr_spaces $processor/Data] -offset 0xA0000000 -range 4K \
    [get_bd_addr_segs tile/S_AXIL_TILE/reg0]
  assign_bd_address -target_address_space [get_bd_addr_spaces $processor/Data] -offset 0xA0001000 -range 4K \
    [get_bd_addr_segs tile/S_AXIL_FIFOS/reg0]
}

# The block design is whole: check it, and make it the top.
proc ng::wrap {name} {
  validate_bd_design
  save_bd_design
  set design [get_files $name.bd]
  generate_target all $design
  add_files -norecurse [make_wrapper -files $design -top]
  set_property top ${name}_wrapper [current_fileset]
  update_compile_order -fileset sources_1
}

# Synthesis, implementation, reports, bitstream. Timing that is not met is an error.
proc ng::implement {name {jobs 2}} {
  variable folder
  launch_runs synth_1 -jobs $jobs
  wait_on_run synth_1
  launch_runs impl_1 -to_step write_bitstream -jobs $jobs
  wait_on_run impl_1
  if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
    error "the run impl_1 of $name stopped at [get_property STATUS [get_runs impl_1]]; expected 100%, see its log"
  }
  open_run impl_1
  report_utilization -file [file join $folder utilization.txt]
  report_timing_summary -file [file join $folder timing.txt]
  set slack [get_property SLACK [get_timing_paths -max_paths 1 -nworst 1 -setup]]
  if {$slack < 0} {
    error "the slowest path of $name is late by [expr {-$slack}] ns; expected 0 or more slack, see timing.txt"
  }
  write_bitstream -force [file join $folder $name.bit]
  puts "[file join $folder $name.bit]: slack $slack ns"
}

# What Linux and its tools take of a design with a processor: addresses, clocks and the bitstream in one archive.
proc ng::platform {name} {
  variable folder
  write_hw_platform -fixed -include_bit -force -file [file join $folder $name.xsa]
}
