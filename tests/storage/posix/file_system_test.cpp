#include "storage/posix/file_system.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark::posix {
namespace {

TEST(FileSystem, WhatCannotBeFoundOutLocksNothing) {
  EXPECT_FALSE(locks_file_to_write("/nowhere/at/all"));
  EXPECT_FALSE(locks_file_to_write("/proc"));
}

TEST(FileSystem, MemoryThatIsAFileSystemLocksFilesToWrite) {
  const char* shared_memory = "/dev/shm";
  if (!std::filesystem::is_directory(shared_memory)) GTEST_SKIP() << "there is no /dev/shm";
  EXPECT_TRUE(locks_file_to_write(shared_memory));
}

/// The bytes of a layout, as Lustre's header lustre_user.h declares them.
class Layout {
 public:
  template <class Number>
  Layout& put(std::size_t at, Number value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
    if (bytes_.size() < at + bytes.size()) bytes_.resize(at + bytes.size());
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    return *this;
  }
  Layout& component(std::size_t at, std::uint32_t magic, std::uint32_t unit, std::uint16_t count) {
    return put(at, magic).put(at + 24, unit).put(at + 28, count).put(at + 30, std::uint16_t{0});
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

constexpr std::uint32_t v1 = 0x0BD10BD0;
constexpr std::uint32_t v3 = 0x0BD30BD0;

TEST(StripesOfLustre, StandInBothFormsOfALayout) {
  for (const std::uint32_t magic : {v1, v3}) {
    EXPECT_EQ(read_lustre_layout(Layout().component(0, magic, 1 << 20, 4).bytes()),
              (Stripes{1 << 20, 4}));
  }
  EXPECT_EQ(read_lustre_layout(Layout().component(0, v1, 1 << 20, 0xFFFF).bytes()),
            (Stripes{1 << 20, 1}))
      << "over all servers, before it is known how many there are";
}

TEST(StripesOfLustre, AreThoseOfTheLastComponentWhereThereAreSeveral) {
  Layout layout;
  layout.put(0, std::uint32_t{0x0BD60BD0}).put(14, std::uint16_t{2});
  for (const std::size_t i : {0, 1}) {
    const std::size_t entry = 32 + 48 * i;
    layout.put(entry + 8, std::uint64_t{(1 - i) << 30});  // the first entry has the end of the file
    layout.put(entry + 24, static_cast<std::uint32_t>(128 + 32 * i));
  }
  layout.component(128, v3, 4 << 20, 8).component(160, v1, 1 << 20, 1);
  EXPECT_EQ(read_lustre_layout(layout.bytes()), (Stripes{4 << 20, 8}));
  for (std::size_t bytes = 0; bytes < layout.bytes().size(); ++bytes) {
    const auto found = read_lustre_layout({layout.bytes().data(), bytes});
    EXPECT_TRUE(!found || *found == (Stripes{4 << 20, 8})) << "cut off at " << bytes;
  }
}

TEST(StripesOfLustre, AreNothingWhereTheLayoutIsNotUnderstood) {
  EXPECT_FALSE(read_lustre_layout(Layout().component(0, 0x0BD90BD0, 1 << 20, 4).bytes()));
  EXPECT_FALSE(read_lustre_layout(Layout().component(0, v1, 0, 4).bytes()));
}

TEST(Stripes, AreNothingOnTheFileSystemsOfOneMachine) {
  EXPECT_FALSE(stripes_of("/proc"));
  EXPECT_FALSE(stripes_of("/nowhere/at/all"));
  EXPECT_EQ(unsafe_append_filesystem("/proc"), "");
}

}  // namespace
}  // namespace slabmark::posix
