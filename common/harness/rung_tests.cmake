# What a rung is tested by. ladder_rung() asks for the first, the rung's CMakeLists.txt for the others. Tests with a COST, in
# seconds or so, begin before the rest: those on a GPU, which come one after the other, and the longest.

find_program(LADDER_CUOBJDUMP cuobjdump HINTS ${CUDAToolkit_BIN_DIR} DOC "For the tests of the rungs' machine code")
set(ladder_ptxas ${CUDAToolkit_BIN_DIR}/ptxas)
set(ladder_harness_tests ${CMAKE_CURRENT_LIST_DIR}/tests)
cmake_path(SET ladder_fault_tools NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../tools)
set(ladder_fault_python ${CMAKE_COMMAND} -E env PYTHONPATH=${ladder_fault_tools}/../.. ${Python3_EXECUTABLE} -B -m)
if(NOT LADDER_TESTS)
elseif(NOT Python3_Interpreter_FOUND)
  message(STATUS "Python 3.10 or newer is missing: no tests of the rungs on the simulator, of their PTX and machine code, no planted faults")
elseif(NOT LADDER_CUOBJDUMP)
  message(STATUS "cuobjdump is missing: no tests of the rungs' machine code (CONTRIBUTING.md says how to get it)")
endif()

# ladder_assembles(TEST OBJECTS ARCH GPUS): the objects' PTX, which is for ARCH, as machine code of that, which the tests of
# ladder_sass() read; and before a release of every GPU. Where there is no cuobjdump it is left to CI, as those are. Spills
# fail it with the toolkit of the course's records; with another they are noted.
function(ladder_assembles test objects arch gpus)
  if(Python3_Interpreter_FOUND AND LADDER_CUOBJDUMP)
    set(spills note)
    if(ladder_records_toolkit)
      set(spills fail)
    endif()
    set(assembles ${Python3_EXECUTABLE} -B ${ladder_harness_tests}/assembles.py --ptxas ${ladder_ptxas}
      --target sm_${arch} --spills ${spills} $<TARGET_OBJECTS:${objects}>)
    add_test(NAME ${test} COMMAND ${assembles} --gpus sm_${arch} --keep COMMAND_EXPAND_LISTS)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600 COST 70 FIXTURES_SETUP ${objects}_cubins)
    list(REMOVE_ITEM gpus sm_${arch})
    if(gpus)
      string(REPLACE ";" "," gpus "${gpus}")
      add_test(NAME ${test}.other_gpus COMMAND ${assembles} --gpus ${gpus} COMMAND_EXPAND_LISTS)
      set_tests_properties(${test}.other_gpus PROPERTIES LABELS release TIMEOUT 600 COST 15)
    endif()
  endif()
endfunction()

# ladder_rung_tests(NAME ARCH PROBLEM...): the rung's command lines; its PTX as machine code of every GPU it is for; its kernels on
# the simulator, every variant, on several GPUs and in several orders of execution; and its kernels on a GPU. Without
# one, or with one of another architecture, ctest shows the last as skipped; the program's line with the reason is in
# ctest's log.
function(ladder_rung_tests name arch)
  if(NOT LADDER_TESTS)
    return()
  endif()
  add_test(NAME ${name}.sim.command_line COMMAND cli_test $<TARGET_FILE:${name}_sim> --gtest_filter=Simulated.*)
  set_tests_properties(${name}.sim.command_line PROPERTIES TIMEOUT 120)
  if(ladder_gpu_programs)
    add_test(NAME ${name}.command_line COMMAND cli_test $<TARGET_FILE:${name}> --gtest_filter=Rung.*)
    set_tests_properties(${name}.command_line PROPERTIES TIMEOUT 120)
  endif()

  set(gpus sm_${arch}) # architecture-specific code runs on one GPU alone
  if(arch EQUAL 80)
    set(gpus sm_80 sm_86 sm_89 sm_90 sm_100 sm_120)
  endif()
  ladder_assembles(${name}.assembles ${name}_objects ${arch} "${gpus}")
  if(TARGET ${name}_excursions)
    ladder_assembles(${name}.assembles.excursions ${name}_excursions ${arch} "${gpus}")
  endif()
  if(TARGET ${name}_newer)
    get_target_property(newer ${name}_newer LADDER_ARCH)
    string(REGEX REPLACE "^.*(sm_${newer})" "\\1" gpus "${gpus}") # from that one on
    ladder_assembles(${name}.assembles.newer ${name}_newer ${newer} "${gpus}")
  endif()

  foreach(problem ${ARGN})
    set(cost 20)
    if(problem STREQUAL gemm)
      set(cost 100)
    endif()
    ladder_simulate(${name} ${problem} ${cost} ${problem})
    if(ladder_gpu_programs)
      set(test ${name}.${problem}.needs_gpu)
      add_test(NAME ${test} COMMAND ${name} ${problem} --ablate --verify-only)
      set_tests_properties(${test} PROPERTIES
        SKIP_RETURN_CODE 77 LABELS needs_gpu RESOURCE_LOCK gpu TIMEOUT 900 COST 1000)
    endif()
  endforeach()
