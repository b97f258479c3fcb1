# SPDX-License-Identifier: Apache-2.0
# Verilator and Yosys for the rest of the build. Four functions:
#
#   ng_verilate(TARGET t TOP module [PREFIX Vdut] [PARAMS "K=V;..."] [SOURCES f.sv...] [FST] [FLAGS ...] [OPTIMIZE -O2])
#       Static library t with the Verilated module. Sources default to the files under rtl/ that the module needs.
#
#   ng_add_bench(NAME n TOP module BENCH bench.cpp [PARAMS "K=V;..."] [SOURCES f.sv...] [LIBS ...] [DEFINES ...] [VECTORS 100000]
#                [NETLIST_VECTORS 20000 | NO_NETLIST] [MUTANTS 40 | NO_MUTANTS] [MUTANT_VECTORS 5000] [MUTANT_SEED 1]
#                [MUTANT_SCOPE regex] [TIMEOUT 600] [LABELS ...])
#       ctest rtl.n       the bench on the RTL
#             netlist.n   the same source on the netlist that synth_ice40 makes
#             mutants.n   the same source against MUTANTS injected faults (in cells whose file matches MUTANT_SCOPE); each must be killed or
#                         proven equivalent
#
#   ng_add_proof(NAME n TOP harness [SOURCES f.sv...] [SOLVER cvc4|z3] [PARAMS ...] [DEPTH 1] [LEMMAS]
#                [SECONDS 600] STATEMENT "what is proven" [FALSIFY DEFINE])
#       ctest proof.n, and proof.n.falsified: the same harness with DEFINE, which must yield a counterexample.
#
#   ng_add_elab_error(TOP module PARAMS "Lanes=0" EXPECT "regex naming parameter and value")
#       ctest elab.module.Lanes=0: elaboration must fail in Verilator with that message, and in Yosys.
include_guard(GLOBAL)

# Verilator's code is not ours to check, and slow enough.
set(NG_VERILATED_FLAGS -w)
if(NG_SANITIZE)
  list(APPEND NG_VERILATED_FLAGS -fno-sanitize=all -g0)
endif()
option(NG_WAVES "Benches can write FST waves (--wave FILE); slower" OFF)
option(NG_MUTANTS "Build and run the injected-fault tests" ON)
option(NG_NETLIST "Build and run the benches on synthesized netlists" ON)

find_program(VERILATOR verilator REQUIRED)
find_program(YOSYS yosys REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE NG_VERILATOR_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(NG_ROOT ${CMAKE_CURRENT_LIST_DIR}/../..)
cmake_path(NORMAL_PATH NG_ROOT)
set(NG_FLOW ${NG_ROOT}tools/ngtools/ngflow.py)
set_property(GLOBAL APPEND PROPERTY JOB_POOLS ng_tools=2)

# The Verilator run-time, compiled once for all models.
if(NOT TARGET ng_verilated)
  add_library(ng_verilated STATIC ${NG_VERILATOR_ROOT}/include/verilated.cpp ${NG_VERILATOR_ROOT}/include/verilated_threads.cpp
                                  ${NG_VERILATOR_ROOT}/include/verilated_fst_c.cpp)
  target_include_directories(ng_verilated SYSTEM PUBLIC ${NG_VERILATOR_ROOT}/include ${NG_VERILATOR_ROOT}/include/vltstd)
  target_compile_options(ng_verilated PRIVATE ${NG_VERILATED_FLAGS} -O2)
  target_link_libraries(ng_verilated PUBLIC Threads::Threads ZLIB::ZLIB)
endif()

# Headers compiled once: parsing them takes longer than the code of a small unit. One set for Verilator's code, one for the
# benches, whose flags differ.
set(NG_TRACE 0)
if(NG_WAVES)
  set(NG_TRACE 1)
endif()
# GCC bug 105651: false warnings about std::string, which it leaves unsaid only where it sees that the header is the system's.
set(NG_BENCH_FLAGS -Wall -Wextra -Werror -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -ffp-contract=off ${NG_FAST})
function(ng_verilated_definitions target scope trace)
  target_compile_definitions(${target} ${scope} VM_COVERAGE=0 VM_SC=0 VM_TRACE=${trace} VM_TRACE_FST=${trace} VM_TRACE_VCD=0)
endfunction()
if(NOT TARGET ng_verilated_headers)
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "int main() { return 0; }\n")
  add_library(ng_verilated_headers STATIC EXCLUDE_FROM_ALL ${empty})
  target_compile_options(ng_verilated_headers PRIVATE ${NG_VERILATED_FLAGS} -O2)
  target_precompile_headers(ng_verilated_headers PRIVATE <verilated.h>)
  add_executable(ng_bench_headers EXCLUDE_FROM_ALL ${empty}) # a program, because these are compiled as the programs are
  target_compile_options(ng_bench_headers PRIVATE ${NG_BENCH_FLAGS})
  target_precompile_headers(ng_bench_headers PRIVATE ${NG_ROOT}verif/cosim/bench.hpp <deque> <map> <optional>)
  foreach(target ng_verilated_headers ng_bench_headers)
    ng_verilated_definitions(${target} PRIVATE ${NG_TRACE})
    target_link_libraries(${target} PRIVATE ng_verilated)
  endforeach()
