# SPDX-License-Identifier: Apache-2.0
# What a unit is put to: functions called by what NgUnits.cmake makes of the units' records. SOURCES are the design's files,
# packages first.
#
#   ng_add_bench(NAME n TOP module BENCH bench.cpp SOURCES f.sv... [PARAMS "K=V;..."] [VERILATOR file] [LIBS ...] [DEFINES ...]
#                [VECTORS 100000] [RTL_DEEP] [SWEEP 10000000] [NETLIST_VECTORS 20000 | NO_NETLIST] [NETLIST_DEEP] [MUTANTS 40 | NO_MUTANTS]
#                [MUTANT_VECTORS 5000] [MUTANT_SCOPE regex] [FEW_MUTANTS] [REACHED_MUTANTS] [MEMORY_MUTANTS 20] [TIMEOUT 600]
#                [LABELS ...])
#       Cache variable NG_MUTANT_SEED: one seed that campaigns draw from instead of their three.
#       ctest rtl.n         the bench on the RTL; deep with RTL_DEEP
#             rtl.n.sweep   the same with SWEEP vectors; deep
#             netlist.n     the same source on the netlist that synth_ice40 makes; deep with NETLIST_DEEP
#             mutants.n     the same source against MUTANTS injected faults of each of three seeds (in cells whose file matches
#                           MUTANT_SCOPE); each must be killed or proven equivalent; deep
#                           (with REACHED_MUTANTS also by the states that the design reaches)
#             mutants.n.few with FEW_MUTANTS: 20 faults of one seed
#             mutants.n.memory with MEMORY_MUTANTS: as many faults of each of two seeds at the ports of its memories; deep
#       What is deep runs in `make test-all` and leaves a verdict in verif/ledger.jsonl: NgLedger.cmake.
#
#   ng_add_lockstep(NAME n TOP module BENCH bench.cpp SOURCES f.sv... [PARAMS "K=V;..."] [VERILATOR file] [DEFINES ...]
#                   [VECTORS 20000] [FAULT_VECTORS 5000] [DEEP] LABELS family)
#       ctest systemc.n         RTL and SystemC module under the same stimulus, every output compared in every cycle; their
#                               ports are in dut_pins.hpp, which tools/ngtools/pins.py writes
#             systemc.n.faults  the bench must report every fault that it knows to put into the model; both deep with DEEP
#       The Verilated unit is that of ng_add_bench(NAME n) where there is one.
#
#   ng_add_proof(NAME n TOP harness SOURCES f.sv... [SOLVER cvc4|z3] [PARAMS ...] [DEPTH 1] [LEMMAS]
#                [SECONDS 600] STATEMENT "what is proven" [FALSIFY DEFINE])
#       ctest proof.n, and proof.n.falsified: the same harness with DEFINE, which must yield a counterexample.
#
#   ng_add_cuts_proof(NAME n TOP module PARAMS "Cuts=3;...")
#       ctest proof.cuts.n: the unit with cuts is the combinational one, delayed: verif/formal/cuts.py.
#
#   ng_add_elab_error(TOP module PARAMS "Lanes=0" EXPECT "regex naming parameter and value" [EARLY] SOURCES f.sv...)
#       ctest elab.module.Lanes=0: elaboration must fail in Verilator with that message, and in Yosys. EARLY: Verilator may
#       also refuse what follows from such a parameter, with an error of its own, before it comes to the message.
#
#   ng_add_comb_paths(NAME n TOP module [PARAMS "K=V;..."])
#       ctest lint.comb_paths.n: a register between every input (but clock and reset) and every output: docs/handshake.md.
include_guard(GLOBAL)
include(NgSanitize)
include(NgVerilator)

option(NG_MUTANTS "Build and run the injected-fault tests" ON)
set(NG_MUTANT_SEED "" CACHE STRING "Seed from which every campaign of injected faults draws, instead of 1, 77 and the commit's")
if(NOT NG_MUTANT_SEED MATCHES "^[0-9]*$")
  message(FATAL_ERROR "NG_MUTANT_SEED \"${NG_MUTANT_SEED}\" is wrong; expected a whole number, or nothing for seeds 1, 77 and the commit's")
