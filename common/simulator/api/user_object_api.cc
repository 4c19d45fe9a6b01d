// Objects of the program's that graphs keep alive, with the program's own function to destroy them.
#include <algorithm>
#include <map>
#include <memory>

#include "common/simulator/context/state.h"
#include "common/simulator/runtime/graph.h"

namespace simulator {

struct UserObject {
  void* object = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned references = 0;
};

namespace {

std::map<cudaUserObject_t, std::unique_ptr<UserObject>>& objects() {
  static auto* all = new std::map<cudaUserObject_t, std::unique_ptr<UserObject>>;
  return *all;
}

bool drop(cudaUserObject_t handle, unsigned count) {
  const auto it = objects().find(handle);
  if (it == objects().end() || count == 0 || count > it->second->references) return false;
  it->second->references -= count;
  if (it->second->references != 0) return true;
  const std::unique_ptr<UserObject> last = std::move(it->second);
  objects().erase(it);
  last->destroy(last->object);
  return true;
}

}  // namespace

struct UserReference {
  cudaUserObject_t object = nullptr;
  unsigned count = 0;

  ~UserReference() {
    const std::lock_guard lock(runtime_mutex());
    drop(object, count);
  }
};

}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaUserObjectCreate(cudaUserObject_t* handle, void* object, cudaHostFn_t destroy,
                                            unsigned references, unsigned flags) {
  return call([&] {
    if (handle == nullptr || destroy == nullptr || references == 0 || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    auto made = std::make_unique<UserObject>(UserObject{object, destroy, references});
    *handle = reinterpret_cast<cudaUserObject_t>(made.get());
    objects()[*handle] = std::move(made);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return call([&] {
    const auto it = objects().find(handle);
    if (it == objects().end() || count == 0) return cudaErrorInvalidValue;
    it->second->references += count;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return call([&] { return drop(handle, count) ? cudaSuccess : cudaErrorInvalidValue; });
}

extern "C" cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count,
                                                 unsigned flags) {
  return call([&] {
    Graph* graph = find_graph(handle);
    const auto it = objects().find(object);
    if (graph == nullptr || it == objects().end() || count == 0 || flags > cudaGraphUserObjectMove)
      return cudaErrorInvalidValue;
    if (flags != cudaGraphUserObjectMove) it->second->references += count;
    auto reference = std::make_shared<UserReference>();
    reference->object = object;
    reference->count = count;
    graph->references.push_back(std::move(reference));
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object,
                                                  unsigned count) {
  return call([&] {
    Graph* graph = find_graph(handle);
    if (graph == nullptr || count == 0) return cudaErrorInvalidValue;
    const auto released = std::find_if(
        graph->references.begin(), graph->references.end(),
        [&](const auto& reference) { return reference->object == object && reference->count == count; });
    if (released == graph->references.end()) return cudaErrorInvalidValue;
    graph->references.erase(released);
    return cudaSuccess;
  });
}
