# cmake -D RUNGS=00_naive,01_coalesced,… -D BIN=build/bin -D BUILD=build -D OUT=build/course -D GPU_PROGRAMS=TRUE
#       -P course.cmake
#
# Climbs the ladder: runs every rung on each problem, in order, and lets their table rows make one table. A rung that
# cannot run here (exit code 77) says why and is run on the simulator, at a small size, for a second table: verified and
# counted, without a time. One that computes a wrong result fails the course. GPU_PROGRAMS: there are some, since cuBLAS is
# there.
string(REPLACE "," ";" rungs "${RUNGS}")
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})

# Whether there is a GPU at all, so that its absence is said once and not by every rung.
list(GET rungs 0 first)
set(gpu ${GPU_PROGRAMS})
set(none "cuBLAS is missing, beside which a GPU is timed")
if(gpu)
  execute_process(COMMAND ${BIN}/${first} gemm --size 1 --verify-only
                  RESULT_VARIABLE exit_code OUTPUT_QUIET ERROR_VARIABLE reason)
  if(exit_code EQUAL 77 AND reason MATCHES "(no usable CUDA GPU[^\n]*)")
    set(gpu FALSE)
    set(none ${CMAKE_MATCH_1})
  endif()
endif()
if(NOT gpu)
  message("${none}.\n"
          "So this is a simulation, on the CPU and at small sizes: results are verified, memory accesses are counted, and\n"
          "there are no speeds.\n")
endif()

# climb(SUFFIX OPTIONS...): runs PROGRAM = rung + SUFFIX for each of the rungs in `todo` on `problem`. Leaves in `left`
# those that cannot run here.
set(timed 0)
set(wrong "")
macro(climb suffix)
  set(rows "") # the first rung that runs prints the header, too
  set(left "")
  foreach(rung IN LISTS todo)
    if(rows)
      execute_process(COMMAND ${BIN}/${rung}${suffix} ${problem} ${ARGN} ${rows} RESULT_VARIABLE exit_code)
    else() # above the header stands the rung's title, and the table is the ladder's
      execute_process(COMMAND ${BIN}/${rung}${suffix} ${problem} ${ARGN}
                      RESULT_VARIABLE exit_code OUTPUT_VARIABLE table)
      if(table MATCHES "^[^\n]*\n(.*)")
        execute_process(COMMAND ${CMAKE_COMMAND} -E echo_append
                        "Kernel Ladder, ${problem}, from the first rung to the last\n${CMAKE_MATCH_1}")
      endif()
    endif()
    if(exit_code EQUAL 0)
      set(rows --table-rows)
      if(NOT "${suffix}" STREQUAL "_sim")
        math(EXPR timed "${timed} + 1")
      endif()
    elseif(exit_code EQUAL 77)
      list(APPEND left ${rung})
    else()
      list(APPEND wrong "${rung}${suffix} ${problem} (exit code ${exit_code})")
    endif()
  endforeach()
endmacro()

foreach(problem gemm fused_norm)
  set(todo ${rungs})
  if(gpu)
    climb("" --json ${OUT}/ladder.jsonl)
    set(todo ${left})
    if(todo)
      message("\nOn the simulator, verified and counted, without a time:")
    endif()
  endif()
  if(todo)
    climb(_sim --json ${OUT}/simulator.jsonl)
    foreach(rung IN LISTS left)
      list(APPEND wrong "${rung}_sim ${problem} (cannot run)")
    endforeach()
  endif()
  message("")
endforeach()

if(wrong)
  list(JOIN wrong ", " wrong)
  message(FATAL_ERROR "not verified: ${wrong}")
elseif(timed EQUAL 0)
  message("One rung closer: '${BIN}/${first}_sim --counters', and '--source' for the counts of every line.")
else()
  message("These results are in ${OUT}; draw them with\n"
          "  cmake -B '${BUILD}' -DLADDER_RESULTS='${OUT}' && cmake --build '${BUILD}' --target plots")
endif()
