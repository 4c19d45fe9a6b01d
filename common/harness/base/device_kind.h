// What a program of the course runs on.
#pragma once

namespace ladder {

// It decides the sizes, and whether there are times or counts.
enum class DeviceKind {
  gpu,
  simulator,  // a GPU made of the CPU, a thousand times slower and more: common/simulator
};

}  // namespace ladder
