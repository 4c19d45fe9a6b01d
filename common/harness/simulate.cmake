# cmake -D PROGRAM=build/bin/NAME_sim -D RUN=gemm [-D SEEDS=0,1] [-D SMS=16] [-D EVERY=ON] -P simulate.cmake
#
# The test of a rung's kernels on the simulator: every variant at awkward sizes, or at the one that RUN names, on GPUs of
# three generations, in orders of execution that a GPU may choose, with every check on: on an H200 in three of them, on the
# older GPUs in one each, or with EVERY in three as well. A GPU that the rung is not for (exit code 77) is passed over. A
# rung for none of the three runs on the fourth, which these kernels have not met as hardware: in six orders. SEEDS: in these instead. SMS:
# on GPUs that have so few.
separate_arguments(run UNIX_COMMAND "${RUN} --ablate --verify-only")
set(ran 0)
foreach(device a100 l40s h200 b200)
  set(seeds 0 1 2)
  if(device STREQUAL b200)
    if(ran)
      break()
    endif()
    set(seeds 0 1 2 3 4 5)
  endif()
  if(DEFINED SEEDS)
    string(REPLACE "," ";" seeds ${SEEDS})
  endif()
  if(NOT EVERY AND device MATCHES "a100|l40s") # the second, and the last
    string(REPLACE "a100" 1 one ${device})
    string(REPLACE "l40s" -1 one ${one})
    list(LENGTH seeds count)
    if(count GREATER 1)
      list(GET seeds ${one} seeds)
    endif()
  endif()
  foreach(seed IN LISTS seeds)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env SIMULATOR_DEVICE=${device} SIMULATOR_SEED=${seed} SIMULATOR_CHECKS=fail
              SIMULATOR_SMS=${SMS} ${PROGRAM} ${run}
      RESULT_VARIABLE exit_code)
    if(exit_code EQUAL 77)
      break()
    elseif(NOT exit_code EQUAL 0)
      message(FATAL_ERROR "exit code ${exit_code} with SIMULATOR_DEVICE=${device} SIMULATOR_SEED=${seed} SIMULATOR_SMS=${SMS}")
    endif()
    math(EXPR ran "${ran} + 1")
  endforeach()
endforeach()
if(ran EQUAL 0)
  message(FATAL_ERROR "no simulated GPU runs this rung")
endif()
