# SPDX-License-Identifier: Apache-2.0
# The named configurations of ng_tile, from rtl/tile/configurations.json:
#
#   NG_TILES                               their names
#   ng_tile_params(name out_params out_defines)
#       out_params: "Rows=8;..." for PARAMS; out_defines: NG_ROWS=8;... for a source that is compiled for one configuration
#   ng_tile_defines(params out_defines)    the same of other PARAMS
#   NG_TILE_SOURCES                        RTL of the tile, and what makes Verilator share the code of the array's cells;
#                                          with NG_RTL only
include_guard(DIRECTORY)
cmake_path(SET NG_ROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../)

set(NG_TILE_FILE ${NG_ROOT}rtl/tile/configurations.json)
set(NG_TILE_KEYS Rows Cols Lanes FormatSet StreamWidth ADepth BDepth MaxBeats Counters)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${NG_TILE_FILE})
file(READ ${NG_TILE_FILE} NG_TILE_JSON)
string(JSON count LENGTH "${NG_TILE_JSON}" configurations)
math(EXPR last "${count} - 1")
set(NG_TILES "")
foreach(i RANGE ${last})
  string(JSON name GET "${NG_TILE_JSON}" configurations ${i} name)
  list(APPEND NG_TILES ${name})
endforeach()
if(NG_RTL)
  include(NgVerilator)
  ng_rtl_sources(NG_TILE_SOURCES ng_tile)
  list(PREPEND NG_TILE_SOURCES ${NG_ROOT}engines/rtl/mac_array.vlt)
endif()

function(ng_tile_params name out_params out_defines)
  list(FIND NG_TILES ${name} i)
  if(i EQUAL -1)
    message(FATAL_ERROR "ng_tile_params: '${name}' is not in ${NG_TILE_FILE}; it has ${NG_TILES}")
  endif()
  set(params "")
  foreach(key ${NG_TILE_KEYS})
    string(JSON value GET "${NG_TILE_JSON}" configurations ${i} ${key})
    list(APPEND params ${key}=${value})
  endforeach()
  ng_tile_defines("${params}" defines)
  set(${out_params} "${params}" PARENT_SCOPE)
  set(${out_defines} "${defines}" PARENT_SCOPE)
endfunction()

function(ng_tile_defines params out_defines)
  set(defines "")
  foreach(param ${params})
    string(REGEX MATCH "^([A-Za-z]+)=(.*)$" param ${param})
    set(value ${CMAKE_MATCH_2})
    string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" define ${CMAKE_MATCH_1})
    string(REGEX REPLACE "^([AB])Depth" "\\1_DEPTH" define ${define})
    string(TOUPPER ${define} define)
    list(APPEND defines NG_${define}=${value})
  endforeach()
  set(${out_defines} "${defines}" PARENT_SCOPE)
endfunction()
