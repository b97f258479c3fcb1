# SPDX-License-Identifier: Apache-2.0
# Tests under sanitizers, in groups that leave a verdict each in verif/ledger.jsonl (docs/verification.md, Sanitizers). They
# run in a second build folder, which CMake preset `sanitize` configures; tools/ngtools/sanitize.py builds and runs a group there.
#
#   ng_sanitized_vectors(out vectors)
#       How many vectors of a testbench are run there.
#   ng_sanitized(GROUP g [PROGRAMS t...] [DUT t...] [RTL f... TOPS "module A=1 B=2"...] [CXX f...] [PYTHON f...] [PARAMETERS text]
#                [FOLDERS f...])
#       Group g rests on these, beside what it has. PROGRAMS are targets of the second folder, DUT Verilated modules, which are
#       made here once for both. FOLDERS are built whole, and all their C and C++ counts.
#   ng_write_sanitized()
#       after the last of them: the deep tests sanitize.<group>
include_guard(GLOBAL)

function(ng_sanitized_vectors out vectors) # ten times slower, and about the testbench's code
  if(vectors LESS 100000)
    math(EXPR vectors "(${vectors} + 19) / 20")
  else()
    math(EXPR vectors "${vectors} / 5") # a testbench with so many may want as many for each kind of its stimulus
  endif()
  set(${out} ${vectors} PARENT_SCOPE)
endfunction()

function(ng_sanitized)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "GROUP;PARAMETERS" "PROGRAMS;DUT;RTL;TOPS;CXX;PYTHON;FOLDERS")
  if(NG_SANITIZE)
    return()
  endif()
  foreach(folder ${arg_FOLDERS})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp ${PROJECT_SOURCE_DIR}/${folder}/*.c)
    list(APPEND arg_CXX ${sources})
  endforeach()
  list(TRANSFORM arg_FOLDERS APPEND /all)
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED_${arg_GROUP}_TARGETS ${arg_PROGRAMS} ${arg_FOLDERS})
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED ${arg_GROUP})
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED_${arg_GROUP}_DUT ${arg_DUT})
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED_${arg_GROUP}_PYTHON ${arg_PYTHON})
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED_${arg_GROUP}_PARAMETERS "${arg_PROGRAMS} ${arg_PARAMETERS}")
  ng_job_lists(lists rtl cxx tops)
  set_property(GLOBAL APPEND PROPERTY NG_SANITIZED_${arg_GROUP}_MEMBERS "{${lists}}")
endfunction()

function(ng_write_sanitized)
  include(NgTile)
  set(tiles "")
  set(configurations "")
  foreach(name ${NG_TILES})
    ng_tile_params(${name} params unused)
    list(JOIN params " " params)
    string(APPEND configurations "${name} ${params} ")
    list(APPEND tiles ng_tile_${name}_rtl)
  endforeach()
  list(APPEND tiles ng_tile_large_waves_rtl)
  get_property(units DIRECTORY ${PROJECT_SOURCE_DIR}/verif/cosim/pann PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER units INCLUDE REGEX ^pann_flips_)
  set(tests ${PROJECT_SOURCE_DIR}/tests)
  set(cosim ${PROJECT_SOURCE_DIR}/verif/cosim)
  ng_sanitized(GROUP io FOLDERS io tests/io)
  ng_sanitized(GROUP model FOLDERS model tests/model)
  ng_sanitized(GROUP fuzz FOLDERS tests/fuzz PARAMETERS "100000 mutants")
  ng_sanitized(GROUP firmware FOLDERS firmware tests/firmware)
  ng_sanitized(GROUP rtl.tile PROGRAMS axi_selftest CXX ${cosim}/tile/axi_selftest.cpp)
  ng_sanitized(GROUP engines FOLDERS engines tests/engines PROGRAMS scoreboard_selftest systemc_tile_tlm DUT ${tiles} PARAMETERS "${configurations}"
               CXX ${cosim}/scoreboard_selftest.cpp ${cosim}/systemc/tile_tlm_test.cpp)
  ng_sanitized(GROUP cli FOLDERS engines apps tests/apps DUT ${tiles} PYTHON ${tests}/apps/cli_test.py ${tests}/apps/explore_cli_test.py)
  ng_sanitized(GROUP power FOLDERS power apps tests/power verif/cosim/pann verif/cosim/power
               DUT ${units} power_counted_int8_dut power_counted_nvfp4_dut PYTHON ${tests}/power/flow_test.py ${tests}/power/machines_test.py)

  # The flags are what of the presets counts.
  file(READ ${PROJECT_SOURCE_DIR}/CMakePresets.json presets)
  string(JSON count LENGTH "${presets}" configurePresets)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON name GET "${presets}" configurePresets ${i} name)
    if(name STREQUAL sanitize)
      string(JSON flags GET "${presets}" configurePresets ${i} cacheVariables)
    endif()
  endforeach()
  string(REGEX REPLACE "[ \n]+" " " flags "${flags}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CMakePresets.json)
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS ng_sanitized=1) # each starts as many steps as there are cores

  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  set(run ${NG_TOOL} -m ngtools.sanitize ${PROJECT_BINARY_DIR})
  get_property(groups GLOBAL PROPERTY NG_SANITIZED)
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    foreach(part TARGETS DUT PYTHON PARAMETERS MEMBERS)
      get_property(${part} GLOBAL PROPERTY NG_SANITIZED_${group}_${part})
      list(REMOVE_DUPLICATES ${part})
    endforeach()
    list(JOIN PARAMETERS "; " PARAMETERS)
    string(REPLACE . _ target sanitized_${group})
    add_custom_target(${target} COMMAND ${run} build ${TARGETS} JOB_POOL ng_sanitized
                      COMMENT "Under sanitizers: ${group}" VERBATIM)
    if(DUT)
      add_dependencies(${target} ${DUT})
    endif()
    ng_deep_test(NAME sanitize.${group} COMMAND ${run} run ${group} TARGETS ${target} MEMBERS ${MEMBERS} PYTHON ${PYTHON}
                 LABELS sanitize TIMEOUT 7200 PARAMETERS "${flags} ${PARAMETERS}")
    set_tests_properties(sanitize.${group} PROPERTIES PROCESSORS ${cores}) # it runs as many tests at once
  endforeach()
endfunction()
