# The course's programs in Python as targets: `record` and its parts, `sanitize`, `simulator_speed`, `tidy`. CMake only
# says where things are; each script's --help says what it does. Building and running a rung takes none of them.

# ladder_python_target(NAME DEPENDS target... COMMAND script.py argument...): NAME runs a script of this folder.
set(ladder_tools_folder ${CMAKE_CURRENT_LIST_DIR})
function(ladder_python_target name)
  cmake_parse_arguments(PARSE_ARGV 1 target "" "" "DEPENDS;COMMAND")
  if(NOT Python3_Interpreter_FOUND)
    add_custom_target(${name}
      COMMAND ${CMAKE_COMMAND} -E echo "${name} needs Python 3.10 or newer, get it with: sudo apt install python3 python3-venv (then configure again)"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    return()
  endif()
  list(POP_FRONT target_COMMAND script)
  cmake_path(GET script STEM program)
  add_custom_target(${name} COMMAND ${ladder_python} -m common.tools.${program} ${target_COMMAND}
    DEPENDS ${target_DEPENDS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endfunction()

# ladder_tools(): the targets that need all rungs, and the tests of the scripts.
function(ladder_tools)
  get_property(rungs GLOBAL PROPERTY LADDER_RUNGS)
  get_property(faults GLOBAL PROPERTY LADDER_FAULTS)
  get_property(programs GLOBAL PROPERTY LADDER_PROGRAMS) # the rungs, and every_shape's
  list(TRANSFORM programs APPEND _sim OUTPUT_VARIABLE simulated)
  set(bin --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set(out ${bin} --out ${CMAKE_BINARY_DIR}/record)
  ladder_python_target(record_simulator DEPENDS ${simulated} COMMAND record.py ${out} --only counts,traces)
  ladder_python_target(record_traces DEPENDS ${simulated} COMMAND record.py ${out} --only traces)
  ladder_python_target(simulator_speed DEPENDS ${simulated}
    COMMAND simulator_speed.py ${bin} --json ${CMAKE_BINARY_DIR}/record/simulator_speed.jsonl)
  if(ladder_gpu_programs)
    ladder_python_target(record
      DEPENDS ${programs} roofs memory ${simulated} ${faults} quantisation_error every_shape_blackwell_estimate COMMAND record.py ${out})
    ladder_python_target(sanitize DEPENDS ${programs} COMMAND sanitize.py ${bin})
  else()
    foreach(target record sanitize)
      add_custom_target(${target}
        COMMAND ${CMAKE_COMMAND} -E echo "${target} needs a GPU and cuBLAS, which is missing (${ladder_get_cublas})"
        COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    endforeach()
  endif()
  ladder_python_target(tidy DEPENDS ladder_revision COMMAND tidy.py ${CMAKE_BINARY_DIR})
  if(LADDER_TESTS AND Python3_Interpreter_FOUND)
    add_test(NAME tools COMMAND ${ladder_python} -m unittest discover -s ${ladder_tools_folder}/tests)
    set_tests_properties(tools PROPERTIES TIMEOUT 120 COST 20)
    add_test(NAME course.includes
      COMMAND ${ladder_python} -m common.tools.layers ${PROJECT_SOURCE_DIR} --includes ${PROJECT_SOURCE_DIR}/common/includes.txt)
    if(ladder_gpu_programs) # what is run on a GPU is read by the programs without one
      add_test(NAME tools.command_lines
        COMMAND ${ladder_python} -m common.tools.tests.plan_test ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
      set_tests_properties(tools.command_lines PROPERTIES TIMEOUT 600 COST 20)
    endif()
  endif()
endfunction()
