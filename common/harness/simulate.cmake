# cmake -D PROGRAM=build/bin/NAME_sim -D RUN=gemm [-D SEEDS=0,1] [-D SMS=16] [-D EVERY=ON] -P simulate.cmake
#
# The test of a rung's kernels on the simulator: every variant at awkward sizes, or at the one that RUN names, in orders of
# execution that a GPU may choose, with every check on: on an H200, or a B200 where the rung is not for that, with what is
# asynchronous as late as it may be (seed 0) and in a random order (1); where SEEDS are given in the second alone. With
# EVERY, before a release: on GPUs of three generations in the orders 0 to 2 or SEEDS; a rung for none of the three runs on
# the fourth, which these kernels have not met as hardware, in six. A GPU that the rung is not for (exit code 77) is passed
# over. SMS: on GPUs that have so few.
separate_arguments(run UNIX_COMMAND "${RUN} --ablate --verify-only")
set(devices h200 b200)
if(EVERY)
  set(devices a100 l40s h200 b200)
endif()
set(ran 0)
foreach(device IN LISTS devices)
  if(ran AND device STREQUAL b200)
    break()
  endif()
  set(seeds 0 1)
  if(DEFINED SEEDS)
    set(seeds 1)
  endif()
  if(EVERY)
    set(seeds 0 1 2)
    if(device STREQUAL b200)
      set(seeds 0 1 2 3 4 5)
    endif()
    if(DEFINED SEEDS)
      string(REPLACE "," ";" seeds ${SEEDS})
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