endfunction()

# ladder_listing(NAME): what a rung's program prints with --list is short enough.
function(ladder_listing name)
  if(LADDER_TESTS AND Python3_Interpreter_FOUND)
    add_test(NAME ${name}.sim.listing COMMAND ${ladder_python} -m common.tools.reading_cost --listing $<TARGET_FILE:${name}_sim>)
    set_tests_properties(${name}.sim.listing PROPERTIES LABELS simulator TIMEOUT 120)
  endif()
endfunction()

# ladder_simulate(NAME TEST COST arguments option...): one test by common/tools/simulate.py, which has these options, and
# one for a release, with --every.
function(ladder_simulate name test cost)
  if(LADDER_TESTS AND Python3_Interpreter_FOUND)
    set(simulate ${ladder_python} -m common.tools.simulate $<TARGET_FILE:${name}_sim> ${ARGN})
    add_test(NAME ${name}.sim.${test} COMMAND ${simulate})
    set_tests_properties(${name}.sim.${test} PROPERTIES LABELS simulator TIMEOUT 600 COST ${cost})
    add_test(NAME ${name}.sim.${test}.every_order COMMAND ${simulate} --every)
    set_tests_properties(${name}.sim.${test}.every_order PROPERTIES LABELS "simulator;release" TIMEOUT 1200 COST ${cost})
  endif()
endfunction()

# ladder_simulation(NAME TEST arguments [seeds [SMs]]): the rung on the simulator at one more shape. SMs: on GPUs that have
# so few, to give each CTA several tiles.
#   "gemm --m 1 --n 8 --k 8": every variant; before a release in six orders of execution or those of the seeds "0,1": large
#   ones.
#   "gemm --variant NAME --m 1 --n 8 --k 8", "gemm --soak 32": this alone, a test TEST_SEED for each of three orders or those
#   of the seeds, of which all but that of seed 1 wait for a release; a single seed's is called TEST and does not.
function(ladder_simulation name test arguments)
  string(REGEX MATCH "--(variant|soak) " alone "${arguments}")
  set(seeds 0,1,2,3,4,5)
  if(alone)
    set(seeds 0,1,2)
  endif()
  if(ARGC GREATER 3)
    set(seeds ${ARGV3})
  endif()
  if(alone)
    ladder_simulate_alone(${name} ${test} "${arguments}" ${seeds} "${ARGV4}")
    return()
  endif()
  set(few "")
  if(ARGC GREATER 4)
    set(few --sms ${ARGV4})
  endif()
  ladder_simulate(${name} ${test} 60 ${arguments} --seeds ${seeds} ${few})
endfunction()

function(ladder_simulate_alone name test arguments seeds sms)
  if(NOT LADDER_TESTS)
    return()
  endif()
  separate_arguments(arguments)
  string(REPLACE "," ";" seeds ${seeds})
  list(LENGTH seeds orders)
  foreach(seed ${seeds})
    set(each ${name}.sim.${test})
    set(labels simulator)
    if(orders GREATER 1)
      string(APPEND each _${seed})
      if(NOT seed EQUAL 1)
        list(APPEND labels release)
      endif()
    endif()
    add_test(NAME ${each} COMMAND ${name}_sim ${arguments})
    set_tests_properties(${each} PROPERTIES LABELS "${labels}" TIMEOUT 120
      ENVIRONMENT "SIMULATOR_SEED=${seed};SIMULATOR_SMS=${sms};SIMULATOR_CHECKS=fail")
  endforeach()
