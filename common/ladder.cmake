# What every target of the course shares: warnings, GPU architectures, and the one call that makes a rung.

# Runs the course's Python, ${ladder_python} -m common.tools.NAME, whatever folder it is run in (common/__init__.py).
set(ladder_python ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR} ${Python3_EXECUTABLE} -B)

include(${CMAKE_CURRENT_LIST_DIR}/harness/rung_tests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/practice/practice.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tools/tools.cmake)

set(LADDER_GPU "auto" CACHE STRING
    "Compute capability to build machine code for, such as 90; auto: the local GPU's, or none where there is no GPU")

option(LADDER_WERROR "Warnings are errors, in the course's own code: for contributors and CI" OFF)

# The flags travel with the targets that ask for them. With the toolkit of the course's records ptxas's warnings, of
# spills among them, are errors, too; another one may well spill where this does not.
set(ladder_records_toolkit FALSE)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0 AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.1)
  set(ladder_records_toolkit TRUE)
endif()
add_library(ladder_warnings INTERFACE)
target_compile_options(ladder_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(LADDER_WERROR)
  target_compile_options(ladder_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
  if(ladder_records_toolkit)
    target_compile_options(ladder_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
endif()

# Of targets that say UNITY_BUILD ${LADDER_UNITED}, whose headers take most of the time.
option(LADDER_UNITED "C++ files are compiled eight at a time: half the time from nothing, more after an edit" OFF)

# ladder_precompiled(TARGET PRIVATE header... | REUSE_FROM TARGET): the headers are parsed once for all of the target's C++
# files, or have been for another target's. A compiler cache does better, and does not keep what is compiled in this way.
function(ladder_precompiled target)
  if(LADDER_UNITED AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "cache")
    target_precompile_headers(${target} ${ARGN})
    target_compile_options(${target} PRIVATE # GCC 12 warns of std::string's own code, which it takes for the target's
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overflow>)
  endif()
endfunction()

if(LADDER_DEVICE_DEBUG)
  set(ladder_local_gpu "")
elseif(LADDER_GPU STREQUAL "auto")
  set(ladder_local_gpu "${ladder_gpu_here}")
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
  message(STATUS "No GPU here: PTX alone, which the simulator runs, and a GPU's driver (-D LADDER_GPU=90: machine code, too)")
endif()

# ladder_architecture(TARGET ARCH [FAMILY 100f]): PTX for ARCH (80, or architecture-specific such as 90a) and, where there
# is a GPU, machine code made from that same PTX: for the GPU where it can run it, else for ARCH itself. One PTX image,
# embedded as plain text, so that a rung uses nothing newer than its own generation and the simulator can read it.
# FAMILY: machine code for the GPUs of this family, too.
function(ladder_architecture target arch)
  cmake_parse_arguments(PARSE_ARGV 2 arch "" "FAMILY" "")
  set(code compute_${arch})
  if(ladder_local_gpu AND arch MATCHES "^[0-9]+$" AND ladder_local_gpu GREATER arch)
    set(code [${code},sm_${ladder_local_gpu}])
  elseif(ladder_local_gpu)
    set(code [${code},sm_${arch}])
  endif()
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--generate-code=arch=compute_${arch},code=${code}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=none;${ladder_lines}>")
  if(arch_FAMILY AND ladder_local_gpu)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--generate-code=arch=compute_${arch_FAMILY},code=sm_${arch_FAMILY}>")
  endif()
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

# ladder_objects(TARGET ARCH FAMILY SOURCE...): a rung's code for ARCH, and for FAMILY where that is not empty. ptxas
# warns of a kernel that spills registers or keeps an array in local memory.
function(ladder_objects target arch family)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC CUDA::toolkit PRIVATE ladder_warnings)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-warn-spills,-warn-lmem-usage>)
  ladder_architecture(${target} ${arch} FAMILY ${family})
  set_target_properties(${target} PROPERTIES LADDER_ARCH ${arch})
endfunction()

# ladder_objects_of(OUT RUNG FILE...): those of the rung's objects that are made of these files, gemm.cu or a regular expression.
function(ladder_objects_of out rung)
  list(JOIN ARGN "|" files)
  string(REPLACE "." "[.]" files "${files}")
  set(${out} "$<FILTER:$<TARGET_OBJECTS:${rung}_objects>,INCLUDE,/${rung}_objects[.]dir/[./]*(${files})[.]o$>" PARENT_SCOPE)
endfunction()

# The problems: what stands below common/harness/problems.
file(GLOB ladder_problems RELATIVE ${CMAKE_CURRENT_LIST_DIR}/harness/problems CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_LIST_DIR}/harness/problems/*/problem.h)
list(TRANSFORM ladder_problems REPLACE "/problem.h$" "")

# ladder_rung(NAME ARCH 80 SOURCES rung.cc gemm.cu ... FAMILY 100f NEWER 89 gemm_fp8.cu ... [NORM_GEMM] [LINEAR] ...): a rung of
# the course, as a program with the same arguments, and its exercises.
function(ladder_rung name)
  ladder_program(${name} ${ARGN} FUSED_NORM RUNG)
  get_target_property(arch ${name}_objects LADDER_ARCH)
  ladder_practice(${name} ${arch})
  ladder_listing(${name})
  ladder_large(${name})
  set_property(GLOBAL APPEND PROPERTY LADDER_RUNGS ${name})
endfunction()

# ladder_program(NAME ...): the program NAME in bin/, the same objects on the simulator as NAME_sim, and their tests. FAMILY:
# whose GPUs run it, too, where PTX for ARCH does not. NEWER: sources with kernels that need more than ARCH, and what
# they need; their variants refuse to run on less. FUSED_NORM and any other of ladder_problems in capitals: beside gemm,
# which every one solves, it has this problem. RUNG: what is in its folders beside ablations/ is compiled apart, so that
# exercises and a reader's own programs, which are about the rest, need not wait for it.
function(ladder_program name)
  string(TOUPPER "${ladder_problems}" other_problems)
  cmake_parse_arguments(rung "RUNG;${other_problems}" "ARCH;FAMILY" "SOURCES;NEWER" ${ARGN})
  if(NOT rung_SOURCES)
    set(rung_SOURCES rung.cc gemm.cu fused_norm.cu)
  endif()
  set(excursions "")
  if(rung_RUNG)
    set(excursions ${rung_SOURCES})
    list(FILTER excursions INCLUDE REGEX "/")
    list(FILTER excursions EXCLUDE REGEX "^ablations/")
    list(REMOVE_ITEM rung_SOURCES ${excursions})
  endif()
  ladder_objects(${name}_objects ${rung_ARCH} "${rung_FAMILY}" ${rung_SOURCES})
  set(objects $<TARGET_OBJECTS:${name}_objects>)
  if(excursions)
    ladder_objects(${name}_excursions ${rung_ARCH} "${rung_FAMILY}" ${excursions})
    list(APPEND objects $<TARGET_OBJECTS:${name}_excursions>)
  endif()
  if(rung_NEWER)
    list(POP_FRONT rung_NEWER arch)
    ladder_objects(${name}_newer ${arch} "" ${rung_NEWER})
    list(APPEND objects $<TARGET_OBJECTS:${name}_newer>)
  endif()
  set_target_properties(${name}_objects PROPERTIES LADDER_ALL_OBJECTS "${objects}")

  if(ladder_gpu_programs)
    add_executable(${name} ${objects})
    ladder_on_gpu(${name})
  else()
    add_custom_target(${name}
      COMMAND ${CMAKE_COMMAND} -E echo "${name} is timed beside cuBLAS, which is missing: build ${name}_sim, or install it (${ladder_get_cublas})"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
  add_executable(${name}_sim ${objects})
  ladder_simulated(${name}_sim)
  set(problems gemm)
  foreach(problem ${ladder_problems})
    string(TOUPPER ${problem} option)
    if(rung_${option})
      list(APPEND problems ${problem})
    endif()
  endforeach()
  ladder_rung_tests(${name} ${rung_ARCH} ${problems})
  ladder_faults(${name})
  set_property(GLOBAL APPEND PROPERTY LADDER_PROGRAMS ${name})
endfunction()

# `course` climbs all rungs in order and prints the ladder, on the simulator where there is no GPU for it. What else works
# on all rungs together is in tools/tools.cmake.
function(ladder_course)
  get_property(rungs GLOBAL PROPERTY LADDER_RUNGS)
  string(REPLACE ";" "," rungs_argument "${rungs}")
  list(TRANSFORM rungs APPEND _sim OUTPUT_VARIABLE simulated)
  set(on_gpu "")
  if(ladder_gpu_programs)
    set(on_gpu ${rungs})
  endif()
  set(climb ${CMAKE_COMMAND} -D BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} -D BUILD=${CMAKE_BINARY_DIR}
            -D GPU_PROGRAMS=${ladder_gpu_programs})
  add_custom_target(course
    COMMAND ${climb} -D RUNGS=${rungs_argument} -D OUT=${CMAKE_BINARY_DIR}/course
            -P ${PROJECT_SOURCE_DIR}/common/harness/course.cmake
    DEPENDS ${on_gpu} ${simulated} USES_TERMINAL VERBATIM)
  # Of two rungs, where there is no GPU: one table for each problem, and it is the ladder's.
  add_test(NAME harness.course
    COMMAND ${climb} -D RUNGS=00_naive,01_coalesced -D OUT=${CMAKE_BINARY_DIR}/course-test
            -P ${PROJECT_SOURCE_DIR}/common/harness/course.cmake)
  set(rows ".*\n00_naive .*\n01_coalesced ")
  set_tests_properties(harness.course PROPERTIES ENVIRONMENT CUDA_VISIBLE_DEVICES= TIMEOUT 120
    PASS_REGULAR_EXPRESSION "Kernel Ladder, gemm${rows}.*Kernel Ladder, fused_norm${rows}"
    FAIL_REGULAR_EXPRESSION "wrong way round;not verified")
endfunction()

# ladder_on_all_cores(NAME COMMAND...): the target NAME runs it. The presets go through these: a preset can give a number
# of jobs, not say "one for each core". A job may take a gigabyte.
function(ladder_on_all_cores name)
  add_custom_target(${name} COMMAND ${CMAKE_COMMAND} -E env --unset=MAKEFLAGS --unset=MAKELEVEL ${ARGN}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} USES_TERMINAL VERBATIM)
endfunction()
include(ProcessorCount)
ProcessorCount(ladder_jobs)
math(EXPR ladder_jobs "${ladder_jobs} + 1") # one more than cores: some job always waits for a disk or a pipe
cmake_host_system_information(RESULT ladder_memory QUERY TOTAL_PHYSICAL_MEMORY) # MiB
math(EXPR ladder_memory "${ladder_memory} / 1000")
if(ladder_jobs GREATER ladder_memory)
  set(ladder_jobs ${ladder_memory})
endif()
if(ladder_jobs LESS 1)
  set(ladder_jobs 1)
endif()
set(ladder_build ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --parallel ${ladder_jobs} --target)
ladder_on_all_cores(everything ${ladder_build} all)
ladder_on_all_cores(climb ${ladder_build} course)
# Each test with one thread, as many at a time as there are cores. Tests on a GPU come one after the other. check_release:
# what `check` leaves out, see CONTRIBUTING.md.
if(LADDER_TESTS)
  set(ladder_ctest SIMULATOR_THREADS=1 ${CMAKE_CTEST_COMMAND} --parallel ${ladder_jobs} --output-on-failure --no-tests=error)
  ladder_on_all_cores(check ${ladder_ctest} --label-exclude release)
  ladder_on_all_cores(check_release ${ladder_ctest} --label-regex release)
else()
  add_custom_target(check
    COMMAND ${CMAKE_COMMAND} -E echo "There are no tests without GoogleTest (apt-get install libgtest-dev, and configure again)"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
