# SPDX-License-Identifier: Apache-2.0
# What cannot be tested here, because something is not installed, is said when the build is configured, and by name in
# ctest's list, as skipped.
include_guard(GLOBAL)

# ng_skip_tests(<reason> <test>...)
function(ng_skip_tests reason)
  list(JOIN ARGN ", " names)
  message(NOTICE "skipped: ${names}: ${reason}")
  foreach(name IN LISTS ARGN)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
endfunction()

# ng_lacks(<reason> <variable> <package> ...): sets <reason> to what of the variables was not found; else to nothing
function(ng_lacks reason)
  set(lacks "")
  while(ARGN)
    list(POP_FRONT ARGN variable package)
    if(NOT ${variable})
      list(APPEND lacks "${variable} is not found (package ${package}, or -D${variable}=)")
    endif()
  endwhile()
  list(JOIN lacks ", " lacks)
  set(${reason} "${lacks}" PARENT_SCOPE)
endfunction()
