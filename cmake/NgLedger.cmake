# SPDX-License-Identifier: Apache-2.0
# Tests that run in `make test-all` only and leave a verdict in verif/ledger.jsonl (tools/ngtools/ledger.py, docs/testing.md):
#
#   ng_deep_test(NAME n COMMAND c... [TARGETS t...] [RTL f... [TOPS "module A=1 B=2"...]] [CXX f...] [PYTHON f...] [DATA f...]
#                [PARAMETERS text] [MEMBERS json...] [MUTANTS] [WORKING_DIRECTORY d] [TIMEOUT 3600] [LABELS ...] [ENVIRONMENT ...]
#                [LACKS reason])
#       ctest n, with `ctest -C deep`. TARGETS is what has to be built for it, by target `deep` and not by `all`. The other lists are
#       what the verdict depends on: RTL with the whole hierarchy, C++ and Python by their roots. Of recorded data, FILES#NAME is
#       the entry of that name in those files that have one. TOPS is what of the RTL is
#       elaborated; without it, each change of the RTL's text makes the verdict stale. MUTANTS: lines of RTL with `// ng-no-fault`
#       count, too.
#       MEMBERS are further lists of RTL with its TOPS and of C++, each whole in itself: ng_job_lists.
#       LACKS, of ng_lacks, is what this machine has not: the verdict is judged here as anywhere, and the test is skipped.
#   ng_job_lists(out key...)
#       arg_RTL, arg_CXX and so on of the caller as members of a JSON object
#   ng_write_jobs()
#       after the last of them: BUILD/ledger/jobs.json
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/NgSkip.cmake)
add_custom_target(deep)
# The seed of the newest injected faults. A deep run takes the commit's; until then any will do, for targets that nobody builds.
set(NG_NEWEST_SEED ${CMAKE_BINARY_DIR}/ledger/seed)
if(NOT EXISTS ${NG_NEWEST_SEED})
  file(WRITE ${NG_NEWEST_SEED} "1234\n")
endif()

function(ng_job_lists out)
  set(lists "")
  foreach(key ${ARGN})
    string(TOUPPER ${key} KEY)
    if(arg_${KEY})
      set(items "")
      foreach(item ${arg_${KEY}})
        if(NOT key MATCHES "^(targets|tops)$") # from the root, so that the folder's name does not count
          cmake_path(ABSOLUTE_PATH item BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
          cmake_path(RELATIVE_PATH item BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
        endif()
        list(APPEND items "\"${item}\"")
      endforeach()
      list(JOIN items ", " items)
      list(APPEND lists "\"${key}\": [${items}]")
    endif()
  endforeach()
  list(JOIN lists ", " lists)
  set(${out} "${lists}" PARENT_SCOPE)
endfunction()

function(ng_deep_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "MUTANTS" "NAME;PARAMETERS;WORKING_DIRECTORY;TIMEOUT;LACKS"
                        "COMMAND;TARGETS;TOPS;RTL;CXX;PYTHON;DATA;MEMBERS;LABELS;ENVIRONMENT")
  if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ng_deep_test(${arg_NAME}): expected NAME and COMMAND, and none of '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 3600)
  endif()
  if(arg_LACKS)
    ng_skip_tests("${arg_LACKS}" ${arg_NAME})
    set(arg_TARGETS "")
  else()
    add_test(NAME ${arg_NAME} CONFIGURATIONS deep WORKING_DIRECTORY ${arg_WORKING_DIRECTORY}
             COMMAND ${NG_TOOL} -m ngtools.ledger ${CMAKE_BINARY_DIR} --root ${CMAKE_SOURCE_DIR} run ${arg_NAME} -- ${arg_COMMAND})
    set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77 LABELS "deep;${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  if(arg_TARGETS)
    add_dependencies(deep ${arg_TARGETS})
  endif()

  set(job "\"name\": \"${arg_NAME}\"")
  if(arg_MUTANTS)
    string(APPEND job ", \"mutants\": true")
  endif()
  ng_job_lists(lists targets tops rtl cxx python data)
  if(lists)
    string(APPEND job ", ${lists}")
  endif()
  if(arg_MEMBERS)
    list(JOIN arg_MEMBERS ", " members)
    string(APPEND job ", \"members\": [${members}]")
  endif()
  string(REPLACE "\\" "\\\\" text "${arg_PARAMETERS}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE ";" " " text "${text}")
  string(APPEND job ", \"parameters\": \"${text}\"")
  set_property(GLOBAL APPEND_STRING PROPERTY NG_JOBS "{${job}},\n")
endfunction()

function(ng_write_jobs)
  get_property(jobs GLOBAL PROPERTY NG_JOBS)
  string(REGEX REPLACE ",\n$" "\n" jobs "${jobs}")
  file(WRITE ${CMAKE_BINARY_DIR}/ledger/jobs.json "[\n${jobs}]\n")
endfunction()
