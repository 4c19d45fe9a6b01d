# cmake -D RUNGS=00_naive,01_coalesced,… -D BIN=build/bin -P sanitize.cmake
#
# Every variant of every rung, at awkward sizes, under compute-sanitizer's memcheck, racecheck and initcheck. The
# reference is the CPU's, so that what is checked is the rung's kernels and not a library's.
find_program(sanitizer compute-sanitizer)
if(NOT sanitizer)
  message(FATAL_ERROR "compute-sanitizer is missing: it comes with the CUDA Toolkit (cuda-sanitizer-13-0)")
endif()
string(REPLACE "," ";" rungs "${RUNGS}")
set(failed "")
foreach(rung ${rungs})
  foreach(tool memcheck racecheck initcheck)
    string(TIMESTAMP begun %s)
    execute_process(
      COMMAND ${sanitizer} --tool ${tool} --error-exitcode 99 --print-limit 3
              ${BIN}/${rung} --ablate --verify-only --reference cpu
      OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE exit_code TIMEOUT 900)
    string(TIMESTAMP ended %s)
    math(EXPR seconds "${ended} - ${begun}")
    if(exit_code EQUAL 77)
      message("${rung}: not run, no usable GPU")
      continue()
    endif()
    string(REGEX MATCHALL "[^\n]*SUMMARY[^\n]*" summary "${output}")
    message("${rung} ${tool}: exit code ${exit_code} in ${seconds} s ${summary}")
    if(NOT exit_code EQUAL 0)
      message("${output}")
      list(APPEND failed "${rung} ${tool}")
    endif()
  endforeach()
endforeach()
if(failed)
  list(JOIN failed ", " failed)
  message(FATAL_ERROR "not clean: ${failed}")
endif()
