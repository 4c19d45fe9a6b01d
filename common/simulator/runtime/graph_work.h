// What the nodes of graphs do. Called with runtime_mutex() held.
#pragma once

#include <cstddef>

#include "common/simulator/runtime/graph.h"
#include "common/simulator/runtime/launch.h"

namespace simulator {

// What a node of these parameters does; checks them.
cudaError_t work_of(const cudaKernelNodeParams& params, Work& work);
cudaError_t work_of(const cudaMemcpy3DParms& params, Work& work);
cudaError_t work_of(const cudaMemsetParams& params, Work& work);
cudaError_t work_of(const cudaHostNodeParams& params, Work& work);
cudaError_t work_of_wait(cudaEvent_t event, Work& work);
cudaError_t work_of(const cudaGraphNodeParams& params, Work& work);
cudaError_t work_of_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work& work);
cudaError_t work_of_record(cudaEvent_t event, Work& work);

// A launch as a kernel node's parameters.
NodeParams params_of(const void* func, const LaunchRequest& request, const PreparedLaunch& prepared);

}  // namespace simulator
