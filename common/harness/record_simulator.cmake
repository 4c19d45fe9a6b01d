# cmake -D RUNGS=00_naive,01_coalesced,… -D NORM_GEMM=06_swizzle_ldmatrix,… -D BIN=build/bin -D OUT=build/record -P record_simulator.cmake
#
# The simulator's counters of every variant of every rung, in build/record/simulator.jsonl, at the sizes at which
# profile.py reads the hardware's; and in build/record/traces.jsonl the memory accesses that the chapters' pictures are
# drawn from. It needs no GPU.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" rungs "${RUNGS}")
string(REPLACE "," ";" norm_gemm_rungs "${NORM_GEMM}")
file(MAKE_DIRECTORY ${OUT})
file(REMOVE ${OUT}/simulator.jsonl)
foreach(rung ${rungs})
  set(runs "gemm --size 1024" "fused_norm --rows 2048 --cols 8192")
  if(rung IN_LIST norm_gemm_rungs)
    list(APPEND runs "norm_gemm --size 1024")
  endif()
  foreach(run ${runs})
    separate_arguments(arguments UNIX_COMMAND ${run})
    execute_process(COMMAND ${BIN}/${rung}_sim ${arguments} --ablate --json ${OUT}/simulator.jsonl
                    RESULT_VARIABLE exit_code)
    if(NOT exit_code EQUAL 0)
      message(FATAL_ERROR "exit code ${exit_code}: ${rung}_sim ${run}")
    endif()
  endforeach()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/record_traces.cmake)
