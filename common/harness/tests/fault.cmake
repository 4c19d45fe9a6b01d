# cmake -D FAULTY=build/bin/faults/NAME_FAULT -D RUN="gemm --size 256" -D EXPECT=regex [-D UNCHECKED=regex] -P fault.cmake
# cmake -D SOUND=build/bin/NAME_sim -D RUN="gemm --size 256" -D SEEDS=0,2 -P fault.cmake
#
# The test that a fault planted in a rung is found: it fails, with the expected words, in each of three orders of
# execution that a GPU may choose. UNCHECKED: so it does with the simulator's checks off, by what it computes alone. And
# the test that the rung itself passes with the same arguments, in the orders of SEEDS.
separate_arguments(run UNIX_COMMAND "${RUN} --verify-only")
unset(ENV{SIMULATOR_DEVICE})

# The exit code and the output of a program with this seed and these checks.
macro(simulate program seed checks)
  set(ENV{SIMULATOR_SEED} ${seed})
  set(ENV{SIMULATOR_CHECKS} ${checks})
  execute_process(COMMAND ${program} ${run} RESULT_VARIABLE exit_code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("SIMULATOR_SEED=${seed} SIMULATOR_CHECKS=${checks} ${program} ${RUN}: exit code ${exit_code}\n${output}")
endmacro()
macro(expect_fault seed checks words)
  simulate(${FAULTY} ${seed} ${checks})
  if(NOT exit_code EQUAL 1 OR NOT output MATCHES "${words}")
    message(FATAL_ERROR "not found, or not as '${words}'")
  endif()
endmacro()

set(seeds 0 1 2)
if(SOUND)
  string(REPLACE "," ";" seeds ${SEEDS})
endif()
foreach(seed IN LISTS seeds)
  if(SOUND)
    simulate(${SOUND} ${seed} fail)
    if(NOT exit_code EQUAL 0)
      message(FATAL_ERROR "the rung itself fails")
    endif()
    continue()
  endif()
  expect_fault(${seed} fail "${EXPECT}")
  if(UNCHECKED)
    expect_fault(${seed} off "${UNCHECKED}")
  endif()
endforeach()
