# What every target of the course shares: warnings, GPU architectures, and the one call that makes a rung.

include(${CMAKE_CURRENT_LIST_DIR}/harness/rung_tests.cmake)

set(LADDER_GPU "auto" CACHE STRING
    "Compute capability to build machine code for, such as 90; auto: the local GPU's, or what runs everywhere")

option(LADDER_WERROR "Warnings are errors, in the course's own code" ON)

# The flags travel with the targets that ask for them.
add_library(ladder_warnings INTERFACE)
target_compile_options(ladder_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(LADDER_WERROR)
  target_compile_options(ladder_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()

if(LADDER_GPU STREQUAL "auto")
  set(ladder_local_gpu "")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE ladder_smi ERROR_QUIET RESULT_VARIABLE ladder_smi_failed)
  if(NOT ladder_smi_failed AND ladder_smi MATCHES "^([0-9]+)\\.([0-9]+)")
    set(ladder_local_gpu ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
  endif()
elseif(LADDER_GPU MATCHES "^[0-9][0-9]+$")
  set(ladder_local_gpu ${LADDER_GPU})
else()
  message(FATAL_ERROR "LADDER_GPU is '${LADDER_GPU}': give a compute capability without its dot, such as 90, or auto")
endif()
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE ladder_known_gpus ERROR_QUIET)
if(ladder_local_gpu AND NOT ladder_known_gpus MATCHES "sm_${ladder_local_gpu}[^0-9a-z]")
  message(STATUS "This toolkit makes no code for compute capability ${ladder_local_gpu}: the driver will, from PTX")
  set(ladder_local_gpu "")
elseif(ladder_local_gpu)
  message(STATUS "Machine code for compute capability ${ladder_local_gpu}")
else()
  message(STATUS "No GPU here: machine code for each rung's lowest architecture, PTX for the rest")
endif()

# ladder_architecture(TARGET ARCH): PTX for ARCH (80, or architecture-specific such as 90a) and machine code made from
# that same PTX: for the local GPU where it can run it, else for ARCH itself. One PTX image, embedded as plain text, so
# that a rung uses nothing newer than its own generation and the simulator can read it.
function(ladder_architecture target arch)
  set(real ${arch})
  if(ladder_local_gpu AND arch MATCHES "^[0-9]+$" AND ladder_local_gpu GREATER arch)
    set(real ${ladder_local_gpu})
  endif()
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--generate-code=arch=compute_${arch},code=[compute_${arch},sm_${real}]>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=none;-lineinfo>")
endfunction()

# ladder_on_gpu(PROGRAM), ladder_simulated(PROGRAM): the rung's objects run on a GPU, or on the simulator, which is linked
# in place of CUDA's runtime.
function(ladder_on_gpu program)
  set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CUDA CUDA_ARCHITECTURES OFF)
  target_link_libraries(${program} PRIVATE ladder_harness)
endfunction()
function(ladder_simulated program)
  set_target_properties(${program} PROPERTIES
    LINKER_LANGUAGE CUDA CUDA_ARCHITECTURES OFF CUDA_RUNTIME_LIBRARY None)
  target_link_libraries(${program} PRIVATE ladder_harness_sim)
endfunction()

# ladder_objects(TARGET ARCH SOURCE...): a rung's code for ARCH. A kernel that spills registers, or keeps an array in
# local memory, gets a warning, and so does not build.
function(ladder_objects target arch)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC CUDA::toolkit PRIVATE ladder_warnings)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-warn-spills,-warn-lmem-usage>)
  ladder_architecture(${target} ${arch})
endfunction()

