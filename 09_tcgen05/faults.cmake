# Mistakes that this rung invites, one at a time: each must be found.
set(two_tiles "gemm --m 256 --n 512 --k 512")
ladder_fault(09_tcgen05 gemm.cu commit_dropped HEADER 09_tcgen05/kernel.cuh
  REPLACE "  ptx::tcgen05_commit<C::ctas>(ptx::shared_address(&shared.empty[slot.index]), Pair<C>::both);\n"
  BY ""
  RUN ${two_tiles}
  EXPECT "deadlock in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu sums_not_awaited HEADER 09_tcgen05/kernel.cuh
  REPLACE "    ptx::mbarrier_wait(ptx::shared_address(&shared.sums_full[sums.index]), sums.parity);\n"
  BY ""
  RUN ${two_tiles}
  EXPECT "uninitialised read in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu load_not_awaited HEADER 09_tcgen05/kernel.cuh
  REPLACE "      ptx::tcgen05_wait_load(values);\n"
  BY ""
  RUN ${two_tiles}
  EXPECT "unfinished asynchronous operation in .*gemm_kernel.*tcgen05.wait::ld")
ladder_fault(09_tcgen05 gemm.cu loaded_unfenced HEADER 09_tcgen05/kernel.cuh
  REPLACE "sums.parity);\n    ptx::tcgen05_fence_after();\n"
  BY "sums.parity);\n"
  RUN ${two_tiles}
  EXPECT "missing fence in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu one_atom_off HEADER 09_tcgen05/kernel.cuh
  REPLACE "C::major_b == Major::mn ? C::box_b : 0"
  BY "C::major_b == Major::mn ? C::box_b - 1024 : 0"
  RUN ${two_tiles}
  EXPECT "elements wrong")
ladder_fault(09_tcgen05 gemm.cu not_transposed HEADER 09_tcgen05/design.cuh
  REPLACE "ptx::MmaDescriptor<ctas, kind, tile_m, tile_n, Major::k, major_b>"
  BY "ptx::MmaDescriptor<ctas, kind, tile_m, tile_n, Major::k, Major::k>"
  RUN ${two_tiles}
  EXPECT "unfinished asynchronous operation in .*gemm_kernel"
  UNCHECKED "elements wrong")
ladder_fault(09_tcgen05 gemm.cu phase_reused HEADER 09_tcgen05/kernel.cuh
  REPLACE "ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.index]), slot.parity);"
  BY "ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.index]), 0);"
  RUN ${two_tiles}
  EXPECT "unfinished asynchronous operation in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu sums_overwritten HEADER 09_tcgen05/design.cuh
  REPLACE "scaled ? boxes_c / 2 : boxes_c;"
  BY "scaled ? boxes_c / 4 : boxes_c;"
  RUN "gemm --variant mxfp8 --m 2048 --n 2560 --k 256"
  EXPECT "race in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu store_not_fenced HEADER 09_tcgen05/kernel.cuh
  REPLACE "      ptx::fence_proxy_async();\n"
  BY ""
  RUN ${two_tiles}
  EXPECT "missing fence in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu scales_overwritten HEADER 09_tcgen05/kernel.cuh
  REPLACE "if (multiplied == C::scale_sets)"
  BY "if (multiplied > C::scale_sets)"
  RUN "gemm --variant nvfp4 --m 256 --n 256 --k 2048"
  EXPECT "race in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu leaked HEADER common/ptx/tcgen05.cuh
  REPLACE "    if (threadIdx.x < 32)\n      asm volatile(\"tcgen05.dealloc"
  BY "    if (threadIdx.x < 32 && columns < 32)\n      asm volatile(\"tcgen05.dealloc"
  RUN ${two_tiles}
  EXPECT "tensor memory allocation in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu peer_not_launched HEADER common/ptx/tcgen05.cuh
  REPLACE "      cluster_sync_relaxed();  // the peer CTA has been launched; memory is ordered by meet() below\n"
  BY ""
  RUN ${two_tiles}
  EXPECT "absent CTA in .*gemm_kernel.*tcgen05.alloc")
ladder_fault(09_tcgen05 gemm.cu left_early HEADER common/ptx/tcgen05.cuh
  REPLACE "    meet();  // all accesses are over, those of the peer included\n"
  BY "    tcgen05_fence_after();\n"
  RUN ${two_tiles}
  EXPECT "race in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu response_overwritten HEADER 09_tcgen05/tiles.cuh
  REPLACE "    ptx::mbarrier_wait(ptx::shared_address(&responses.empty[slot.index]), slot.parity ^ 1);\n"
  BY ""
  RUN "gemm --m 2304 --n 4608 --k 64"
  EXPECT "(race|missing fence) in .*gemm_kernel")
ladder_fault(09_tcgen05 gemm.cu response_unfenced HEADER 09_tcgen05/tiles.cuh
  REPLACE "not before this read.\n      ptx::fence_proxy_async();\n"
  BY "not before this read.\n"
  RUN "gemm --m 2304 --n 4608 --k 64"
  EXPECT "missing fence in .*gemm_kernel")
ladder_fault(09_tcgen05 norm_gemm.cu scale_of_another_row HEADER 09_tcgen05/kernel.cuh
  REPLACE "row_scale(p, tile_row + lane)"
  BY "row_scale(p, tile_row + lane / 2)"
  RUN "norm_gemm --rows 65 --cols 264 --n 136"
  EXPECT "elements wrong"
  UNCHECKED "elements wrong")
