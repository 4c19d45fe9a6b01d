# cmake -D RUNGS=00_naive,01_coalesced,… -D BIN=build/bin -D OUT=build/record -P simulator_speed.cmake
#
# How fast the simulator runs on this machine: every rung's gemm, on 1 and 2 CPU threads (and on all of them), with
# neither checks nor counters and with both, as lines of build/record/simulator_speed.jsonl. What it should reach: on each
# thread at least 25 million warp-instructions a second, 12 million with checks and counters; on 2 threads at least 1.8
# times as many as on one; kernels loaded within 0.2 s. Nothing else may run on the machine.
string(REPLACE "," ";" rungs "${RUNGS}")
file(MAKE_DIRECTORY ${OUT})
set(json ${OUT}/simulator_speed.jsonl)
file(WRITE ${json} "")
cmake_host_system_information(RESULT cpu QUERY PROCESSOR_DESCRIPTION)
string(REGEX REPLACE "^[0-9]+ core " "" cpu "${cpu}")
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(threads 1 2 ${cores})
list(REMOVE_DUPLICATES threads)
set(ENV{SIMULATOR_SPEED} 1)
message("million warp-instructions a second on ${cores} × ${cpu}")
foreach(rung ${rungs})
  foreach(checked off fail)
    set(line "${rung}, checks and counters ${checked}:")
    foreach(count ${threads})
      set(ENV{SIMULATOR_CHECKS} ${checked})
      set(ENV{SIMULATOR_THREADS} ${count})
      set(counting --verify-only) # which does not count
      if(checked STREQUAL "fail")
        set(counting "")
      endif()
      execute_process(COMMAND ${BIN}/${rung}_sim gemm --size 768 ${counting}
        OUTPUT_QUIET ERROR_VARIABLE text RESULT_VARIABLE exit_code)
      set(number "([0-9.]+)")
      if(NOT exit_code EQUAL 0 OR NOT text MATCHES
         "${number} million warp-instructions in ${number} s: ${number} million a second, ${number} on each CPU thread; ${number} s")
        message(FATAL_ERROR "${rung}_sim: exit code ${exit_code}: ${text}")
      endif()
      set(all ${CMAKE_MATCH_3})
      set(each ${CMAKE_MATCH_4})
      if(checked STREQUAL "fail")
        set(flag true)
      else()
        set(flag false)
      endif()
      file(APPEND ${json} "{\"record\": \"simulator_speed\", \"rung\": \"${rung}\", \"cpu\": \"${cpu}\", \"threads\": ${count}, "
        "\"checked_and_counted\": ${flag}, \"million_per_second\": ${all}, \"million_per_second_per_thread\": ${each}, "
        "\"load_s\": ${CMAKE_MATCH_5}}\n")
      string(APPEND line "  ${count} threads ${all}")
    endforeach()
    message("${line}")
  endforeach()
endforeach()
