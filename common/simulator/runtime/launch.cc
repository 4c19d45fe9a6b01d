#include "common/simulator/runtime/launch.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/simulator/context/access_policy.h"
#include "common/simulator/context/functions.h"
#include "common/simulator/context/occupancy.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/stream.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

using Dimensions = std::array<uint32_t, 3>;

Dimensions array_of(const dim3& d) {
  return {d.x, d.y, d.z};
}
uint64_t product(const Dimensions& d) {
  return uint64_t{d[0]} * d[1] * d[2];
}
bool any_zero(const Dimensions& d) {
  return d[0] == 0 || d[1] == 0 || d[2] == 0;
}

std::string text_of(const Dimensions& d) {
  return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

// A launch that the device does not take, in words.
struct Refusal {
  cudaError_t error;
  std::string why;
};

// The cluster that a launch is to have: {1, 1, 1} without one.
std::optional<Refusal> choose_cluster(const Function& function, const KernelInfo& kernel,
                                      const LaunchRequest& request, Dimensions& cluster) {
  const auto refused = [](std::string why) { return Refusal{cudaErrorInvalidClusterSize, std::move(why)}; };
  const Dimensions none{};
  Dimensions required = kernel.required_cluster != none ? kernel.required_cluster : function.required_cluster;
  const Dimensions wanted = request.cluster.value_or(none);
  cluster = {1, 1, 1};
  if (wanted == none && required == none) return {};
  if (wanted != none && required != none && wanted != required)
    return refused("a cluster of " + text_of(wanted) + ", but the kernel is made for " + text_of(required));
  cluster = wanted != none ? wanted : required;
  if (any_zero(cluster)) return refused("a cluster of " + text_of(cluster));
  const int limit = function.nonportable_cluster ? device().max_cluster_nonportable : device().max_cluster;
  const uint64_t most = static_cast<uint64_t>(std::max(limit, 1));
  if (product(cluster) > most || (kernel.max_cluster != 0 && product(cluster) > kernel.max_cluster)) {
    return refused(
        "a cluster of " + text_of(cluster) + " blocks, and at most " +
        std::to_string(kernel.max_cluster != 0 ? std::min<uint64_t>(most, kernel.max_cluster) : most) +
        " are allowed" +
        (function.nonportable_cluster ? "" : " (more with cudaFuncAttributeNonPortableClusterSizeAllowed)"));
  }
  const Dimensions grid = array_of(request.grid);
  for (size_t i = 0; i < 3; ++i) {
    if (grid[i] % cluster[i] != 0)
      return refused("a grid of " + text_of(grid) + " is no multiple of the cluster, " + text_of(cluster));
  }
  return {};
}

// The codes are those of an H200 with CUDA 13.0, each one tried.
std::optional<Refusal> check_limits(const Function& function, const KernelInfo& kernel,
                                    const LaunchRequest& request, Dimensions& cluster) {
  const auto invalid = [](std::string why) { return Refusal{cudaErrorInvalidValue, std::move(why)}; };
  const Device& d = device();
  const Dimensions grid = array_of(request.grid), block = array_of(request.block);
  if (any_zero(grid) || grid[0] > 2147483647u || grid[1] > 65535 || grid[2] > 65535)
    return invalid("a grid of " + text_of(grid) + ": from 1 x 1 x 1 to 2147483647 x 65535 x 65535");
  if (any_zero(block) || block[0] > 1024 || block[1] > 1024 || block[2] > 64)
    return invalid("blocks of " + text_of(block) + ": from 1 x 1 x 1 to 1024 x 1024 x 64");
  const uint64_t threads = product(block);
  const uint64_t most =
      std::min<uint64_t>(static_cast<uint64_t>(d.max_threads_per_block), kernel.max_threads);
  if (threads > most) {
    return invalid("blocks of " + std::to_string(threads) + " threads, and the " +
                   (kernel.max_threads < static_cast<uint64_t>(d.max_threads_per_block)
                        ? "kernel's __launch_bounds__ allow "
                        : "device allows ") +
                   std::to_string(most));
  }
  if (kernel.required_threads != Dimensions{} && block != kernel.required_threads)
    return invalid("blocks of " + text_of(block) + ", but the kernel is made for " +
                   text_of(kernel.required_threads));
  if (const size_t bytes = max_dynamic_shared(function); request.dynamic_shared > bytes) {
    return invalid(
        std::to_string(request.dynamic_shared) + " bytes of dynamic shared memory, and " +
        std::to_string(bytes) +
        " are allowed (cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …) raises that)");
  }
  const uint32_t registers = registers_of_block(kernel, static_cast<uint32_t>(threads));
  if (registers > static_cast<uint32_t>(d.registers_per_sm)) {
    return Refusal{cudaErrorLaunchOutOfResources, "about " + std::to_string(registers) +
                                                      " registers for a block, and a multiprocessor has " +
                                                      std::to_string(d.registers_per_sm)};
  }
  if (auto refusal = choose_cluster(function, kernel, request, cluster)) return refusal;
  if (request.cooperative) {
    const auto resident =
        static_cast<uint64_t>(occupancy(function, static_cast<uint32_t>(threads), request.dynamic_shared));
    const uint64_t all = resident * static_cast<uint64_t>(d.multiprocessors);
    if (product(grid) > all) {
      return Refusal{cudaErrorCooperativeLaunchTooLarge,
                     "a cooperative grid of " + std::to_string(product(grid)) + " blocks, of which " +
                         std::to_string(all) + " are resident at once"};
    }
  }
  return {};
}

// Once: a program that looks at the error may try again and again.
void report(const KernelInfo& kernel, const Refusal& refusal) {
  static auto* reported = new std::set<std::string>;
  if (!reported->insert(kernel.name + refusal.why).second) return;
  int status = 0;
  char* shown = abi::__cxa_demangle(kernel.name.c_str(), nullptr, nullptr, &status);
  say("the launch of " + std::string(shown != nullptr ? shown : kernel.name.c_str()) + " is refused (" +
      cudaGetErrorName(refusal.error) + "): " + refusal.why);
  std::free(shown);
}

}  // namespace

