# cmake -D PROGRAM=build/bin/NAME_sim -D RUN=gemm [-D SEEDS=0,1] -P simulate.cmake
#
# The test of a rung's kernels on the simulator: every variant at awkward sizes, or at the one that RUN names, on GPUs of
# three generations, in three orders of execution that a GPU may choose, with every check on. A GPU that the rung is not
# for (exit code 77) is passed over. A rung for none of the three runs on the fourth, which nobody here has seen: in six
# orders. SEEDS: in these alone.
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
  foreach(seed IN LISTS seeds)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env SIMULATOR_DEVICE=${device} SIMULATOR_SEED=${seed} SIMULATOR_CHECKS=fail
              ${PROGRAM} ${run}
      RESULT_VARIABLE exit_code)
    if(exit_code EQUAL 77)
      break()
    elseif(NOT exit_code EQUAL 0)
      message(FATAL_ERROR "exit code ${exit_code} with SIMULATOR_DEVICE=${device} SIMULATOR_SEED=${seed}")
    endif()
    math(EXPR ran "${ran} + 1")
  endforeach()
endforeach()
if(ran EQUAL 0)
  message(FATAL_ERROR "no simulated GPU runs this rung")
endif()
