// What nvcc embeds: reading the container, choosing the image, decompressing it.
#include "common/simulator/image/fatbin.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/simulator/image/lz4.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

enum : uint64_t { lz4 = 0x2000, zstd = 0x8000, suffix_a = 0x100000, suffix_f = 0x200000 };

class Container {
 public:
  Container& add(uint16_t kind, uint32_t architecture, uint64_t flags, std::string payload,
                 uint64_t size = 0) {
    const uint32_t header = 80;  // longer than what is known of it: the field says so
    const uint32_t compressed = size != 0 ? static_cast<uint32_t>(payload.size()) : 0;
    payload.resize((payload.size() + 8) / 8 * 8);
    std::string entry(header, '\0');
    put(entry, 0, kind);
    put(entry, 4, header);
    put(entry, 8, static_cast<uint64_t>(payload.size()));
    put(entry, 16, compressed);
    put(entry, 28, architecture);
    put(entry, 40, flags);
    put(entry, 56, size);
    entries_ += entry + payload;
    return *this;
  }
  Container& ptx(uint32_t architecture, uint64_t flags, const std::string& text) {
    return add(1, architecture, flags, text);
  }

  // Valid as long as this object does not change.
  const void* wrapper() {
    bytes_.assign(16, '\0');
    put(bytes_, 0, uint32_t{0xBA55ED50});
    put(bytes_, 4, uint16_t{1});
    put(bytes_, 6, uint16_t{16});
    put(bytes_, 8, static_cast<uint64_t>(entries_.size()));
    bytes_ += entries_;
    wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
    return &wrapper_;
  }
  const char* data() {
    wrapper();
    return bytes_.data();
  }

 private:
  template <class T>
  static void put(std::string& bytes, size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  struct Wrapper {
    uint32_t magic, version;
    const char* data;
    const void* more;
  };
  std::string entries_, bytes_;
  Wrapper wrapper_{};
};

Device like(int major, bool specific) {
  Device device;
  device.major = major;
  device.minor = 0;
  device.architecture_specific = specific;
  return device;
}

std::string chosen(Container& container, const Device& device) {
  const std::vector<Image> images = read_fatbin(container.wrapper());
  const Image* image = choose(images, device);
  return image != nullptr ? text_of(*image) : "none";
}

TEST(Fatbin, TheBestImageThatRuns) {
  Container container;
  container.ptx(80, 0, "80")
      .ptx(100, suffix_a, "100a")
      .ptx(90, 0, "90")
      .ptx(90, suffix_a, "90a")
      .ptx(75, 0, "75");
  EXPECT_EQ(chosen(container, like(8, false)), "80");
  EXPECT_EQ(chosen(container, like(9, true)), "90a");
  EXPECT_EQ(chosen(container, like(10, true)), "100a");
}

TEST(Fatbin, ArchitectureSpecificCodeRunsNowhereElse) {
  Container container;
  container.ptx(90, suffix_a, "90a");
  EXPECT_EQ(chosen(container, like(10, true)), "none");
  EXPECT_EQ(chosen(container, like(8, false)), "none");
  container.ptx(90, 0, "90");
  EXPECT_EQ(chosen(container, like(10, true)), "90") << "plain code runs on what comes later";
  EXPECT_EQ(chosen(container, like(8, false)), "none") << "but on nothing earlier";
}

TEST(Fatbin, FamilySpecificCode) {
  Container container;
  container.ptx(100, suffix_f, "100f").ptx(90, 0, "90");
  EXPECT_EQ(chosen(container, like(10, true)), "100f");
  EXPECT_EQ(chosen(container, like(9, true)), "90");
  container.ptx(103, suffix_f, "103f");
  EXPECT_EQ(chosen(container, like(10, true)), "100f");
  container.ptx(100, suffix_a, "100a");
  EXPECT_EQ(chosen(container, like(10, true)), "100a");
}

TEST(Fatbin, MachineCodeIsNotRun) {
  Container container;
  container.add(2, 90, suffix_a, "\177ELF");
  EXPECT_EQ(chosen(container, like(9, true)), "none");
  const std::vector<Image> images = read_fatbin(container.wrapper());
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].kind, Image::Kind::cubin);
  EXPECT_EQ(images[0].target(), "sm_90a");
}

TEST(Fatbin, TheContainerItselfWillDo) {
  Container container;
  container.ptx(80, 0, "text");
  EXPECT_TRUE(is_fatbin(container.data()));
  EXPECT_EQ(text_of(read_fatbin(container.data()).at(0)), "text");
  EXPECT_FALSE(is_fatbin("// PTX"));
}

TEST(Fatbin, SeveralContainers) {
  Container first, second;
  first.ptx(80, 0, "80");
  second.ptx(90, 0, "90");
  const void* more[] = {second.data(), nullptr};
  struct {
    uint32_t magic = 0x466243b1, version = 2;
    const void* data;
    const void* more;
  } wrapper{.data = first.data(), .more = more};
  const std::vector<Image> images = read_fatbin(&wrapper);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].container, 0u);
  EXPECT_EQ(images[1].container, 1u);
}

TEST(Fatbin, DamageIsNoticed) {
  Container container;
  container.ptx(80, 0, "80");
  std::string bytes(container.data(), 16 + 80 + 8);
  bytes[16 + 8] = 127;  // a payload longer than the container
  EXPECT_THROW(read_fatbin(bytes.data()), FatbinError);
  bytes[0] = 0;
  EXPECT_THROW(read_fatbin(bytes.data()), FatbinError);
}

// One sequence: 2 literals "ab", 9 bytes copied from 2 back; then 1 literal.
const std::string packed{
    "\x25"
    "ab\x02\0\x10"
    "!",
    7};

TEST(Fatbin, Lz4) {
  Container container;
  container.add(1, 80, lz4, packed, 12);
  EXPECT_EQ(chosen(container, like(8, false)), "abababababa!");
}

TEST(Fatbin, Lz4LongLengths) {
  const std::string literals(300, 'x');
  const std::string block = std::string("\xf0\xff\x1e", 3) + literals;  // 15 + 255 + 30
  EXPECT_EQ(unpack_lz4(reinterpret_cast<const uint8_t*>(block.data()), block.size(), 300), literals);
}

TEST(Fatbin, Lz4Damage) {
  const auto unpack = [](const std::string& block, size_t size) {
    return unpack_lz4(reinterpret_cast<const uint8_t*>(block.data()), block.size(), size);
  };
  EXPECT_LT(unpack(packed, 11).size(), 12u) << "never more than there is room for";
  for (size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_LT(unpack(packed.substr(0, bytes), 12).size(), 12u);
  std::string far = packed;
  far[3] = 3;  // copies from before the beginning
  EXPECT_LT(unpack(far, 12).size(), 12u);
  Container container;
  container.add(1, 80, lz4, far, 12);
  EXPECT_THROW(chosen(container, like(8, false)), FatbinError);
}

TEST(Fatbin, Zstd) {
  // A frame of one raw block (RFC 8878, section 3.1.1).
  const std::string frame = std::string("\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00", 9) + "hello";
  Container container;
  container.add(1, 80, zstd, frame, 5);
  if (dlopen("libzstd.so.1", RTLD_NOW) != nullptr) {
    EXPECT_EQ(chosen(container, like(8, false)), "hello");
    return;
  }
  try {
    chosen(container, like(8, false));
    ADD_FAILURE() << "there is no libzstd.so.1";
  } catch (const FatbinError& error) {
    EXPECT_NE(std::strstr(error.what(), "--compress-mode=none"), nullptr);
  }
}

}  // namespace
}  // namespace simulator
