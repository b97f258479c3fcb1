# SPDX-License-Identifier: Apache-2.0
# How the build runs Python:
#
#   NG_VENV           the virtual environment, by default .venv, which tools/setup.sh makes
#   NG_INTERPRETER    its interpreter; without an environment the system's, which has all that tools outside power/ need
#   NG_TOOL           starts a script with package ngtools of this tree, whichever tree's is installed in the environment:
#                     add_test(NAME n COMMAND ${NG_TOOL} <script> <arguments>)
include_guard(GLOBAL)

if(NOT NG_VENV)
  set(NG_VENV ${PROJECT_SOURCE_DIR}/.venv)
endif()
if(EXISTS ${NG_VENV}/bin/python)
  set(NG_INTERPRETER ${NG_VENV}/bin/python)
else()
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  set(NG_INTERPRETER ${Python3_EXECUTABLE})
endif()
set(NG_TOOLS_PATH ${PROJECT_SOURCE_DIR}/tools)
set(NG_TOOL ${CMAKE_COMMAND} -E env PYTHONPATH=${NG_TOOLS_PATH} PYTHONDONTWRITEBYTECODE=1 ${NG_INTERPRETER})
