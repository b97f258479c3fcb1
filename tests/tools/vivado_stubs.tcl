# SPDX-License-Identifier: Apache-2.0
# Procedures in place of Vivado's commands, for tests/tools/vivado_test.py: each call is written down, and what is not
# listed is an error, as is an option that a command does not have.
#   tclsh vivado_stubs.tcl LOG SCRIPT FOLDER
lassign $argv log script folder
set channel [open $log w]

# Vivado's commands: their options, = behind one that takes a value.
set commands {
  create_project {-force -part=}
  add_files {-fileset= -norecurse}
  get_files {}
  set_property {-dict=}
  get_property {}
  current_project {}
  current_fileset {}
  current_design {}
  update_compile_order {-fileset=}
  get_ipdefs {-all}
  get_board_parts {-quiet}
  create_bd_design {}
  create_bd_cell {-type= -vlnv= -reference=}
  apply_bd_automation {-rule= -config=}
  connect_bd_net {}
  connect_bd_intf_net {}
  create_bd_port {-dir= -from= -to=}
  assign_bd_address {-target_address_space= -offset= -range=}
  get_bd_cells {}
  get_bd_pins {}
  get_bd_intf_pins {}
  get_bd_ports {}
  get_bd_addr_spaces {}
  get_bd_addr_segs {}
  validate_bd_design {}
  save_bd_design {}
  generate_target {}
  make_wrapper {-files= -top}
  launch_runs {-jobs= -to_step=}
  wait_on_run {}
  get_runs {}
  open_run {}
  get_timing_paths {-max_paths= -nworst= -setup}
  report_utilization {-file=}
  report_timing_summary {-file=}
  write_bitstream {-force}
  write_hw_platform {-fixed -include_bit -force -file=}
  get_ports {}
  create_clock {-name= -period=}
  set_false_path {-from= -to=}
}

proc value_of {name arguments} {
  switch -- $name {
    get_ipdefs {return [list [string map {* 1.9} [lindex $arguments end]] [string map {* 1.10} [lindex $arguments end]]]}
    get_board_parts {return [lindex $arguments end]}
    get_property {return [dict get {PROGRESS 100% STATUS done SLACK 0.5} [lindex $arguments 0]]}
    get_timing_paths {return slowest}
    make_wrapper {return made_by_vivado.v}
    default {return [lindex $arguments end]}
  }
}

proc check_options {name known arguments} {
  for {set i 0} {$i < [llength $arguments]} {incr i} {
    set word [lindex $arguments $i]
    if {![regexp {^-[a-z]} $word]} continue
    if {"$word=" in $known} {
      incr i
      if {$i == [llength $arguments]} {error "$name: the option $word has no value; expected one"}
    } elseif {$word ni $known} {
      error "$name has no option $word; expected one of $known"
    }
  }
}

foreach {name known} $commands {
  proc $name args [string map [list NAME $name KNOWN $known] {
    check_options NAME {KNOWN} $args
    puts $::channel [join [concat [list NAME] $args] \x1f]\x1e
    return [value_of NAME $args]
  }]
}
proc unknown {name args} {
  error "the command $name is not known; expected one of Tcl's or Vivado's"
}

set argv [list $folder]
set argc 1
if {[catch {source $script} problem]} {
  puts stderr $problem
  exit 1
}
close $channel