endfunction()

# ladder_large(NAME): on the simulator, a few CTAs of launches in which C, A, B or the norm's matrices have more than 2^32
# elements: an index of 32 bits overflows, be it signed or not.
function(ladder_large name)
  if(NOT LADDER_TESTS)
    return()
  endif()
  set(c "gemm --m 65600 --n 65600 --k 8")
  set(a "gemm --m 16777216 --n 8 --k 264")
  set(b "gemm --m 8 --n 16777216 --k 264")
  set(norm "fused_norm --rows 524800 --cols 8192")
  set(odd_norm "fused_norm --rows 524800 --cols 8191")
  foreach(matrix c a b norm odd_norm)
    separate_arguments(run UNIX_COMMAND "${${matrix}}")
    set(test ${name}.sim.large_${matrix})
    add_test(NAME ${test} COMMAND ${name}_sim ${run} --ctas 3 --ablate --verify-only)
    set_tests_properties(${test} PROPERTIES LABELS simulator TIMEOUT 120 COST 5
      ENVIRONMENT "SIMULATOR_SEED=1;SIMULATOR_CHECKS=fail")
  endforeach()
endfunction()

# ladder_test_code(TARGET): its code is compiled quickly, and the headers of GoogleTest once for all such targets.
function(ladder_test_code target)
  if(NOT TARGET ladder_rung_main)
    add_library(ladder_rung_main OBJECT ${ladder_harness_tests}/rung_main.cc)
    target_include_directories(ladder_rung_main PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(ladder_rung_main PRIVATE CUDA::toolkit GTest::gtest ladder_warnings)
    target_compile_options(ladder_rung_main PRIVATE ${ladder_test_level})
    ladder_precompiled(ladder_rung_main PRIVATE
      <algorithm> <cmath> <cstdint> <gtest/gtest.h> <string> <string_view> <vector> ${PROJECT_SOURCE_DIR}/common/extension.h)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${ladder_test_level}>)
  ladder_precompiled(${target} REUSE_FROM ladder_rung_main)
endfunction()

# ladder_unit_test(PREFIX NAME LIBRARY SOURCE...): every TEST in it a test of ctest's, PREFIX.Suite.Name. gtest_main stands
# first: it, not the harness's main.cc, is the program.
function(ladder_unit_test prefix name library)
  add_executable(${name} ${ARGN})
  ladder_test_code(${name})
  target_link_libraries(${name} PRIVATE GTest::gtest_main ${library} ladder_warnings)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${LADDER_UNITED})
  gtest_discover_tests(${name} TEST_PREFIX ${prefix}. DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 60)
endfunction()

# ladder_rung_test(NAME FILE): the rung's FILE.cc, such as tests/fp8_test, or one of several rungs by its whole path: a
# GoogleTest that launches its kernels. On the simulator every TEST in it is a test of ctest's; on a GPU the whole program,
# NAME_TEST, is one.
function(ladder_rung_test name file)
  if(NOT LADDER_TESTS)
    return()
  endif()
  cmake_path(GET file FILENAME test)
  get_target_property(arch ${name}_objects LADDER_ARCH)
  get_target_property(objects ${name}_objects LADDER_ALL_OBJECTS)
  set(compiled ${name}_${test}_objects)
  ladder_objects(${compiled} ${arch} "" ${file}.cc)
  ladder_test_code(${compiled})
  target_link_libraries(${compiled} PRIVATE GTest::gtest)
  set(programs ${name}_${test}_sim)
  if(ladder_gpu_programs)
    list(APPEND programs ${name}_${test})
  endif()
  foreach(program ${programs})
    # rung_main.cc stands first: it, not the harness's main.cc, is the program.
    add_executable(${program} $<TARGET_OBJECTS:ladder_rung_main> $<TARGET_OBJECTS:${compiled}> ${objects})
    target_link_libraries(${program} PRIVATE GTest::gtest)
  endforeach()
  ladder_simulated(${name}_${test}_sim)
  gtest_discover_tests(${name}_${test}_sim
    TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST PROPERTIES LABELS simulator TIMEOUT 120)
  if(ladder_gpu_programs)
    ladder_on_gpu(${name}_${test})
    add_test(NAME ${name}.${test}.needs_gpu COMMAND ${name}_${test})
    set_tests_properties(${name}.${test}.needs_gpu PROPERTIES
      SKIP_RETURN_CODE 77 LABELS needs_gpu RESOURCE_LOCK gpu TIMEOUT 120 COST 1000)
  endif()
