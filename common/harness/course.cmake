# cmake -D RUNGS=00_naive,01_coalesced,… -D BIN=build/bin -D BUILD=build -D OUT=build/course -P course.cmake
#
# Climbs the ladder: runs every rung on each problem, in order, and lets their table rows make one table. A rung that
# cannot run here (exit code 77) says why and is passed over; one that computes a wrong result fails the course.
string(REPLACE "," ";" rungs "${RUNGS}")
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})

set(ran 0)
set(wrong "")
foreach(problem gemm fused_norm)
  if(problem STREQUAL "fused_norm" AND ran EQUAL 0 AND NOT wrong)
    break() # the reasons would be the same
  endif()
  set(rows "") # the first rung that runs prints the header, too
  foreach(rung IN LISTS rungs)
    execute_process(COMMAND ${BIN}/${rung} ${problem} --json ${OUT}/ladder.jsonl ${rows} RESULT_VARIABLE exit_code)
    if(exit_code EQUAL 0)
      math(EXPR ran "${ran} + 1")
      set(rows --table-rows)
    elseif(NOT exit_code EQUAL 77)
      list(APPEND wrong "${rung} ${problem} (exit code ${exit_code})")
    endif()
  endforeach()
endforeach()

if(wrong)
  list(JOIN wrong ", " wrong)
  message(FATAL_ERROR "not verified: ${wrong}")
elseif(ran EQUAL 0)
  message("\nNo rung could run here. Their lines above say why; building and `cmake --workflow --preset test` need no GPU.")
else()
  message("\nThese results are in ${OUT}; draw them with\n"
          "  cmake -B '${BUILD}' -DLADDER_RESULTS='${OUT}' && cmake --build '${BUILD}' --target plots")
endif()
