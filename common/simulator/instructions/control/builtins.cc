#include "common/simulator/instructions/control/builtins.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

// Argument `i` of lane `lane`, of a call that is not entered.
template <class T>
T argument(const Warp& warp, const Inst& inst, uint32_t i, int lane, uint32_t bytes) {
  T value;
  std::memcpy(&value, warp.registers + inst.list[1 + i] + static_cast<uint32_t>(lane) * param_stride(bytes),
              sizeof(T));
  return value;
}

template <class T>
void set_result(Warp& warp, const Inst& inst, int lane, uint32_t bytes, T value) {
  const uint32_t* results = inst.list + 1 + inst.list[0];
  if (results[0]) {
    std::memcpy(warp.registers + results[1] + static_cast<uint32_t>(lane) * param_stride(bytes), &value,
                sizeof(T));
  }
}

template <class F>
void each_lane(const Warp& warp, F f) {
  for (uint32_t left = warp.exec; left; left &= left - 1) f(std::countr_zero(left));
}

// The arguments of printf as the device library lays them out: each at its natural alignment, integers and
// doubles of 4 or 8 bytes, strings as pointers (CUDA C++ Programming Guide, "Formatted Output").
class Arguments {
 public:
  Arguments(Warp& warp, int lane, uint64_t address) : warp_(warp), lane_(lane), address_(address) {}

  uint64_t next(uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    read_memory(warp_, lane_, address_ + offset_, &value, bytes);
    offset_ += bytes;
    return value;
  }
  std::string next_string() { return read_string(warp_, lane_, next(8)); }

 private:
  Warp& warp_;
  int lane_;
  uint64_t address_, offset_ = 0;
};

template <class T>
std::string formatted(const std::string& spec, T value) {
  const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
  std::string text(static_cast<size_t>(std::max(length, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), spec.c_str(), value);
  text.pop_back();
  return text;
}

// spec: what stands between % and the letter, without the width of the value. Nothing: there is no such
// letter.
std::optional<std::string> convert(char letter, const std::string& spec, bool wide, Arguments& arguments) {
  switch (letter) {
    case 'd':
    case 'i':
      if (wide) return formatted(spec + "lld", static_cast<long long>(arguments.next(8)));
      return formatted(spec + "d", static_cast<int32_t>(arguments.next(4)));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (wide) return formatted(spec + "ll" + letter, static_cast<unsigned long long>(arguments.next(8)));
      return formatted(spec + letter, static_cast<uint32_t>(arguments.next(4)));
    case 'c':
      return std::string(1, static_cast<char>(arguments.next(4)));
    case 'p':
      return formatted("%p", std::bit_cast<void*>(arguments.next(8)));
    case 's':
      return formatted(spec + "s", arguments.next_string().c_str());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return formatted(spec + letter, std::bit_cast<double>(arguments.next(8)));
    default:
      return {};
  }
}

std::string format_text(const std::string& format, Arguments arguments) {
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      text += format[++i];
      continue;
    }
    std::string spec = "%";
    bool wide = false;
    size_t j = i + 1;
    for (; j < format.size(); ++j) {
      const char c = format[j];
      if (std::strchr("-+ #0123456789.", c)) {
        spec += c;
      } else if (c == '*') {
        spec += std::to_string(static_cast<int32_t>(arguments.next(4)));
      } else if (c == 'l' || c == 'z' || c == 'j' || c == 't') {
        wide = true;
      } else if (c != 'h') {
        break;
      }
    }
    if (j >= format.size()) return text + format.substr(i);
    text += convert(format[j], spec, wide, arguments).value_or(format.substr(i, j - i + 1));
    i = j;
  }
  return text;
}

