# cmake -D RUNGS=00_naive,01_coalesced,… -D NORM_GEMM=06_swizzle_ldmatrix,… -D BIN=build/bin -D OUT=build/record -P record.cmake
#
# Everything the plots and the docs are made of, measured on this machine: the roofs, every variant of every rung at the
# course's sizes, a sweep over sizes, and the hardware's counters, in build/record/results.jsonl; the simulator's counters
# in build/record/simulator.jsonl (record_simulator.cmake). The files in docs/results were made by these two and nothing
# else.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" rungs "${RUNGS}")
string(REPLACE "," ";" norm_gemm_rungs "${NORM_GEMM}")
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
set(failed "")
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE exit_code)
  if(NOT exit_code EQUAL 0)
    list(JOIN ARGV " " command)
    message("exit code ${exit_code}: ${command}")
    set(failed "${failed};${command}" PARENT_SCOPE)
  endif()
endfunction()

# One file; where a measurement stands in it twice, the plots take the last: that of --ablate, each variant in turns with
# the rung.
set(json ${OUT}/results.jsonl)
step(${BIN}/roofs --json ${json})
foreach(rung ${rungs})
  step(${BIN}/${rung} --sweep --json ${json})
  step(${BIN}/${rung} --ablate --json ${json})
endforeach()
# From 08 on a rung chooses by shape: the shapes that a sweep of cubes leaves out, among them some with few tiles and a
# long k; what each trick buys at small sizes, and where the card is at its power limit; and whether all of it stands
# many launches. The norm at rows that one CTA cannot hold.
foreach(rung ${rungs})
  if(rung STRGREATER_EQUAL "08")
    foreach(shape 6144,6144,6144 16384,16384,16384 4096,14336,4096 8192,1024,8192 128,8192,8192
            128,128,16384 256,256,8192 512,512,4096 1024,1024,4096 1024,2048,8192 3072,3072,3072)
      string(REGEX MATCH "(.*),(.*),(.*)" all ${shape})
      foreach(variant "" "--variant;early_start") # the kernel alone, and in a chain
        step(${BIN}/${rung} gemm --m ${CMAKE_MATCH_1} --n ${CMAKE_MATCH_2} --k ${CMAKE_MATCH_3} ${variant} --json ${json})
      endforeach()
    endforeach()
    step(${BIN}/${rung} --sweep --variant early_start --json ${json})
    foreach(size 512 2048 8192)
      step(${BIN}/${rung} gemm --ablate --size ${size} --json ${json})
    endforeach()
    step(${BIN}/${rung} fused_norm --ablate --rows 2048 --cols 65536 --json ${json})
    step(${BIN}/${rung} fused_norm --rows 512 --cols 262144 --json ${json})
    step(${BIN}/${rung} --soak 10000 --json ${json})
  endif()
endforeach()
# The precision ladder: every type at the usual size, and what each loses as k grows. A type that the card lacks is passed
# over: its program says why, with exit code 2.
if("06_swizzle_ldmatrix" IN_LIST rungs)
  foreach(type bf16 f16 f16_f16 tf32 s8 fp8 fp8_e5m2 bf16_sparse)
    execute_process(COMMAND ${BIN}/06_swizzle_ldmatrix gemm --type ${type} --json ${json})
    foreach(k 256 1024 4096 16384 65536)
      execute_process(COMMAND ${BIN}/06_swizzle_ldmatrix gemm --type ${type} --m 1024 --n 1024 --k ${k} --repeats 5
                              --json ${json})
    endforeach()
  endforeach()
endif()
if("06_swizzle_ldmatrix" IN_LIST rungs) # below the power limit
  step(${BIN}/06_swizzle_ldmatrix gemm --type bf16 --size 2048 --json ${json})
  step(${BIN}/06_swizzle_ldmatrix gemm --type bf16_sparse --size 2048 --json ${json})
endif()
if("03_vectorized" IN_LIST rungs)
  step(${BIN}/03_vectorized gemm --type fp32 --json ${json})
  step(${BIN}/03_vectorized gemm --type s8 --json ${json})
endif()
if("08_warp_specialized" IN_LIST rungs)
  foreach(type fp8 fp8_tensor fp8_e4m3_e5m2 fp8_e5m2_e5m2)
    step(${BIN}/08_warp_specialized gemm --type ${type} --json ${json})
  endforeach()
  foreach(outlier 28672 229376 1835008) # 448 times 2^6, 2^9, 2^12: what that costs everything that shares its scale
    foreach(variant fp8 fp8_tensor fp8_block)
      step(${BIN}/08_warp_specialized gemm --variant ${variant} --outlier ${outlier} --repeats 5 --json ${json})
    endforeach()
  endforeach()
endif()
# The third problem where a rung has it; and many launches in a row, with the gaps between them and without.
foreach(rung ${norm_gemm_rungs})
  step(${BIN}/${rung} norm_gemm --ablate --sweep --json ${json})
  foreach(rows 128 512 2048)
    foreach(how stream graph)
      step(${BIN}/${rung} norm_gemm --ablate --rows ${rows} --launches ${how} --json ${json})
    endforeach()
  endforeach()
  step(${BIN}/${rung} norm_gemm --soak 2000 --json ${json})
endforeach()
step(${CMAKE_COMMAND} -D RUNGS=${RUNGS} -D NORM_GEMM=${NORM_GEMM} -D BIN=${BIN} -D OUT=${OUT} -P ${CMAKE_CURRENT_LIST_DIR}/record_simulator.cmake)
step(python3 ${CMAKE_CURRENT_LIST_DIR}/profile.py --bin ${BIN} --json ${json} ${rungs})
if(failed)
  message(FATAL_ERROR "the record is incomplete")
endif()
