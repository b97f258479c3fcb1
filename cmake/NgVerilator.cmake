# SPDX-License-Identifier: Apache-2.0
# Verilated modules for the engines and for verif/. Two functions:
#
#   ng_rtl_sources(out module [files outside rtl/...])
#       Files that the module needs, packages first.
#
#   ng_verilate(TARGET t TOP module [PREFIX Vdut] [PARAMS "K=V;..."] [SOURCES f.sv...] [FST] [FLAGS ...] [OPTIMIZE -O2])
#       Static library t with the Verilated module. Sources default to the files under rtl/ that the module needs.
include_guard(GLOBAL)

# Verilator's code is not ours to check, and slow enough.
set(NG_VERILATED_FLAGS -w)
if(NG_SANITIZE)
  list(APPEND NG_VERILATED_FLAGS -fno-sanitize=all -g0)
endif()
set(NG_BUILT_VERILATED "" CACHE PATH "Another build folder of these sources, whose Verilated modules are taken instead of making them again")
option(NG_WAVES "Benches can write FST waves (--wave FILE); slower" OFF)

find_program(VERILATOR verilator REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE NG_VERILATOR_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(NG_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
cmake_path(NORMAL_PATH NG_ROOT)
set(NG_FLOW ${NG_ROOT}tools/ngtools/ngflow.py)
set_property(GLOBAL APPEND PROPERTY JOB_POOLS ng_tools=2)

# The Verilator run-time, compiled once for all models.
if(NG_BUILT_VERILATED AND NOT TARGET ng_verilated)
  add_library(ng_verilated INTERFACE)
  target_include_directories(ng_verilated SYSTEM INTERFACE ${NG_VERILATOR_ROOT}/include ${NG_VERILATOR_ROOT}/include/vltstd)
  target_link_libraries(ng_verilated INTERFACE ${NG_BUILT_VERILATED}/libng_verilated.a Threads::Threads ZLIB::ZLIB)
elseif(NOT TARGET ng_verilated)
  add_library(ng_verilated STATIC ${NG_VERILATOR_ROOT}/include/verilated.cpp ${NG_VERILATOR_ROOT}/include/verilated_threads.cpp
                                  ${NG_VERILATOR_ROOT}/include/verilated_fst_c.cpp)
  target_include_directories(ng_verilated SYSTEM PUBLIC ${NG_VERILATOR_ROOT}/include ${NG_VERILATOR_ROOT}/include/vltstd)
  target_compile_options(ng_verilated PRIVATE ${NG_VERILATED_FLAGS} -O2)
  target_link_libraries(ng_verilated PUBLIC Threads::Threads ZLIB::ZLIB)
endif()

# The header of all Verilated modules, compiled once: parsing it takes longer than the code of a small unit.
set(NG_TRACE 0)
if(NG_WAVES)
  set(NG_TRACE 1)
endif()
function(ng_verilated_definitions target scope trace)
  target_compile_definitions(${target} ${scope} VM_COVERAGE=0 VM_SC=0 VM_TRACE=${trace} VM_TRACE_FST=${trace} VM_TRACE_VCD=0)
endfunction()
set(NG_EMPTY ${PROJECT_BINARY_DIR}/empty.cpp)
if(NOT TARGET ng_verilated_headers-O0)
  # sc_main: a sanitized program keeps SystemC's library though it uses nothing of it, and that asks for one.
  file(CONFIGURE OUTPUT ${NG_EMPTY} CONTENT "int main() { return 0; }\nextern \"C\" int sc_main(int, char**) { return 0; }\n")
  foreach(level -O0 -O1 -O2)
    if(NG_BUILT_VERILATED)
      break()
    endif()
    add_library(ng_verilated_headers${level} STATIC EXCLUDE_FROM_ALL ${NG_EMPTY})
    target_compile_options(ng_verilated_headers${level} PRIVATE ${NG_VERILATED_FLAGS} ${level})
    target_precompile_headers(ng_verilated_headers${level} PRIVATE <verilated.h>)
    ng_verilated_definitions(ng_verilated_headers${level} PRIVATE ${NG_TRACE})
    target_link_libraries(ng_verilated_headers${level} PRIVATE ng_verilated)
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
  set(trace ${NG_TRACE})
  if(arg_FST)
    set(trace 1)
  endif()
  if(NG_BUILT_VERILATED)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE folder)
    set(built ${NG_BUILT_VERILATED}/${folder})
    add_library(${arg_TARGET} INTERFACE)
    target_include_directories(${arg_TARGET} SYSTEM INTERFACE ${built}/${arg_TARGET}.dir)
    ng_verilated_definitions(${arg_TARGET} INTERFACE ${trace})
    target_link_libraries(${arg_TARGET} INTERFACE ${built}/lib${arg_TARGET}.a ng_verilated)
    return()
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.dir)
  set(fast ${dir}/${arg_PREFIX}__fast.cpp)
  set(slow ${dir}/${arg_PREFIX}__slow.cpp)
  # 'd: a number without a width, so that one for a parameter of a bit is not too wide.
  string(REGEX REPLACE "([A-Za-z_0-9]+=)" "-G\\1" generics "${arg_PARAMS}")
  string(REGEX REPLACE "=([0-9])" "='d\\1" generics "${generics}")
  # Short functions: the compiler's time grows faster than their length.
  set(flags --cc --prefix ${arg_PREFIX} --Mdir ${dir} --top-module ${arg_TOP} -O3 --no-timing
            --x-assign unique --x-initial unique --output-split-cfuncs 1000 ${generics} ${arg_FLAGS})
  if(arg_NO_LINT)
    list(APPEND flags -Wno-lint -Wno-style -Wno-UNOPTFLAT)
  else()
    list(APPEND flags -Wall --assert)
  endif()
  if(trace)
    list(APPEND flags --trace-fst --trace-structs)
  endif()
  add_custom_command(
    OUTPUT ${fast} ${slow} ${dir}/${arg_PREFIX}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${dir}
    COMMAND ${VERILATOR} ${flags} ${arg_SOURCES}
    COMMAND ${CMAKE_COMMAND} -DDIR=${dir} -DPREFIX=${arg_PREFIX} -P ${NG_ROOT}cmake/NgJoin.cmake
    DEPENDS ${arg_SOURCES} ${NG_ROOT}cmake/NgJoin.cmake
    JOB_POOL ng_tools
    COMMENT "Verilator: ${arg_TOP} ${arg_PARAMS}"
    VERBATIM)
  # What runs once is not optimized, and so has a compiled header of its own.
  add_library(${arg_TARGET}_once OBJECT EXCLUDE_FROM_ALL ${slow})
  add_library(${arg_TARGET} STATIC ${fast} $<TARGET_OBJECTS:${arg_TARGET}_once>)
  ng_compile_verilated(${arg_TARGET}_once ${dir} ${trace} -O0)
  ng_compile_verilated(${arg_TARGET} ${dir} ${trace} ${arg_OPTIMIZE})
endfunction()

# Settings of a target that holds what Verilator wrote into `dir`.
function(ng_compile_verilated target dir trace level)
  target_include_directories(${target} SYSTEM PUBLIC ${dir})
  ng_verilated_definitions(${target} PUBLIC ${trace})
  target_compile_options(${target} PRIVATE ${NG_VERILATED_FLAGS} ${level})
  target_link_libraries(${target} PUBLIC ng_verilated)
  if(TARGET ng_verilated_headers${level} AND trace EQUAL NG_TRACE) # the flags of the headers
    target_precompile_headers(${target} REUSE_FROM ng_verilated_headers${level})
  endif()
endfunction()
