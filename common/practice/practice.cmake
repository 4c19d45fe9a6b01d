# ladder_practice(NAME ARCH): the rung's exercises, practice/*.md: for each problem that has some the program that grades
# them, bin/practice_hosts/NAME_PROBLEM, and a test of each exercise. `practice_NN` builds what grading needs, copies the
# exercises and nothing else.
set(ladder_practice_folder ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/own.cmake)

function(ladder_practice rung arch)
  file(GLOB exercises CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/practice/*.md)
  if(NOT Python3_Interpreter_FOUND)
    return()
  endif()
  string(SUBSTRING ${rung} 0 2 number)
  set_property(GLOBAL APPEND PROPERTY LADDER_PRACTICE_ARCHS "\"${rung}\": \"${arch}\"")
  set(hosts "")
  foreach(problem gemm fused_norm)
    set(host practice_${number}_${problem})
    string(REGEX REPLACE "^gemm$" "Gemm" problem_type ${problem})
    string(REGEX REPLACE "^fused_norm$" "FusedNorm" problem_type ${problem_type})
    set(namespace rung_${number})
    file(STRINGS rung.cc needs REGEX "^ *\\.needs = ")
    configure_file(${ladder_practice_folder}/main.cc.in ${CMAKE_CURRENT_BINARY_DIR}/practice/${problem}.cc @ONLY)
    add_executable(${host} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/practice/${problem}.cc ${problem}.cu)
    target_include_directories(${host} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${host} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--generate-code=arch=compute_${arch},code=compute_${arch}>"
      "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=none;-lineinfo>")
    set_target_properties(${host} PROPERTIES
      OUTPUT_NAME ${rung}_${problem} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/practice_hosts)
    ladder_simulated(${host})
    list(APPEND hosts ${host})
  endforeach()
  add_custom_target(practice_${number}
    COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/practice start ${number} DEPENDS ${hosts} USES_TERMINAL VERBATIM)
  if(LADDER_TESTS)
    set_target_properties(${hosts} PROPERTIES EXCLUDE_FROM_ALL FALSE)
    foreach(page ${exercises})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
      cmake_path(GET page STEM name)
      add_test(NAME ${rung}.practice.${name}
        COMMAND ${Python3_EXECUTABLE} -B ${ladder_practice_folder}/tests/exercise_test.py --build ${CMAKE_BINARY_DIR} ${page})
      set_tests_properties(${rung}.practice.${name} PROPERTIES LABELS simulator TIMEOUT 300)
    endforeach()
  endif()
endfunction()

# After all rungs: the script bin/practice, what it knows of this build, and the target that lists the exercises.
function(ladder_practice_program)
  if(NOT Python3_Interpreter_FOUND)
    return()
  endif()
  get_property(archs GLOBAL PROPERTY LADDER_PRACTICE_ARCHS)
  list(JOIN archs ", " archs)
  string(TOLOWER ${ladder_gpu_programs} gpu)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/practice/settings.json
    CONTENT "{\"nvcc\": \"${CMAKE_CUDA_COMPILER}\", \"ptxas\": \"${CUDAToolkit_BIN_DIR}/ptxas\", \"archs\": {${archs}}, \"cmake\": \"${CMAKE_COMMAND}\", \"gpu_programs\": ${gpu}}\n")
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/practice)
  file(WRITE ${program} "#!/bin/sh\nexec '${Python3_EXECUTABLE}' -B '${ladder_practice_folder}/practice.py' --build '${CMAKE_BINARY_DIR}' \"$@\"\n")
  file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  add_custom_target(practice COMMAND ${program} USES_TERMINAL VERBATIM)
  ladder_own_programs()
endfunction()
