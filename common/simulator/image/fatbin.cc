#include "common/simulator/image/fatbin.h"

#include <dlfcn.h>

#include <cstring>

#include "common/simulator/image/lz4.h"

namespace simulator {
namespace {

constexpr uint32_t wrapper_magic = 0x466243b1, container_magic = 0xBA55ED50;

struct Wrapper {
  uint32_t magic, version;
  const uint8_t* data;
  const void* more;  // version 2: null-terminated array of further containers
};
struct Container {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of the entries
};
struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t payload_bytes;  // with padding
  uint32_t compressed_bytes, options_offset;
  uint16_t isa_minor, isa_major;
  uint32_t architecture;
  uint32_t name_offset, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t size;  // uncompressed
};
static_assert(sizeof(Container) == 16 && sizeof(Entry) == 64);

enum : uint64_t { flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_a = 0x100000, flag_f = 0x200000 };
enum : uint16_t { kind_ptx = 1, kind_cubin = 2 };

template <class T>
T read(const void* from) {  // nothing guarantees alignment in data that a program loads itself
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void read_container(const uint8_t* data, std::vector<Image>& images) {
  const Container container = read<Container>(data);
  if (container.magic != container_magic)
    throw FatbinError("device code in a container of an unknown format");
  const uint32_t number = images.empty() ? 0 : images.back().container + 1;
  const uint8_t* at = data + container.header_bytes;
  const uint8_t* const end = at + container.bytes;
  while (at + sizeof(Entry) <= end) {
    const Entry entry = read<Entry>(at);
    if (entry.header_bytes < sizeof(Entry) || entry.header_bytes > static_cast<uint64_t>(end - at) ||
        entry.payload_bytes > static_cast<uint64_t>(end - at) - entry.header_bytes) {
      throw FatbinError("device code in a damaged container");
    }
    Image image;
    image.kind = entry.kind == kind_ptx     ? Image::Kind::ptx
                 : entry.kind == kind_cubin ? Image::Kind::cubin
                                            : Image::Kind::other;
    image.container = number;
    image.architecture = entry.architecture;
    image.suffix = entry.flags & flag_a ? 'a' : entry.flags & flag_f ? 'f' : '\0';
    image.zstd = entry.flags & flag_zstd;
    image.lz4 = entry.flags & flag_lz4;
    image.payload = at + entry.header_bytes;
    const bool compressed = image.zstd || image.lz4;
    image.stored = compressed ? entry.compressed_bytes : entry.payload_bytes;
    image.size = compressed ? entry.size : 0;
    if (image.stored > entry.payload_bytes) throw FatbinError("device code in a damaged container");
    images.push_back(image);
    at += entry.header_bytes + entry.payload_bytes;
  }
}

std::string zstd(const Image& image) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const Decompress decompress = [] {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr ? reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress")) : nullptr;
  }();
  if (decompress == nullptr) {
    throw FatbinError(
        "the device code is compressed with zstd and libzstd.so.1 is missing: install libzstd1, or build "
        "with nvcc "
        "--compress-mode=none");
  }
  std::string text(image.size, '\0');
  if (decompress(text.data(), text.size(), image.payload, image.stored) != image.size) {
    throw FatbinError("the compressed device code (zstd) is damaged");
  }
  return text;
}

}  // namespace

std::string Image::target() const {
  std::string name = "sm_" + std::to_string(architecture);
  if (suffix != '\0') name += suffix;
  return name;
}

bool is_fatbin(const void* data) {
  const uint32_t magic = read<uint32_t>(data);
  return magic == wrapper_magic || magic == container_magic;
}

std::vector<Image> read_fatbin(const void* wrapper) {
  std::vector<Image> images;
  if (read<uint32_t>(wrapper) == container_magic) {
    read_container(static_cast<const uint8_t*>(wrapper), images);
    return images;
  }
  const Wrapper outer = read<Wrapper>(wrapper);
  if (outer.magic != wrapper_magic) throw FatbinError("device code in a wrapper of an unknown format");
  read_container(outer.data, images);
  if (outer.version >= 2 && outer.more != nullptr) {
    for (auto more = static_cast<const uint8_t* const*>(outer.more); *more != nullptr; ++more) {
      read_container(*more, images);
    }
  }
  return images;
}

// CUDA C++ Programming Guide, "Feature Set Compiler Targets": 'a' runs on that very architecture only, 'f' on
// the same major version from its minor version on, the rest on every later one too.
bool runs_on(const Image& image, const Device& device) {
  const uint32_t own = static_cast<uint32_t>(device.major * 10 + device.minor);
  if (image.suffix == 'a') return device.architecture_specific && image.architecture == own;
  if (image.suffix == 'f') return image.architecture / 10 == own / 10 && image.architecture <= own;
  return image.architecture <= own;
}

const Image* choose(const std::vector<Image>& images, const Device& device) {
  const auto rank = [](const Image& image) {
    return image.architecture * 4 + (image.suffix == 'a' ? 2 : image.suffix == 'f' ? 1 : 0);
  };
  const Image* best = nullptr;
  for (const Image& image : images) {
    if (image.kind != Image::Kind::ptx || !runs_on(image, device)) continue;
    if (best == nullptr || rank(image) > rank(*best)) best = &image;
  }
  return best;
}

std::string text_of(const Image& image) {
  std::string text;
  if (image.zstd) {
    text = zstd(image);
  } else if (image.lz4) {
    text = unpack_lz4(image.payload, image.stored, image.size);
    if (text.size() != image.size) throw FatbinError("the compressed device code (LZ4) is damaged");
  } else {
    text.assign(reinterpret_cast<const char*>(image.payload), image.stored);
  }
  text.resize(std::strlen(text.c_str()));  // up to the padding
  return text;
}

}  // namespace simulator
