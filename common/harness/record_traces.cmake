# cmake -D BIN=build/bin -D OUT=build/record -P record_traces.cmake
#
# The memory accesses that the chapters' pictures are drawn from, in build/record/traces.jsonl. It needs no GPU.
execute_process(
  COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/../plots/record_traces.py --bin ${BIN} --json ${OUT}/traces.jsonl
  RESULT_VARIABLE exit_code)
if(NOT exit_code EQUAL 0)
  message(FATAL_ERROR "exit code ${exit_code}: record_traces.py")
endif()