endfunction()

# ladder_timeline(NAME K_TILES WARPS arguments): what --trace writes on the simulator, of tiles with K_TILES k-tiles by
# CTAs with these WARPS, "1 producer, 2 consumer", that note what they do.
function(ladder_timeline name k_tiles warps arguments)
  if(LADDER_TESTS AND Python3_Interpreter_FOUND)
    separate_arguments(arguments)
    add_test(NAME ${name}.sim.timeline COMMAND ${Python3_EXECUTABLE} -B ${ladder_harness_tests}/timeline.py
             $<TARGET_FILE:${name}_sim> ${CMAKE_CURRENT_BINARY_DIR}/timeline.json ${k_tiles} ${warps}
             ${arguments})
    set_tests_properties(${name}.sim.timeline PROPERTIES LABELS simulator TIMEOUT 120)
  endif()
endfunction()

# ladder_sass_object(NAME FILE): object, of the rung's FILE, and cubins, the fixture that assembles it.
function(ladder_sass_object name file)
  set(part objects)
  if(TARGET ${name}_excursions)
    get_target_property(excursions ${name}_excursions SOURCES)
    if(file IN_LIST excursions)
      set(part excursions)
    endif()
  endif()
  set(object $<FILTER:$<TARGET_OBJECTS:${name}_${part}>,INCLUDE,_${part}.dir/[./]*${file}.o$>)
  set(cubins ${name}_${part}_cubins)
  return(PROPAGATE object cubins)
endfunction()

# ladder_sass(NAME FILE INSTRUCTION...): one kernel of the rung's FILE, such as gemm.cu, must have all these SASS
# instructions, such as HMMA.16816. Tested where there is a cuobjdump.
function(ladder_sass name file first)
  if(LADDER_TESTS AND Python3_Interpreter_FOUND AND LADDER_CUOBJDUMP)
    set(test ${name}.sass.${file}.${first})
    ladder_sass_object(${name} ${file})
    add_test(NAME ${test}
      COMMAND ${Python3_EXECUTABLE} -B ${ladder_harness_tests}/sass.py --cuobjdump ${LADDER_CUOBJDUMP}
              ${object} ${first} ${ARGN}
      COMMAND_EXPAND_LISTS)
    set_tests_properties(${test} PROPERTIES TIMEOUT 120 FIXTURES_REQUIRED ${cubins})
  endif()
endfunction()

# ladder_sass_order(NAME FILE KERNELS INSTRUCTION BEFORE...): in every kernel of the rung's FILE whose mangled name KERNELS
# matches, all INSTRUCTIONs come before the first of those. Tested with the toolkit of the course's records: what another one
# makes of a kernel is not known.
function(ladder_sass_order name file kernels instruction)
  if(LADDER_TESTS AND Python3_Interpreter_FOUND AND LADDER_CUOBJDUMP AND ladder_records_toolkit)
    set(test ${name}.sass.${file}.${instruction}.order)
    ladder_sass_object(${name} ${file})
    add_test(NAME ${test}
      COMMAND ${Python3_EXECUTABLE} -B ${ladder_harness_tests}/sass.py --cuobjdump ${LADDER_CUOBJDUMP}
              ${object} ${instruction}
              --kernels ${kernels} --before ${ARGN}
      COMMAND_EXPAND_LISTS)
    set_tests_properties(${test} PROPERTIES TIMEOUT 120 FIXTURES_REQUIRED ${cubins})
  endif()
endfunction()