endif()
option(NG_NETLIST "Build and run the benches on synthesized netlists" ON)

find_program(YOSYS yosys REQUIRED)

# The benches' headers, compiled once. GCC bug 105651: false warnings about std::string, which it leaves unsaid only where it
# sees that the header is the system's.
set(NG_BENCH_FLAGS -Wall -Wextra -Werror -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -ffp-contract=off ${NG_QUICK})
if(NOT TARGET ng_bench_headers)
  add_executable(ng_bench_headers EXCLUDE_FROM_ALL ${NG_EMPTY}) # a program, because these are compiled as the programs are
  target_compile_options(ng_bench_headers PRIVATE ${NG_BENCH_FLAGS})
  target_precompile_headers(ng_bench_headers PRIVATE ${NG_ROOT}verif/cosim/bench.hpp <deque> <map> <optional>)
  if(TARGET narrowgauge::systemc)
    add_executable(ng_lockstep_headers EXCLUDE_FROM_ALL ${NG_EMPTY})
    target_compile_options(ng_lockstep_headers PRIVATE ${NG_BENCH_FLAGS})
    target_precompile_headers(ng_lockstep_headers PRIVATE ${NG_ROOT}verif/cosim/bench.hpp <deque> <map> <optional> <systemc>)
    target_link_libraries(ng_lockstep_headers PRIVATE narrowgauge::systemc)
    set(lockstep_headers ng_lockstep_headers)
  endif()
  foreach(target ng_bench_headers ${lockstep_headers})
    ng_verilated_definitions(${target} PRIVATE ${NG_TRACE})
    target_link_libraries(${target} PRIVATE ng_verilated)
  endforeach()
endif()

# The bench on one of its three designs.
function(ng_bench_program target dut bench libs defines)
  add_executable(${target} ${bench})
  target_include_directories(${target} PRIVATE ${NG_ROOT}verif/cosim ${NG_ROOT}engines/include)
  target_compile_options(${target} PRIVATE ${NG_BENCH_FLAGS})
  target_compile_definitions(${target} PRIVATE ${defines})
  target_link_libraries(${target} PRIVATE ${dut} ${libs})
  if(TARGET narrowgauge::model)
    target_link_libraries(${target} PRIVATE narrowgauge::model)
  endif()
  if(narrowgauge::systemc IN_LIST libs)
    target_precompile_headers(${target} REUSE_FROM ng_lockstep_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM ng_bench_headers)
  endif()
endfunction()

