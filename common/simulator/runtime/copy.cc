#include "common/simulator/runtime/copy.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "common/simulator/context/state.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/runtime/stream.h"

namespace simulator {
namespace {

// Where the bytes of an address are.
struct Place {
  std::byte* bytes = nullptr;
  uint8_t* written = nullptr;  // see Allocation
  bool pageable = false;       // the host's own memory
};

void report(uint64_t address, size_t bytes, const char* what, const Allocation* a) {
  char line[256];
  std::snprintf(line, sizeof line, "copy or fill of %zu bytes at 0x%" PRIx64 ": %s", bytes, address, what);
  std::string text = line;
  if (a != nullptr) {
    std::snprintf(line, sizeof line, " (allocation #%u: %" PRIu64 " bytes at 0x%" PRIx64 ")", a->number,
                  a->size, a->base);
    text += line;
  }
  say(text);
}

cudaError_t locate(const std::byte* pointer, size_t bytes, Place& place) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (address == 0) return cudaErrorInvalidValue;
  const Allocation* a = global_memory().find(address);
  const bool device_address = global_memory().reserved(address);
  if (a == nullptr || (a->freed && !device_address)) {
    if (device_address) {
      report(address, bytes, "no allocation is there", global_memory().nearest(address));
      return cudaErrorInvalidValue;
    }
    place = {const_cast<std::byte*>(pointer), nullptr, true};
    return cudaSuccess;
  }
  if (a->freed) {
    report(address, bytes, "the memory has been freed", a);
    return cudaErrorInvalidValue;
  }
  if (!a->holds(address, bytes)) {
    report(address, bytes, "it goes past the end", a);
    return cudaErrorInvalidValue;
  }
  const uint64_t offset = address - a->base;
  place = {a->backing + offset, a->written != nullptr ? a->written + offset : nullptr, false};
  return cudaSuccess;
}

// Bytes from the first to the last; false: more than an address can count.
bool span(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t& bytes) {
  size_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(height - 1, pitch, &rows) &&
         !__builtin_mul_overflow(depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, &bytes) && !__builtin_add_overflow(bytes, width, &bytes);
}

bool empty(const CopyBox& box) {
  return box.width == 0 || box.height == 0 || box.depth == 0;
}
bool empty(const FillBox& box) {
  return box.width == 0 || box.height == 0 || box.depth == 0;
}

cudaError_t locate(const CopyBox& box, Place& to, Place& from) {
  if (box.kind < cudaMemcpyHostToHost || box.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if ((box.height > 1 || box.depth > 1) && (box.width > box.to_pitch || box.width > box.from_pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  size_t to_bytes = 0, from_bytes = 0;
  if (!span(box.width, box.height, box.depth, box.to_pitch, box.to_slice, to_bytes) ||
      !span(box.width, box.height, box.depth, box.from_pitch, box.from_slice, from_bytes)) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = locate(box.to, to_bytes, to); error != cudaSuccess) return error;
  if (const cudaError_t error = locate(box.from, from_bytes, from); error != cudaSuccess) return error;
  // As with unified addressing: "host" may be any memory, "device" must be what the device can reach.
  const bool to_device = box.kind == cudaMemcpyHostToDevice || box.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = box.kind == cudaMemcpyDeviceToHost || box.kind == cudaMemcpyDeviceToDevice;
  if ((to_device && to.pageable) || (from_device && from.pageable)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t locate(const FillBox& box, Place& to) {
  if ((box.height > 1 || box.depth > 1) && box.width > box.pitch) return cudaErrorInvalidValue;
  if (box.element != 1 && box.element != 2 && box.element != 4) return cudaErrorInvalidValue;
  if (reinterpret_cast<uint64_t>(box.to) % box.element != 0) return cudaErrorInvalidValue;
  size_t bytes = 0;
  if (!span(box.width, box.height, box.depth, box.pitch, box.slice, bytes)) return cudaErrorInvalidValue;
  if (const cudaError_t error = locate(box.to, bytes, to); error != cudaSuccess) return error;
  return to.pageable ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

cudaError_t check(const CopyBox& box) {
  Place to, from;
  return empty(box) ? cudaSuccess : locate(box, to, from);
}

cudaError_t check(const FillBox& box) {
  Place to;
  return empty(box) ? cudaSuccess : locate(box, to);
}

cudaError_t run(const CopyBox& box) {
  Place to, from;
  if (empty(box)) return cudaSuccess;
  if (const cudaError_t error = locate(box, to, from); error != cudaSuccess) return error;
  for (size_t slice = 0; slice < box.depth; ++slice) {
    for (size_t row = 0; row < box.height; ++row) {
      const size_t target = slice * box.to_slice + row * box.to_pitch;
      const size_t source = slice * box.from_slice + row * box.from_pitch;
      std::memmove(to.bytes + target, from.bytes + source, box.width);
      if (to.written == nullptr) continue;
      if (from.written != nullptr) {
        std::memmove(to.written + target, from.written + source, box.width);
      } else {
        std::memset(to.written + target, 1, box.width);
      }
    }
  }
  return cudaSuccess;
}

cudaError_t run(const FillBox& box) {
  Place to;
  if (empty(box)) return cudaSuccess;
  if (const cudaError_t error = locate(box, to); error != cudaSuccess) return error;
  for (size_t slice = 0; slice < box.depth; ++slice) {
    for (size_t row = 0; row < box.height; ++row) {
      const size_t target = slice * box.slice + row * box.pitch;
      if (box.element == 1) {
        std::memset(to.bytes + target, static_cast<int>(box.value & 0xff), box.width);
      } else {
        for (size_t i = 0; i + box.element <= box.width; i += box.element) {
          std::memcpy(to.bytes + target + i, &box.value, box.element);
        }
      }
      if (to.written != nullptr) std::memset(to.written + target, 1, box.width);
    }
  }
  return cudaSuccess;
}

cudaError_t submit_copy(const CopyBox& box, cudaStream_t stream) {
  if (const cudaError_t error = check(box); error != cudaSuccess) return error;
  return submit(stream, cudaGraphNodeTypeMemcpy, [box] { return run(box); });
}

cudaError_t submit_fill(const FillBox& box, cudaStream_t stream) {
  if (const cudaError_t error = check(box); error != cudaSuccess) return error;
  return submit(stream, cudaGraphNodeTypeMemset, [box] { return run(box); });
}

cudaError_t copy_now(const CopyBox& box) {
  if (const cudaError_t error = check_legacy(); error != cudaSuccess) return error;
  return run(box);
}

cudaError_t fill_now(const FillBox& box) {
  if (const cudaError_t error = check_legacy(); error != cudaSuccess) return error;
  return run(box);
}

}  // namespace simulator
