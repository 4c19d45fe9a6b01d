// Launches: <<<>>>, cudaLaunchKernel(), cudaLaunchKernelEx(), cudaLaunchCooperativeKernel().
#include <memory>
#include <utility>
#include <vector>

#include "common/simulator/context/state.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/graph_work.h"
#include "common/simulator/runtime/launch.h"
#include "common/simulator/runtime/stream.h"

using namespace simulator;

namespace {

struct Configuration {  // between the <<< and the >>>
  dim3 grid, block;
  size_t dynamic_shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t launch(const void* func, const LaunchRequest& request, void** arguments, cudaStream_t handle,
                   const LaunchEvents& events = {}) {
  if (func == nullptr) return cudaErrorInvalidDeviceFunction;
  Function* function = find_function(func);
  if (function == nullptr) return cudaErrorInvalidResourceHandle;
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  auto prepared = std::make_shared<PreparedLaunch>();
  if (const cudaError_t error = prepare(*function, request, arguments, *prepared); error != cudaSuccess) {
    if (stream->capture != nullptr) invalidate(*stream->capture);
    return error;
  }
  Work work = [prepared] { return execute(*prepared); };
  if (stream->capture != nullptr) work.params = params_of(func, request, *prepared);
  cudaError_t error = submit(handle, cudaGraphNodeTypeKernel, std::move(work));
  if (error == cudaSuccess &&
      stream->capture != nullptr) {  // the node's attributes: the stream's, then its own
    auto& attributes = stream->frontier.back()->attributes;
    attributes = stream->attributes;
    if (request.window)
      attributes[cudaLaunchAttributeAccessPolicyWindow].accessPolicyWindow = *request.window;
  }
  for (cudaEvent_t event : events.recorded) {
    if (error == cudaSuccess && event != nullptr) error = record_event(event, handle);
  }
  return error;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the names that nvcc calls
SIMULATOR_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared,
                                                      CUstream_st* stream) {
  const cudaError_t error = query([&] {
    configurations.push_back({grid, block, dynamic_shared, stream});
    return cudaSuccess;
  });
  return error != cudaSuccess;  // not 0: the kernel is not called
}

SIMULATOR_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* dynamic_shared,
                                                        void* stream) {
  return query([&] {
    if (configurations.empty()) return cudaErrorMissingConfiguration;
    const Configuration configuration = configurations.back();
    configurations.pop_back();
    *grid = configuration.grid;
    *block = configuration.block;
    *dynamic_shared = configuration.dynamic_shared;
    *static_cast<cudaStream_t*>(stream) = configuration.stream;
    return cudaSuccess;
  });
}

SIMULATOR_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                                size_t dynamic_shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared, stream);
}
// NOLINTEND(bugprone-reserved-identifier)

extern "C" cudaError_t cudaLaunchKernel(const void* func, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_shared, cudaStream_t stream) {
  return call([&] {
    LaunchRequest request;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared = dynamic_shared;
    return launch(func, request, arguments, stream);
  });
}

extern "C" cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 grid, dim3 block, void** arguments,
                                                   size_t dynamic_shared, cudaStream_t stream) {
  return call([&] {
    LaunchRequest request;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared = dynamic_shared;
    request.cooperative = true;
    return launch(func, request, arguments, stream);
  });
}

extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func,
                                           void** arguments) {
  return call([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    LaunchRequest request;
    request.grid = config->gridDim;
    request.block = config->blockDim;
    request.dynamic_shared = config->dynamicSmemBytes;
    LaunchEvents events;
    if (const cudaError_t error = read_attributes(*config, request, events); error != cudaSuccess)
      return error;
    return launch(func, request, arguments, config->stream, events);
  });
}

SIMULATOR_ALIAS(__cudaLaunchKernel_ptsz, __cudaLaunchKernel);
SIMULATOR_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel);
SIMULATOR_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel);
SIMULATOR_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC);