cudaError_t error_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::illegal_address:
    case FindingKind::shared_out_of_bounds:
    case FindingKind::local_out_of_bounds:
    case FindingKind::param_out_of_bounds:
    case FindingKind::stack_overflow:
      return cudaErrorIllegalAddress;
    case FindingKind::misaligned:
      return cudaErrorMisalignedAddress;
    case FindingKind::illegal_instruction:
      return cudaErrorIllegalInstruction;
    case FindingKind::assertion:
      return cudaErrorAssert;
    case FindingKind::deadlock:
    case FindingKind::limit:
      return cudaErrorLaunchTimeout;
    case FindingKind::not_supported:
      return cudaErrorNotSupported;
    case FindingKind::trap:
    case FindingKind::uninitialised:
    case FindingKind::unfinished_copy:
    case FindingKind::unfinished_async:
    case FindingKind::missing_fence:
    case FindingKind::race:
    case FindingKind::absent_cta:
    case FindingKind::tensor_allocation:
    case FindingKind::divergent_barrier:
    case FindingKind::invalid_shuffle:
      break;
  }
  return cudaErrorLaunchFailure;
}

cudaError_t prepare(Function& function, LaunchRequest request, void** arguments, PreparedLaunch& prepared) {
  if (const cudaError_t error = load(function); error != cudaSuccess) return error;
  const KernelInfo& kernel = info(*function.kernel);
  if (kernel.blocks_are_clusters) {  // <<<clusters, 1>>>
    const auto &cluster = kernel.required_cluster, &threads = kernel.required_threads;
    request.grid = {request.grid.x * cluster[0], request.grid.y * cluster[1], request.grid.z * cluster[2]};
    if (product(array_of(request.block)) == 1) request.block = {threads[0], threads[1], threads[2]};
  }
  if (!kernel.unsupported.empty()) {
    // What the kernel should have computed is missing: a program that does not look at this error must not go
    // on as though all were well.
    set_pending_error(cudaErrorNotSupported);
    return cudaErrorNotSupported;
  }
  Dimensions cluster;
  if (const auto refusal = check_limits(function, kernel, request, cluster)) {
    report(kernel, *refusal);
    return refusal->error;
  }

  prepared.kernel = function.kernel;
  prepared.launch.grid = array_of(request.grid);
  prepared.launch.block = array_of(request.block);
  prepared.launch.cluster = cluster;
  prepared.launch.explicit_cluster =
      request.cluster || kernel.required_cluster[0] != 0 || function.required_cluster[0] != 0;
  prepared.launch.dynamic_shared = request.dynamic_shared;
  prepared.launch.cooperative = request.cooperative;
  prepared.params.assign(kernel.params_bytes, std::byte{});
  for (size_t i = 0; i < kernel.param_offset.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr) return cudaErrorInvalidValue;
    std::memcpy(prepared.params.data() + kernel.param_offset[i], arguments[i], kernel.param_bytes[i]);
  }
  return cudaSuccess;
}

BuffersInUse& buffers_in_use() {
  static BuffersInUse in_use;
  return in_use;
}

cudaError_t execute(const PreparedLaunch& prepared) {
  if (context_is_broken()) return cudaSuccess;
  buffers_in_use().printf |= info(*prepared.kernel).prints;
  buffers_in_use().heap |= info(*prepared.kernel).allocates;
  const std::optional<Finding> finding = run(*prepared.kernel, prepared.launch, prepared.params.data());
  if (!finding) return cudaSuccess;
  const cudaError_t error = error_of(finding->kind);
  set_pending_error(error);
  // A kernel that the simulator had to give up halfway has left memory in a state that the program cannot
  // use.
  return finding->kind == FindingKind::not_supported ? synchronise() : cudaSuccess;
}

cudaError_t read_attributes(const cudaLaunchConfig_t& config, LaunchRequest& request, LaunchEvents& events) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeClusterDimension:
        request.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        break;
      case cudaLaunchAttributeCooperative:
        request.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeProgrammaticEvent:
        events.recorded[0] = value.programmaticEvent.event;
        break;
      case cudaLaunchAttributeLaunchCompletionEvent:
        events.recorded[1] = value.launchCompletionEvent.event;
        break;
      case cudaLaunchAttributeAccessPolicyWindow:
        if (const cudaError_t error = check_window(value.accessPolicyWindow); error != cudaSuccess)
          return error;
        request.window = value.accessPolicyWindow;
        break;
      // About speed or overlap only: kernels run one after the other.
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredClusterDimension:  // "on a best-effort basis"
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
      case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return cudaErrorNotSupported;
      default:
        return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

}  // namespace simulator
