# SPDX-License-Identifier: Apache-2.0
# Tests of every unit, as the records rtl/<family>/ng_<unit>.toml ask for them: tools/ngtools/cmake_units.py writes the calls.
include(NgVerif)
set(generator ${NG_TOOLS_PATH}/ngtools/cmake_units.py)
set(units ${CMAKE_CURRENT_BINARY_DIR}/units.cmake)
file(GLOB inputs CONFIGURE_DEPENDS ${NG_ROOT}rtl/*/*.toml ${NG_ROOT}rtl/*/*.sv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${inputs} ${NG_ROOT}model/formats.json ${generator} ${NG_FLOW} ${NG_TOOLS_PATH}/ngtools/records.py)
execute_process(COMMAND ${NG_TOOL} ${generator} ${units} RESULT_VARIABLE failed ERROR_VARIABLE why)
if(failed)
  message(FATAL_ERROR "${why}")
endif()
include(${units})