# One campaign of injected faults: what builds it, and in `out` the command that runs it.
function(ng_mutants out target script count seeds newest)
  set(script ${NG_ROOT}verif/mutants/${script})
  set(faults ${CMAKE_CURRENT_BINARY_DIR}/${target}_faults)
  if(newest)
    set(newest_seed --newest ${newest})
  endif()
  add_custom_command(
    OUTPUT ${faults}.v ${faults}.txt ${faults}.il ${faults}.seeds ${faults}.left_out.json
    COMMAND ${NG_TOOL} ${script} --top ${arg_TOP} "--params=${arg_PARAMS}" --count ${count} --seeds ${seeds}
            ${newest_seed} "--scope=${arg_MUTANT_SCOPE}" --out ${faults} ${arg_SOURCES}
    DEPENDS ${arg_SOURCES} ${script} ${NG_ROOT}verif/mutants/memory_ports.v ${NG_ROOT}tools/ngtools/handshake.py ${NG_FLOW} ${newest}
    JOB_POOL ng_tools
    COMMENT "Yosys mutate: ${arg_TOP} ${arg_PARAMS}"
    VERBATIM)
  ng_verilate(TARGET ${target}_dut TOP ${arg_TOP} SOURCES ${faults}.v NO_LINT)
  ng_bench_program(${target} ${target}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
  set(${out} ${NG_TOOL} ${arg_RUN_MUTANTS} --name ${arg_NAME} --bench $<TARGET_FILE:${target}> --faults ${faults}
             --vectors ${arg_MUTANT_VECTORS} PARENT_SCOPE)
endfunction()

# The module with its parameters and the bench's definitions, in `out` as text for verdicts, in `top` as it is elaborated.
function(ng_deep_parameters out top)
  set(parameters ${arg_PARAMS})
  list(SORT parameters)
  list(JOIN parameters " " parameters)
  string(STRIP "${arg_TOP} ${parameters}" elaborated)
  set(${top} "${elaborated}" PARENT_SCOPE)
  set(parameters "${arg_TOP} ${parameters}")
  if(arg_DEFINES)
    list(JOIN arg_DEFINES " " defines)
    string(APPEND parameters ", defines ${defines}")
  endif()
  set(${out} "${parameters}" PARENT_SCOPE)
endfunction()

function(ng_add_bench)
  cmake_parse_arguments(PARSE_ARGV 0 arg "RTL_DEEP;NO_NETLIST;NETLIST_DEEP;NO_MUTANTS;FEW_MUTANTS;REACHED_MUTANTS"
    "NAME;TOP;PARAMS;BENCH;VERILATOR;VECTORS;SWEEP;NETLIST_VECTORS;MUTANTS;MUTANT_VECTORS;MUTANT_SCOPE;MEMORY_MUTANTS;TIMEOUT"
    "SOURCES;LIBS;DEFINES;LABELS")
  foreach(default VECTORS=100000 NETLIST_VECTORS=20000 MUTANTS=40 MUTANT_VECTORS=5000 TIMEOUT=600)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 name)
    if(NOT DEFINED arg_${name})
      list(GET default 1 arg_${name})
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ng_add_bench(${arg_NAME}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  math(EXPR deep_timeout "6 * ${arg_TIMEOUT}") # deep tests run when they must, also beside other work
  ng_deep_parameters(parameters top)
  set(depends RTL ${arg_SOURCES} TOPS ${top} CXX ${arg_BENCH})

  ng_verilate(TARGET rtl_${arg_NAME}_dut TOP ${arg_TOP} PARAMS "${arg_PARAMS}" SOURCES ${arg_VERILATOR} ${arg_SOURCES})
  ng_bench_program(rtl_${arg_NAME} rtl_${arg_NAME}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
  ng_sanitized_vectors(sanitized ${arg_VECTORS})
  list(GET arg_LABELS 0 family)
  ng_sanitized(GROUP rtl.${family} PROGRAMS rtl_${arg_NAME} DUT rtl_${arg_NAME}_dut RTL ${arg_SOURCES} TOPS ${top} CXX ${arg_BENCH}
               PARAMETERS "${parameters}, ${sanitized} vectors")
  if(NG_SANITIZE) # none is deep there
    set(arg_VECTORS ${sanitized})
    set(arg_RTL_DEEP OFF)
  endif()
  if(arg_RTL_DEEP)
    set_target_properties(rtl_${arg_NAME} rtl_${arg_NAME}_dut PROPERTIES EXCLUDE_FROM_ALL ON)
    ng_deep_test(NAME rtl.${arg_NAME} COMMAND $<TARGET_FILE:rtl_${arg_NAME}> --vectors ${arg_VECTORS} ${depends} TARGETS rtl_${arg_NAME}
                 PARAMETERS "${parameters}, ${arg_VECTORS} vectors" LABELS rtl ${arg_LABELS} TIMEOUT ${deep_timeout})
  else()
    add_test(NAME rtl.${arg_NAME} COMMAND rtl_${arg_NAME} --vectors ${arg_VECTORS})
    set_tests_properties(rtl.${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "rtl;${arg_LABELS}")
  endif()
  if(arg_SWEEP AND NOT NG_SANITIZE)
    ng_deep_test(NAME rtl.${arg_NAME}.sweep COMMAND $<TARGET_FILE:rtl_${arg_NAME}> --vectors ${arg_SWEEP} ${depends}
                 TARGETS rtl_${arg_NAME} PARAMETERS "${parameters}, ${arg_SWEEP} vectors" LABELS rtl TIMEOUT ${deep_timeout})
  endif()

  if(NG_NETLIST AND NOT arg_NO_NETLIST)
    set(script ${NG_ROOT}verif/netlist/make_netlist.py)
    set(cells ${NG_ROOT}verif/netlist/ice40_cells.v)
    set(target netlist_${arg_NAME})
    set(netlist ${CMAKE_CURRENT_BINARY_DIR}/${target}.v)
    add_custom_command(
      OUTPUT ${netlist}
      COMMAND ${NG_TOOL} ${script} --top ${arg_TOP} "--params=${arg_PARAMS}" --out ${netlist} ${arg_SOURCES}
      DEPENDS ${arg_SOURCES} ${script} ${NG_FLOW} ${cells}
      JOB_POOL ng_tools
      COMMENT "Yosys synth_ice40: ${arg_TOP} ${arg_PARAMS}"
      VERBATIM)
    ng_verilate(TARGET ${target}_dut TOP ${arg_TOP} SOURCES ${netlist} NO_LINT OPTIMIZE -O1) # much code, run for a moment
    ng_bench_program(${target} ${target}_dut ${arg_BENCH} "${arg_LIBS}" "${arg_DEFINES}")
    if(arg_NETLIST_DEEP)
      set_target_properties(${target} ${target}_dut PROPERTIES EXCLUDE_FROM_ALL ON)
      ng_deep_test(NAME netlist.${arg_NAME} COMMAND $<TARGET_FILE:${target}> --vectors ${arg_NETLIST_VECTORS} ${depends}
                   PYTHON ${script} DATA ${cells} TARGETS ${target} LABELS netlist ${arg_LABELS} TIMEOUT ${deep_timeout}
                   PARAMETERS "${parameters}, ${arg_NETLIST_VECTORS} vectors")
    else()
      add_test(NAME netlist.${arg_NAME} COMMAND ${target} --vectors ${arg_NETLIST_VECTORS})
      set_tests_properties(netlist.${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "netlist;${arg_LABELS}")
    endif()
  endif()

  if(NG_MUTANTS AND NOT arg_NO_MUTANTS)
    set(target mutants_${arg_NAME})
    set(arg_RUN_MUTANTS ${NG_ROOT}verif/mutants/run_mutants.py)
    if(arg_REACHED_MUTANTS)
      set(arg_RUN_MUTANTS ${NG_ROOT}verif/mutants/run_mutants_reached.py)
    endif()
    if(NG_MUTANT_SEED STREQUAL "")
      ng_mutants(command ${target} make_mutants.py ${arg_MUTANTS} 1,77 ${NG_NEWEST_SEED})
    else()
      ng_mutants(command ${target} make_mutants.py ${arg_MUTANTS} ${NG_MUTANT_SEED} "")
    endif()
    set_target_properties(${target} ${target}_dut PROPERTIES EXCLUDE_FROM_ALL ON)
    ng_deep_test(NAME mutants.${arg_NAME} COMMAND ${command} ${depends} MUTANTS TARGETS ${target} LABELS mutants ${arg_LABELS}
                 PYTHON ${NG_ROOT}verif/mutants/make_mutants.py ${arg_RUN_MUTANTS} TIMEOUT ${deep_timeout}
                 PARAMETERS "${parameters}, ${arg_MUTANTS} faults of a seed, scope ${arg_MUTANT_SCOPE}, ${arg_MUTANT_VECTORS} vectors")
    if(arg_FEW_MUTANTS)
      ng_mutants(command ${target}_few make_mutants.py 20 1 "")
      add_test(NAME mutants.${arg_NAME}.few COMMAND ${command} --at-least 15)
      set_tests_properties(mutants.${arg_NAME}.few PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "mutants;${arg_LABELS}")
    endif()
    if(arg_MEMORY_MUTANTS)
      ng_mutants(command ${target}_memory make_memory_mutants.py ${arg_MEMORY_MUTANTS} 1 ${NG_NEWEST_SEED})
      set_target_properties(${target}_memory ${target}_memory_dut PROPERTIES EXCLUDE_FROM_ALL ON)
      ng_deep_test(NAME mutants.${arg_NAME}.memory COMMAND ${command} ${depends} MUTANTS TARGETS ${target}_memory
                   LABELS mutants ${arg_LABELS} TIMEOUT ${deep_timeout}
                   PYTHON ${NG_ROOT}verif/mutants/make_memory_mutants.py ${arg_RUN_MUTANTS}
                   PARAMETERS "${parameters}, ${arg_MEMORY_MUTANTS} faults of a seed, scope ${arg_MUTANT_SCOPE}, ${arg_MUTANT_VECTORS} vectors")
    endif()
  endif()
endfunction()

# The search for leaks dies in the stacks of SystemC's processes (seen 2026-11-21 with GCC 12, in half of all runs).
set(NG_SYSTEMC_ENVIRONMENT SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 ASAN_OPTIONS=detect_leaks=0)

function(ng_add_lockstep)
  if(NOT TARGET narrowgauge::systemc)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 0 arg "DEEP" "NAME;TOP;PARAMS;BENCH;VERILATOR;VECTORS;FAULT_VECTORS" "SOURCES;DEFINES;LABELS")
  foreach(default VECTORS=20000 FAULT_VECTORS=5000)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 name)
    if(NOT DEFINED arg_${name})
      list(GET default 1 arg_${name})
    endif()
  endforeach()
  set(dut rtl_${arg_NAME}_dut)
  if(NOT TARGET ${dut})
    set(dut systemc_${arg_NAME}_dut)
    ng_verilate(TARGET ${dut} TOP ${arg_TOP} PARAMS "${arg_PARAMS}" SOURCES ${arg_VERILATOR} ${arg_SOURCES})
  endif()
  set(script ${NG_ROOT}tools/ngtools/pins.py)
  set(pins ${CMAKE_CURRENT_BINARY_DIR}/systemc_${arg_NAME}.dir/dut_pins.hpp)
  add_custom_command(
    OUTPUT ${pins}
    COMMAND ${NG_TOOL} ${script} --top ${arg_TOP} "--params=${arg_PARAMS}" --out ${pins} ${arg_SOURCES}
    DEPENDS ${arg_SOURCES} ${script} ${NG_ROOT}tools/ngtools/systemverilog.py
    JOB_POOL ng_tools
    COMMENT "Ports: ${arg_TOP} ${arg_PARAMS}"
    VERBATIM)
  ng_bench_program(systemc_${arg_NAME} ${dut} ${arg_BENCH} narrowgauge::systemc "${arg_DEFINES}")
  target_sources(systemc_${arg_NAME} PRIVATE ${pins})
  target_include_directories(systemc_${arg_NAME} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/systemc_${arg_NAME}.dir
                                                         ${NG_ROOT}verif/cosim/systemc)
  ng_deep_parameters(parameters top)
  ng_sanitized(GROUP systemc.${arg_LABELS} PROGRAMS systemc_${arg_NAME} DUT ${dut} RTL ${arg_SOURCES} TOPS ${top} CXX ${arg_BENCH}
               PARAMETERS "${parameters}, ${arg_VECTORS} vectors, ${arg_FAULT_VECTORS} for faults")
  if(NG_SANITIZE)
    set(arg_DEEP OFF)
  endif()
  if(arg_DEEP)
    set_target_properties(systemc_${arg_NAME} ${dut} PROPERTIES EXCLUDE_FROM_ALL ON)
    set(run $<TARGET_FILE:systemc_${arg_NAME}>)
    set(depends RTL ${arg_SOURCES} TOPS ${top} CXX ${arg_BENCH} PYTHON ${script} TARGETS systemc_${arg_NAME} LABELS systemc ${arg_LABELS}
                ENVIRONMENT ${NG_SYSTEMC_ENVIRONMENT})
    ng_deep_test(NAME systemc.${arg_NAME} COMMAND ${run} --vectors ${arg_VECTORS} ${depends}
                 PARAMETERS "${parameters}, ${arg_VECTORS} vectors")
    ng_deep_test(NAME systemc.${arg_NAME}.faults COMMAND ${run} --self-test --vectors ${arg_FAULT_VECTORS} ${depends}
                 PARAMETERS "${parameters}, ${arg_FAULT_VECTORS} vectors")
    return()
  endif()
  add_test(NAME systemc.${arg_NAME} COMMAND systemc_${arg_NAME} --vectors ${arg_VECTORS})
  add_test(NAME systemc.${arg_NAME}.faults COMMAND systemc_${arg_NAME} --self-test --vectors ${arg_FAULT_VECTORS})
  set_tests_properties(systemc.${arg_NAME} systemc.${arg_NAME}.faults PROPERTIES TIMEOUT 600 LABELS "systemc;${arg_LABELS}"
                       ENVIRONMENT "${NG_SYSTEMC_ENVIRONMENT}")
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
  string(REPLACE ";" "," arg_PARAMS "${arg_PARAMS}")  # one item of the list below
  set(common ${NG_TOOL} ${NG_ROOT}verif/formal/prove.py --top ${arg_TOP} "--params=${arg_PARAMS}" --solver ${arg_SOLVER}
             --depth ${arg_DEPTH} --seconds ${arg_SECONDS} --statement "${arg_STATEMENT}")
  if(arg_LEMMAS)
    list(APPEND common --lemmas)
  endif()
  math(EXPR timeout "${arg_SECONDS} + 60")
  add_test(NAME proof.${arg_NAME} COMMAND ${common} --work ${CMAKE_CURRENT_BINARY_DIR}/proof_${arg_NAME} ${arg_SOURCES})
  set_tests_properties(proof.${arg_NAME} PROPERTIES TIMEOUT ${timeout} LABELS proof)
  if(arg_FALSIFY)
    add_test(NAME proof.${arg_NAME}.falsified COMMAND ${common} --falsify ${arg_FALSIFY}
             --work ${CMAKE_CURRENT_BINARY_DIR}/proof_${arg_NAME}_falsified ${arg_SOURCES})
    set_tests_properties(proof.${arg_NAME}.falsified PROPERTIES TIMEOUT ${timeout} LABELS proof)
  endif()
endfunction()

function(ng_add_cuts_proof)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TOP;PARAMS" "")
  add_test(NAME proof.cuts.${arg_NAME}
           COMMAND ${NG_TOOL} ${NG_ROOT}verif/formal/cuts.py --top ${arg_TOP} "--params=${arg_PARAMS}")
  set_tests_properties(proof.cuts.${arg_NAME} PROPERTIES TIMEOUT 600 LABELS proof)
endfunction()

function(ng_add_elab_error)
  cmake_parse_arguments(PARSE_ARGV 0 arg "EARLY" "TOP;PARAMS;EXPECT" "SOURCES")
  if(arg_EARLY)
    set(early --early)
  endif()
  string(REPLACE ";" "," label "${arg_PARAMS}")
  add_test(NAME elab.${arg_TOP}.${label}
           COMMAND ${NG_TOOL} ${NG_ROOT}verif/lint/elab_error.py --top ${arg_TOP} "--params=${arg_PARAMS}"
                   "--expect=${arg_EXPECT}" ${early} ${arg_SOURCES})
  set_tests_properties(elab.${arg_TOP}.${label} PROPERTIES TIMEOUT 120 LABELS lint)
endfunction()

function(ng_add_comb_paths)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TOP;PARAMS" "")
  add_test(NAME lint.comb_paths.${arg_NAME}
           COMMAND ${NG_TOOL} ${NG_ROOT}verif/lint/comb_paths.py --top ${arg_TOP} "--params=${arg_PARAMS}"
                   --rule "(?!clk|rst).*_i -> .*_o")
  set_tests_properties(lint.comb_paths.${arg_NAME} PROPERTIES TIMEOUT 300 LABELS lint)
endfunction()