# ladder_rung(NAME ARCH 80 SOURCES rung.cc gemm.cu ... ALSO 103a ... NEWER 89 gemm_fp8.cu ... [NORM_GEMM]): the program
# NAME in bin/, the same objects on the simulator as NAME_sim, their tests, and the rung's place in the course. ALSO:
# architectures that the same source must build for, where PTX for ARCH does not run. NEWER: sources with kernels that
# need more than ARCH, and what they need; their variants refuse to run on less. NORM_GEMM: the rung has the third
# problem, too.
function(ladder_rung name)
  cmake_parse_arguments(rung "NORM_GEMM" "ARCH" "SOURCES;ALSO;NEWER" ${ARGN})
  if(NOT rung_SOURCES)
    set(rung_SOURCES rung.cc gemm.cu fused_norm.cu)
  endif()
  ladder_objects(${name}_objects ${rung_ARCH} ${rung_SOURCES})
  foreach(arch IN LISTS rung_ALSO)
    ladder_objects(${name}_for_${arch} ${arch} ${rung_SOURCES})
  endforeach()
  set_target_properties(${name}_objects PROPERTIES LADDER_ARCH ${rung_ARCH})

  set(objects $<TARGET_OBJECTS:${name}_objects>)
  if(rung_NEWER)
    list(POP_FRONT rung_NEWER arch)
    ladder_objects(${name}_newer ${arch} ${rung_NEWER})
    set_target_properties(${name}_newer PROPERTIES LADDER_ARCH ${arch})
    list(APPEND objects $<TARGET_OBJECTS:${name}_newer>)
  endif()

  add_executable(${name} ${objects})
  ladder_on_gpu(${name})
  add_executable(${name}_sim ${objects})
  ladder_simulated(${name}_sim)
  set(problems gemm fused_norm)
  if(rung_NORM_GEMM)
    list(APPEND problems norm_gemm)
    set_property(GLOBAL APPEND PROPERTY LADDER_NORM_GEMM_RUNGS ${name})
  endif()
  ladder_rung_tests(${name} ${rung_ARCH} ${problems})
  set_property(GLOBAL APPEND PROPERTY LADDER_RUNGS ${name})
endfunction()

# What works on all rungs together: `course` climbs them in order and prints the ladder, on the simulator where there is
# no GPU for it; `sanitize` runs every variant under compute-sanitizer, `record` measures and counts everything that the
# docs are made of; `record_simulator` is the part of it that needs no GPU, `record_traces` of that what pictures are
# drawn from; `simulator_speed` measures the simulator.
function(ladder_course)
  get_property(rungs GLOBAL PROPERTY LADDER_RUNGS)
  get_property(norm_gemm_rungs GLOBAL PROPERTY LADDER_NORM_GEMM_RUNGS)
  string(REPLACE ";" "," rungs_argument "${rungs}")
  string(REPLACE ";" "," norm_gemm_argument "${norm_gemm_rungs}")
  list(TRANSFORM rungs APPEND _sim OUTPUT_VARIABLE simulated)
  foreach(target course sanitize record)
    add_custom_target(${target}
      COMMAND ${CMAKE_COMMAND} -D RUNGS=${rungs_argument} -D NORM_GEMM=${norm_gemm_argument}
              -D BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} -D BUILD=${CMAKE_BINARY_DIR} -D OUT=${CMAKE_BINARY_DIR}/${target}
              -P ${PROJECT_SOURCE_DIR}/common/harness/${target}.cmake
      DEPENDS ${rungs} ${simulated} roofs USES_TERMINAL VERBATIM)
  endforeach()
  # Of two rungs, where there is no GPU: one table for each problem, and it is the ladder's.
  add_test(NAME harness.course
    COMMAND ${CMAKE_COMMAND} -D RUNGS=00_naive,01_coalesced -D BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
            -D BUILD=${CMAKE_BINARY_DIR} -D OUT=${CMAKE_BINARY_DIR}/course-test
            -P ${PROJECT_SOURCE_DIR}/common/harness/course.cmake)
  set(rows ".*\n00_naive .*\n01_coalesced ")
  set_tests_properties(harness.course PROPERTIES ENVIRONMENT CUDA_VISIBLE_DEVICES= TIMEOUT 120
    PASS_REGULAR_EXPRESSION "Kernel Ladder, gemm${rows}.*Kernel Ladder, fused_norm${rows}"
    FAIL_REGULAR_EXPRESSION "wrong way round;not verified")
  foreach(target record_simulator record_traces simulator_speed)
    add_custom_target(${target}
      COMMAND ${CMAKE_COMMAND} -D RUNGS=${rungs_argument} -D NORM_GEMM=${norm_gemm_argument}
              -D BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} -D OUT=${CMAKE_BINARY_DIR}/record -P ${PROJECT_SOURCE_DIR}/common/harness/${target}.cmake
      DEPENDS ${simulated} USES_TERMINAL VERBATIM)
  endforeach()
endfunction()
