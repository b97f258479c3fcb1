# SPDX-License-Identifier: Apache-2.0
# Verilator's output files have names only it knows: two files that include them all have names CMake can list. What
# Verilator calls slow (construction, settling, tracing set-up) runs once and is compiled apart, without optimization; of a small
# design all is in one file, because reading the headers twice costs more.
file(GLOB parts RELATIVE ${DIR} ${DIR}/${PREFIX}*.cpp)
list(SORT parts)
set(fast "")
set(slow "")
set(bytes 0)
foreach(part ${parts})
  file(SIZE ${DIR}/${part} size)
  math(EXPR bytes "${bytes} + ${size}")
endforeach()
foreach(part ${parts})
  if(bytes GREATER 100000 AND part MATCHES "__Slow|__Syms")
    string(APPEND slow "#include \"${part}\"\n")
  else()
    string(APPEND fast "#include \"${part}\"\n")
  endif()
endforeach()
file(WRITE ${DIR}/${PREFIX}__fast.cpp "${fast}")
file(WRITE ${DIR}/${PREFIX}__slow.cpp "${slow}")