void run_printf(Warp& warp, const Inst& inst) {
  each_lane(warp, [&](int lane) {
    const std::string format = read_string(warp, lane, argument<uint64_t>(warp, inst, 0, lane, 8));
    const std::string text =
        format_text(format, Arguments(warp, lane, argument<uint64_t>(warp, inst, 1, lane, 8)));
    {
      const std::lock_guard lock(warp.cta->grid->mutex);
      warp.cta->grid->output[warp.cta->cluster->index] += text;
    }
    int32_t arguments = 0;
    for (size_t i = 0; i + 1 < format.size(); ++i) {
      if (format[i] == '%' && format[i + 1] == '%') {
        ++i;
      } else if (format[i] == '%') {
        ++arguments;
      }
    }
    set_result(warp, inst, lane, 4, arguments);
  });
}

void run_assert_fail(Warp& warp, const Inst& inst) {
  const int lane = std::countr_zero(warp.exec);
  const auto text = [&](uint32_t i) {
    return read_string(warp, lane, argument<uint64_t>(warp, inst, i, lane, 8));
  };
  // In the words of the real runtime, which programs look for.
  const auto triple = [](uint32_t x, uint32_t y, uint32_t z) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
  };
  const Site site = site_of(warp, *warp.frame, warp.pc - 1, lane);
  fault(warp, FindingKind::assertion,
        text(1) + ":" + std::to_string(argument<uint32_t>(warp, inst, 2, lane, 4)) + ": " + text(3) +
            ": block: " + triple(site.cta[0], site.cta[1], site.cta[2]) + ", thread: " +
            triple(site.thread[0], site.thread[1], site.thread[2]) + " Assertion `" + text(0) + "` failed.",
        lane);
}

void run_malloc(Warp& warp, const Inst& inst) {
  each_lane(warp, [&](int lane) {
    const uint64_t bytes = argument<uint64_t>(warp, inst, 0, lane, 8);
    const Allocation* made = bytes ? global_memory().allocate(bytes, Allocation::Kind::heap) : nullptr;
    set_result<uint64_t>(warp, inst, lane, 8, made ? made->base : 0);
  });
}

void run_free(Warp& warp, const Inst& inst) {
  each_lane(warp, [&](int lane) {
    const uint64_t address = argument<uint64_t>(warp, inst, 0, lane, 8);
    if (address && !global_memory().free(address)) {
      fault(warp, FindingKind::illegal_address, "free of an address that malloc did not give", lane);
    }
    warp.worker->recent.fill(Allocation{});
  });
}

// The handle is the address of the value: see runtime/graph.h.
void run_set_conditional(Warp& warp, const Inst& inst) {
  each_lane(warp, [&](int lane) {
    const uint64_t address = argument<uint64_t>(warp, inst, 0, lane, 8);
    const uint32_t value = argument<uint32_t>(warp, inst, 1, lane, 4);
    const Allocation* memory = global_memory().find(address);
    if (memory == nullptr || memory->freed || !memory->holds(address, sizeof value))
      fault(warp, FindingKind::illegal_address, "cudaGraphSetConditional() of a handle that is none", lane);
    std::memcpy(memory->backing + (address - memory->base), &value, sizeof value);
  });
}

}  // namespace

std::string why_missing(std::string_view name) {
  for (const std::string_view device_runtime : {"__cudaCDP2", "cudaGetParameterBuffer", "cudaLaunchDevice"}) {
    if (name.starts_with(device_runtime)) {
      return "launches from the device (dynamic parallelism) are not supported, nor is the runtime in "
             "kernels that "
             "they need";
    }
  }
  return "function '" + std::string(name) + "' is in none of the program's source files";
}

bool decode_builtin(Decoder& d, std::string_view name) {
  Inst& inst = d.inst();
  if (name == "vprintf") {
    d.program().prints = true;
    inst.inner = run_printf;
  } else if (name == "__assertfail") {
    inst.inner = run_assert_fail;
  } else if (name == "malloc") {
    d.program().order_sensitive = d.program().allocates = true;
    inst.inner = run_malloc;
  } else if (name == "free") {
    inst.inner = run_free;
  } else if (name == "cudaGraphSetConditional") {
    inst.inner = run_set_conditional;
  } else {
    return false;
  }
  return true;
}

}  // namespace simulator
