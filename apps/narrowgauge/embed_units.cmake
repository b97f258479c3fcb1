# SPDX-License-Identifier: Apache-2.0
# Writes OUT, the C++ source with the units' status in it: cmake -DPYTHON= -DSTATUS= -DTEMPLATE= -DOUT= -P this
# status.py's exit code speaks of missing records, which its own test judges; here only its data matter.
execute_process(COMMAND ${PYTHON} ${STATUS} --json OUTPUT_VARIABLE NG_UNITS_JSON ERROR_VARIABLE said)
string(JSON units ERROR_VARIABLE fault LENGTH "${NG_UNITS_JSON}")
if(fault)
  message(FATAL_ERROR "${STATUS} --json gave no JSON (${fault}):\n${said}")
endif()
configure_file(${TEMPLATE} ${OUT} @ONLY)
