#include "bench/measure/memory.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

constexpr std::size_t block = std::size_t{32} << 20;

TEST(StatusFields, AreReadInBytes) {
  const std::string_view status =
      "Name:\tVmRSS\nVmPeak:\t  100 kB\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\n";
  EXPECT_EQ(status_bytes(status, "VmRSS"), 12u * 1024);
  EXPECT_EQ(status_bytes(status, "VmHWM"), 20u * 1024);
}

TEST(StatusFields, ThatAreMissingOrNoSizesAreNothing) {
  EXPECT_FALSE(status_bytes("", "VmRSS").has_value());
  EXPECT_FALSE(status_bytes("VmRSSX:\t1 kB\n", "VmRSS").has_value());
  EXPECT_FALSE(status_bytes("Threads:\t1\n", "Threads").has_value());
  EXPECT_FALSE(status_bytes("VmRSS: kB\n", "VmRSS").has_value());
  EXPECT_FALSE(status_bytes("VmRSS:\t1 MB kB\n", "VmRSS").has_value());
}

TEST(ResidentMemory, GrowsWithWhatIsTouched) {
  const auto before = resident_bytes();
  if (!before) GTEST_SKIP() << "/proc is not mounted, so the resident set is not known";
  const auto memory = std::make_unique_for_overwrite<char[]>(block);
  volatile char* const touched = memory.get();  // or a compiler leaves the stores out
  for (std::size_t byte = 0; byte < block; byte += 1024) touched[byte] = 1;
  EXPECT_GE(*resident_bytes(), *before + block / 2);
  EXPECT_GE(peak_resident_bytes(), *before + block / 2);
}

TEST(HighWaterMark, StartsAnewWhenReset) {
  // Mapped by hand, since an allocator, a sanitizer's above all, may keep what it is given back.
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* touched = mmap(nullptr, block, PROT_READ | PROT_WRITE, flags, -1, 0);
  ASSERT_NE(touched, MAP_FAILED);
  std::memset(touched, 1, block);
  munmap(touched, block);
  const auto before = high_water_bytes();
  if (!before || !reset_high_water()) GTEST_SKIP() << "this kernel does not let the mark be reset";
  EXPECT_LE(*high_water_bytes(), *before - block / 2);
}

}  // namespace
}  // namespace slabmark