# ladder_faults(NAME): the rung's planted faults, faults/*.patch, which common/tools/faults.py reads: once for all rungs, into
# a file for each. Of the planted source there is PTX alone, of the variant that the fault runs, and the simulator runs it
# instead of the rung's own: host code is the rung's. The script bin/faults/NAME_FAULT does that.
function(ladder_faults name)
  if(NOT LADDER_TESTS OR NOT Python3_Interpreter_FOUND)
    return()
  endif()
  set(reader ${ladder_fault_tools}/faults.py)
  file(GLOB faults CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/faults/*)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${faults} ${reader})
  get_property(read GLOBAL PROPERTY LADDER_FAULTS_READ)
  if(NOT read)
    execute_process(
      COMMAND ${ladder_fault_python} common.tools.faults --root ${PROJECT_SOURCE_DIR} --cmake ${PROJECT_BINARY_DIR}/faults
      RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      message(FATAL_ERROR "${why}")
    endif()
    set_property(GLOBAL PROPERTY LADDER_FAULTS_READ TRUE)
  endif()
  if(faults)
    include(${PROJECT_BINARY_DIR}/faults/${name}.cmake)
  endif()
endfunction()

# Called by what faults.py writes. PATCHED and COMPILED: the patched file and what is compiled, from the repository's root.
function(ladder_fault name fault patched compiled run expect unchecked)
  set(patch ${CMAKE_CURRENT_SOURCE_DIR}/faults/${fault}.patch)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/faults/${fault}) # where a planted header is found before the sound one
  set(planted ${folder}/${patched} ${folder}/${compiled})
  list(REMOVE_DUPLICATES planted)
  set(plant ${ladder_fault_tools}/plant_fault.py)
  add_custom_command(OUTPUT ${planted}
    COMMAND ${ladder_fault_python} common.tools.plant_fault ${patch} --root ${PROJECT_SOURCE_DIR} --out ${folder}
    DEPENDS ${PROJECT_SOURCE_DIR}/${patched} ${PROJECT_SOURCE_DIR}/${compiled} ${patch} ${plant}
      ${ladder_fault_tools}/faults.py
    COMMENT "Planting ${fault} in ${name}" VERBATIM)

  set(target ${name}_${fault})
  get_target_property(arch ${name}_objects LADDER_ARCH)
  if(TARGET ${name}_newer)
    get_target_property(newer ${name}_newer SOURCES)
    list(TRANSFORM newer PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    if(${PROJECT_SOURCE_DIR}/${compiled} IN_LIST newer)
      get_target_property(arch ${name}_newer LADDER_ARCH)
    endif()
  endif()
  add_library(${target} OBJECT ${planted})
  set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES OFF)
  target_include_directories(${target} PRIVATE ${folder} ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE "SHELL:-gencode arch=compute_${arch},code=compute_${arch}" -lineinfo
    -diag-suppress=177) # what only another variant calls
  add_dependencies(${target} ${name}_sim)
  set_property(GLOBAL APPEND PROPERTY LADDER_FAULTS ${target})
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/faults/${target})
  file(GENERATE OUTPUT ${program}
    CONTENT "#!/bin/sh\nSIMULATOR_PTX='$<TARGET_OBJECTS:${target}>' exec '$<TARGET_FILE:${name}_sim>' \"$@\"\n"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  add_test(NAME ${name}.fault.${fault}
    COMMAND ${CMAKE_COMMAND} -D FAULTY=${program} -D RUN=${run} -D EXPECT=${expect} -D UNCHECKED=${unchecked}
            -P ${ladder_harness_tests}/fault.cmake)
  set_tests_properties(${name}.fault.${fault} PROPERTIES LABELS simulator TIMEOUT 120)

  # Once for all faults that are run like this.
  string(MAKE_C_IDENTIFIER "${run}" sound)
  set(sound ${name}.sound.${sound})
  get_property(known GLOBAL PROPERTY LADDER_SOUND)
  if(NOT sound IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY LADDER_SOUND ${sound})
    set(test ${CMAKE_COMMAND} -D SOUND=$<TARGET_FILE:${name}_sim> -D RUN=${run})
    add_test(NAME ${sound} COMMAND ${test} -D SEEDS=1 -P ${ladder_harness_tests}/fault.cmake)
    set_tests_properties(${sound} PROPERTIES LABELS simulator TIMEOUT 120)
    add_test(NAME ${sound}.every_order COMMAND ${test} -D SEEDS=0,2 -P ${ladder_harness_tests}/fault.cmake)
    set_tests_properties(${sound}.every_order PROPERTIES LABELS "simulator;release" TIMEOUT 240)
  endif()
endfunction()
