# Which CUDA Toolkit builds the course, decided before CUDA is enabled as a language.
#
# LADDER_TOOLKIT  auto      nvcc of the PATH or of a usual folder; a private toolkit where there is none (the default)
#                 system    that nvcc, or an error
#                 download  a private toolkit, although there is another
#                 PATH      the toolkit in this folder
#                 newest    as download, but the newest release on the package index: for .ci/run release
#
# A private toolkit lies in <build>/toolkit: NVIDIA's own wheels from the Python package index (wheels.py), the pinned
# release that the course's records are made with.

set(LADDER_TOOLKIT "auto" CACHE STRING "The CUDA Toolkit: auto, system, download or a folder (common/toolkit/toolkit.cmake)")

set(ladder_toolkit_folder ${CMAKE_CURRENT_LIST_DIR})
if(NOT DEFINED ladder_usual_toolkits)
  set(ladder_usual_toolkits /usr/local/cuda /opt/cuda)
endif()
set(ladder_nvcc_missing "nvcc is missing: install the CUDA Toolkit 13.0 or newer and put it on the PATH, "
                        "for example: export PATH=/usr/local/cuda/bin:$PATH")
find_package(Python3 3.10 COMPONENTS Interpreter QUIET)

execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                OUTPUT_VARIABLE ladder_smi ERROR_QUIET RESULT_VARIABLE ladder_smi_failed)
set(ladder_gpu_here "") # its compute capability, such as 90
if(NOT ladder_smi_failed AND ladder_smi MATCHES "^([0-9]+)\\.([0-9]+)")
  set(ladder_gpu_here ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
endif()

# ladder_wheels(RESULT FOLDER REQUIREMENTS...): the toolkit that wheels.py makes in FOLDER; empty, and a line why, where
# it cannot.
function(ladder_wheels result folder)
  set(${result} "" PARENT_SCOPE)
  if(NOT Python3_Interpreter_FOUND)
    message(STATUS "... and no Python 3.10 or newer to get one with (apt-get install python3 python3-venv)")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../..
                          ${Python3_EXECUTABLE} -B -m common.toolkit.wheels ${folder} ${ARGN}
                  RESULT_VARIABLE failed)
  if(NOT failed)
    file(READ ${folder}/root.txt root)
    set(${result} ${root} PARENT_SCOPE)
  endif()
endfunction()

# Sets CMAKE_CUDA_COMPILER, and CUDAToolkit_ROOT for a private toolkit.
macro(ladder_choose_toolkit)
  if(DEFINED LADDER_TOOLKIT_CHOSEN AND NOT LADDER_TOOLKIT_CHOSEN STREQUAL LADDER_TOOLKIT)
    message(FATAL_ERROR "This build folder was made with LADDER_TOOLKIT=${LADDER_TOOLKIT_CHOSEN}: "
                        "for another toolkit take another folder, or remove ${CMAKE_BINARY_DIR}")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT (DEFINED ENV{CUDACXX} AND LADDER_TOOLKIT MATCHES "^(auto|system)$"))
    set(ladder_root "")
    if(LADDER_TOOLKIT MATCHES "^(auto|system)$")
      find_program(ladder_nvcc nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS ${ladder_usual_toolkits} PATH_SUFFIXES bin NO_CACHE)
      if(ladder_nvcc)
        set(CMAKE_CUDA_COMPILER ${ladder_nvcc})
      elseif(LADDER_TOOLKIT STREQUAL "system")
        message(FATAL_ERROR ${ladder_nvcc_missing})
      endif()
    elseif(NOT LADDER_TOOLKIT MATCHES "^(download|newest)$")
      find_program(ladder_nvcc nvcc PATHS ${LADDER_TOOLKIT}/bin NO_DEFAULT_PATH NO_CACHE)
      if(NOT ladder_nvcc)
        message(FATAL_ERROR "LADDER_TOOLKIT is '${LADDER_TOOLKIT}': give auto, system, download or the folder of a "
                            "CUDA Toolkit, which has bin/nvcc")
      endif()
      set(ladder_root ${LADDER_TOOLKIT})
    endif()
    if(NOT CMAKE_CUDA_COMPILER AND NOT ladder_root)
      if(LADDER_TOOLKIT STREQUAL "auto")
        message(STATUS "No nvcc here: the build gets a CUDA Toolkit of its own (-DLADDER_TOOLKIT=PATH takes another)")
      endif()
      set(ladder_release 13.0)
      if(LADDER_TOOLKIT STREQUAL "newest")
        set(ladder_release newest)
      endif()
      set(ladder_requirements ${ladder_toolkit_folder}/${ladder_release}.txt)
      if(ladder_gpu_here) # what a rung is timed beside; without a GPU it would be 400 MB for nothing
        list(APPEND ladder_requirements ${ladder_toolkit_folder}/cublas-${ladder_release}.txt)
      endif()
      ladder_wheels(ladder_root ${CMAKE_BINARY_DIR}/toolkit ${ladder_requirements})
      if(NOT ladder_root)
        message(FATAL_ERROR ${ladder_nvcc_missing})
      endif()
      set(LADDER_PRIVATE_TOOLKIT ${ladder_root} CACHE INTERNAL "")
    endif()
    if(ladder_root)
      set(CMAKE_CUDA_COMPILER ${ladder_root}/bin/nvcc)
      set(CUDAToolkit_ROOT ${ladder_root} CACHE PATH "The toolkit that LADDER_TOOLKIT chose")
    endif()
  endif()
  set(LADDER_TOOLKIT_CHOSEN ${LADDER_TOOLKIT} CACHE INTERNAL "")
endmacro()
