# cmake -D RUNGS=00_naive,01_coalesced,… -D NORM_GEMM=06_swizzle_ldmatrix,… -D BIN=build/bin -P sanitize.cmake
#
# Every variant of every rung, at awkward sizes, under compute-sanitizer's memcheck, racecheck and initcheck. The
# reference is the CPU's, so that what is checked is the rung's kernels and not a library's.
find_program(sanitizer compute-sanitizer)
if(NOT sanitizer)
  message(FATAL_ERROR "compute-sanitizer is missing: it comes with the CUDA Toolkit (cuda-sanitizer-13-0)")
endif()
string(REPLACE "," ";" rungs "${RUNGS}")
string(REPLACE "," ";" norm_gemm_rungs "${NORM_GEMM}")
# check(RUNG TOOL [PROBLEM]): without a problem, the two that all rungs have.
function(check rung tool)
  string(TIMESTAMP begun %s)
  execute_process(
    COMMAND ${sanitizer} --tool ${tool} --error-exitcode 99 --print-limit 3
            ${BIN}/${rung} ${ARGN} --ablate --verify-only --reference cpu
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE exit_code TIMEOUT 900)
  string(TIMESTAMP ended %s)
  math(EXPR seconds "${ended} - ${begun}")
  if(exit_code EQUAL 77)
    message("${rung} ${ARGN}: not run, no usable GPU")
    return()
  endif()
  string(REGEX MATCHALL "[^\n]*SUMMARY[^\n]*" summary "${output}")
  message("${rung} ${ARGN} ${tool}: exit code ${exit_code} in ${seconds} s ${summary}")
  if(NOT exit_code EQUAL 0)
    message("${output}")
    set(failed "${failed};${rung} ${ARGN} ${tool}" PARENT_SCOPE)
  endif()
endfunction()

foreach(tool memcheck racecheck initcheck)
  foreach(rung ${rungs})
    check(${rung} ${tool})
  endforeach()
  foreach(rung ${norm_gemm_rungs})
    check(${rung} ${tool} norm_gemm)
  endforeach()
  if("08_warp_specialized" IN_LIST rungs)
    check(08_warp_specialized ${tool} grouped_gemm)
    check(08_warp_specialized ${tool} linear)
  endif()
endforeach()
if(failed)
  list(REMOVE_ITEM failed "")
  list(JOIN failed ", " failed)
  message(FATAL_ERROR "not clean: ${failed}")
endif()