endif()

# Files that `top` needs, packages first; also makes CMake look again when one of them changes.
function(ng_rtl_sources out top)
  execute_process(COMMAND ${NG_TOOL} ${NG_FLOW} sources ${top} ${ARGN}
                  OUTPUT_VARIABLE files RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed)
    message(FATAL_ERROR "${why}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files} ${NG_FLOW})
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(ng_verilate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "FST;NO_LINT" "TARGET;TOP;PREFIX;PARAMS;OPTIMIZE" "SOURCES;FLAGS")
  if(NOT arg_PREFIX)
    set(arg_PREFIX Vdut)
  endif()
  if(NOT arg_OPTIMIZE)
    set(arg_OPTIMIZE -O2)
  endif()
  if(NOT arg_SOURCES)
    ng_rtl_sources(arg_SOURCES ${arg_TOP})
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.dir)
  set(fast ${dir}/${arg_PREFIX}__fast.cpp)
  set(slow ${dir}/${arg_PREFIX}__slow.cpp)
  string(REGEX REPLACE "([A-Za-z_0-9]+=)" "-G\\1" generics "${arg_PARAMS}")
  # Short functions: the compiler's time grows faster than their length.
  set(flags --cc --prefix ${arg_PREFIX} --Mdir ${dir} --top-module ${arg_TOP} -O3 --no-timing
            --x-assign unique --x-initial unique --output-split-cfuncs 1000 ${generics} ${arg_FLAGS})
  if(arg_NO_LINT)
    list(APPEND flags -Wno-lint -Wno-style -Wno-UNOPTFLAT)
  else()
    list(APPEND flags -Wall --assert)
  endif()
  set(trace ${NG_TRACE})
  if(arg_FST)
    set(trace 1)
  endif()
  if(trace)
    list(APPEND flags --trace-fst --trace-structs)
  endif()
  add_custom_command(
    OUTPUT ${fast} ${slow} ${dir}/${arg_PREFIX}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${dir}
    COMMAND ${VERILATOR} ${flags} ${arg_SOURCES}
    COMMAND ${CMAKE_COMMAND} -DDIR=${dir} -DPREFIX=${arg_PREFIX} -P ${NG_ROOT}verif/cmake/NgJoin.cmake
    DEPENDS ${arg_SOURCES} ${NG_ROOT}verif/cmake/NgJoin.cmake
    JOB_POOL ng_tools
    COMMENT "Verilator: ${arg_TOP} ${arg_PARAMS}"
    VERBATIM)
  add_library(${arg_TARGET} STATIC ${fast} ${slow})
  set_target_properties(${arg_TARGET} PROPERTIES NG_PARAMS "${arg_PARAMS}")
  set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -O0)
  target_include_directories(${arg_TARGET} SYSTEM PUBLIC ${dir})
  ng_verilated_definitions(${arg_TARGET} PUBLIC ${trace})
  target_compile_options(${arg_TARGET} PRIVATE ${NG_VERILATED_FLAGS} ${arg_OPTIMIZE})
  target_link_libraries(${arg_TARGET} PUBLIC ng_verilated)
  if(arg_OPTIMIZE STREQUAL "-O2" AND trace EQUAL NG_TRACE) # the flags of the headers
    target_precompile_headers(${arg_TARGET} REUSE_FROM ng_verilated_headers)
    set_source_files_properties(${slow} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # not optimized
  endif()
endfunction()

# The bench on one of its three designs.
function(ng_bench_program target dut bench libs defines)
  add_executable(${target} ${bench})
  target_include_directories(${target} PRIVATE ${NG_ROOT}verif/cosim)
  target_compile_options(${target} PRIVATE ${NG_BENCH_FLAGS})
  target_compile_definitions(${target} PRIVATE ${defines})
  target_link_libraries(${target} PRIVATE ${dut} ${libs})
  if(TARGET narrowgauge::model)
    target_link_libraries(${target} PRIVATE narrowgauge::model)
  endif()
  target_precompile_headers(${target} REUSE_FROM ng_bench_headers)
endfunction()

function(ng_add_bench)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_NETLIST;NO_MUTANTS"
    "NAME;TOP;PARAMS;BENCH;VECTORS;NETLIST_VECTORS;MUTANTS;MUTANT_VECTORS;MUTANT_SEED;MUTANT_SCOPE;TIMEOUT" "SOURCES;LIBS;DEFINES;LABELS")
  foreach(default VECTORS=100000 NETLIST_VECTORS=20000 MUTANTS=40 MUTANT_VECTORS=5000 MUTANT_SEED=1 TIMEOUT=600)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 name)
    if(NOT DEFINED arg_${name})
      list(GET default 1 arg_${name})
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ng_add_bench(${arg_NAME}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    ng_rtl_sources(arg_SOURCES ${arg_TOP})
  endif()
  set(work ${CMAKE_CURRENT_BINARY_DIR})

  ng_verilate(TARGET rtl_${arg_NAME}_dut TOP ${arg_TOP} PARAMS "${arg_PARAMS}" SOURCES ${arg_SOURCES})
  ng_bench_program(rtl_${arg_NAME} rtl_${arg_NAME}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
  if(NG_SANITIZE) # ten times slower, and about the bench's code
    math(EXPR arg_VECTORS "(${arg_VECTORS} + 19) / 20")
  endif()
  add_test(NAME rtl.${arg_NAME} COMMAND rtl_${arg_NAME} --vectors ${arg_VECTORS})
  set_tests_properties(rtl.${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "rtl;${arg_LABELS}")

  if(NG_NETLIST AND NOT arg_NO_NETLIST)
    set(script ${NG_ROOT}verif/netlist/make_netlist.py)
    set(netlist ${work}/netlist_${arg_NAME}.v)
    add_custom_command(
      OUTPUT ${netlist}
      COMMAND ${NG_TOOL} ${script} --top ${arg_TOP} "--params=${arg_PARAMS}" --out ${netlist} ${arg_SOURCES}
      DEPENDS ${arg_SOURCES} ${script} ${NG_FLOW} ${NG_ROOT}verif/netlist/ice40_cells.v
      JOB_POOL ng_tools
      COMMENT "Yosys synth_ice40: ${arg_TOP} ${arg_PARAMS}"
      VERBATIM)
    ng_verilate(TARGET netlist_${arg_NAME}_dut TOP ${arg_TOP} SOURCES ${netlist} NO_LINT)
    ng_bench_program(netlist_${arg_NAME} netlist_${arg_NAME}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
    add_test(NAME netlist.${arg_NAME} COMMAND netlist_${arg_NAME} --vectors ${arg_NETLIST_VECTORS})
    set_tests_properties(netlist.${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "netlist;${arg_LABELS}")
  endif()

  if(NG_MUTANTS AND NOT arg_NO_MUTANTS)
    set(script ${NG_ROOT}verif/mutants/make_mutants.py)
    set(faults ${work}/mutants_${arg_NAME}_faults)
    add_custom_command(
      OUTPUT ${faults}.v ${faults}.txt ${faults}.il
      COMMAND ${NG_TOOL} ${script} --top ${arg_TOP} "--params=${arg_PARAMS}" --count ${arg_MUTANTS}
              --seed ${arg_MUTANT_SEED} "--scope=${arg_MUTANT_SCOPE}" --out ${faults} ${arg_SOURCES}
      DEPENDS ${arg_SOURCES} ${script} ${NG_FLOW}
      JOB_POOL ng_tools
      COMMENT "Yosys mutate: ${arg_TOP} ${arg_PARAMS}"
      VERBATIM)
    ng_verilate(TARGET mutants_${arg_NAME}_dut TOP ${arg_TOP} SOURCES ${faults}.v NO_LINT)
    ng_bench_program(mutants_${arg_NAME} mutants_${arg_NAME}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
    add_test(NAME mutants.${arg_NAME}
             COMMAND ${NG_TOOL} ${NG_ROOT}verif/mutants/run_mutants.py --name ${arg_NAME} --top ${arg_TOP}
                     "--params=${arg_PARAMS}" --bench $<TARGET_FILE:mutants_${arg_NAME}> --faults ${faults}
                     --vectors ${arg_MUTANT_VECTORS} --out ${work}/mutants_${arg_NAME}.json)
    math(EXPR timeout "3 * ${arg_TIMEOUT}")
    set_tests_properties(mutants.${arg_NAME} PROPERTIES TIMEOUT ${timeout} LABELS "mutants;${arg_LABELS}")
  endif()
endfunction()

function(ng_add_proof)
  cmake_parse_arguments(PARSE_ARGV 0 arg "LEMMAS" "NAME;TOP;SOLVER;PARAMS;DEPTH;SECONDS;STATEMENT;FALSIFY" "SOURCES")
  foreach(default SOLVER=cvc4 DEPTH=1 SECONDS=600)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 name)
    if(NOT DEFINED arg_${name})
      list(GET default 1 arg_${name})
    endif()
  endforeach()
  if(NOT arg_STATEMENT)
    message(FATAL_ERROR "ng_add_proof(${arg_NAME}): STATEMENT is missing; say in a sentence what is proven")
  endif()
  # The harness lies outside rtl/; what it instantiates is found there.
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  ng_rtl_sources(sources ${arg_TOP} ${arg_SOURCES})
  string(REPLACE ";" "," arg_PARAMS "${arg_PARAMS}")  # one item of the list below
  set(common ${NG_TOOL} ${NG_ROOT}verif/formal/prove.py --top ${arg_TOP} "--params=${arg_PARAMS}" --solver ${arg_SOLVER}
             --depth ${arg_DEPTH} --seconds ${arg_SECONDS} --statement "${arg_STATEMENT}")
  if(arg_LEMMAS)
    list(APPEND common --lemmas)
  endif()
  math(EXPR timeout "${arg_SECONDS} + 60")
  add_test(NAME proof.${arg_NAME} COMMAND ${common} --work ${CMAKE_CURRENT_BINARY_DIR}/proof_${arg_NAME} ${sources})
  set_tests_properties(proof.${arg_NAME} PROPERTIES TIMEOUT ${timeout} LABELS proof)
  if(arg_FALSIFY)
    add_test(NAME proof.${arg_NAME}.falsified COMMAND ${common} --falsify ${arg_FALSIFY}
             --work ${CMAKE_CURRENT_BINARY_DIR}/proof_${arg_NAME}_falsified ${sources})
    set_tests_properties(proof.${arg_NAME}.falsified PROPERTIES TIMEOUT ${timeout} LABELS proof)
  endif()
endfunction()

function(ng_add_elab_error)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TOP;PARAMS;EXPECT" "SOURCES")
  if(NOT arg_SOURCES)
    ng_rtl_sources(arg_SOURCES ${arg_TOP})
  endif()
  string(REPLACE ";" "," label "${arg_PARAMS}")
  add_test(NAME elab.${arg_TOP}.${label}
           COMMAND ${NG_TOOL} ${NG_ROOT}verif/lint/elab_error.py --top ${arg_TOP} "--params=${arg_PARAMS}"
                   "--expect=${arg_EXPECT}" ${arg_SOURCES})
  set_tests_properties(elab.${arg_TOP}.${label} PROPERTIES TIMEOUT 120 LABELS lint)
endfunction()
