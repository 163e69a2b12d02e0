#include "capture/read/pattern_file.hpp"

#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scratch.hpp"

namespace slabmark {
namespace {

/// The bytes that this process has read by system calls, if the kernel counts them.
std::uint64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  return counts >> name >> bytes && name == "rchar:" ? bytes : 0;
}

TEST(PatternFile, ReadingAllRanksTakesTheFileOnce) {
  const Scratch scratch;
  const std::string path = scratch.file("a.pattern");
  constexpr std::uint64_t ranks = 400;
  std::mt19937 random(1);
  {
    PatternWriter writer(path);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::uint8_t> bytes(200);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
      writer.add_events(bytes);
      writer.add_lists(bytes);
      writer.end_rank({}, {});
    }
    nlohmann::json text = {{"files", nlohmann::json::array()},
                           {"definitions", nlohmann::json::array()}};
    text["ranks"] = std::vector<nlohmann::json>(ranks, nlohmann::json::object());
    writer.finish(text, "captured");
  }
  if (bytes_read() == 0) GTEST_SKIP() << "the kernel does not count what a process reads";
  const auto before = bytes_read();
  const PatternFile file(path);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(file.read(rank)->events.size(), 200);
  }
  EXPECT_LT(bytes_read() - before, 4 * std::filesystem::file_size(path));
}

}  // namespace
}  // namespace slabmark
