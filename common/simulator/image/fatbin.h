// The container that nvcc puts device code into, and the choice of the image to run.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/simulator/settings/device.h"

namespace simulator {

// The container or what it holds cannot be read: what() says what to do about it.
struct FatbinError : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Image {
  enum class Kind : uint8_t { ptx, cubin, other };
  Kind kind = Kind::other;
  uint32_t container = 0;     // counted: with -rdc=true each file of the program has one
  uint32_t architecture = 0;  // 90 for sm_90, sm_90a
  char suffix =
      '\0';  // 'a': runs on that very architecture only; 'f': on its family; '\0': and on later ones
  bool zstd = false, lz4 = false;
  const uint8_t* payload = nullptr;  // in the program's own memory
  uint64_t stored = 0;               // bytes of the payload
  uint64_t size = 0;                 // bytes once decompressed; 0: not compressed

  std::string target() const;  // "sm_90a"
};

// wrapper: what __cudaRegisterFatBinary() is given, or the container itself (cudaLibraryLoadData). Throws
// FatbinError.
std::vector<Image> read_fatbin(const void* wrapper);
bool is_fatbin(const void* data);

// Can the device run this PTX?
bool runs_on(const Image& image, const Device& device);
// The PTX image that suits best; null: none does.
const Image* choose(const std::vector<Image>& images, const Device& device);

// Decompressed. Throws FatbinError.
std::string text_of(const Image& image);

}  // namespace simulator
