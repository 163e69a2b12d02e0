#include "bench/checkpoint/content.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "bench/checkpoint/fill_function.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

constexpr const char* library = SLABMARK_TEST_PLUGINS;

CheckpointSettings settings_of(const std::string& function, const std::string& arguments,
                               std::uint64_t argc) {
  CheckpointSettings settings;
  settings.grid = {{2, 2, 2}, {5, 3, 4}, {5, 3, 4}, 2};
  settings.use_function_lib = function.empty() ? "" : library;
  settings.use_function_name = function;
  settings.use_function_argv = arguments;
  settings.use_function_argc = argc;
  return settings;
}

std::vector<float> filled(const Content& content, const Extent& start, const Extent& count) {
  std::vector<float> values(count[0] * count[1] * count[2]);
  content.fill(0, 1, start, count, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

TEST(CheckpointContents, AreTheRankOfTheOwnerWithoutAFunction) {
  const auto content = make_checkpoint_content(settings_of("", "", 0));
  EXPECT_EQ(filled(*content, {4, 2, 3}, {2, 2, 2}), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}))
      << "the corner where all eight blocks meet";
  EXPECT_TRUE(content->same_at_all_times());
}

TEST(CheckpointContents, DoNotDependOnTheBoxThatTheyAreAskedForWith) {
  const auto content = make_checkpoint_content(settings_of("gaussian", "1 3 2 2", 4));
  const auto whole = filled(*content, {0, 0, 0}, {10, 6, 8});
  for (std::uint64_t x = 0; x < 10; ++x) {
    for (std::uint64_t y = 0; y < 6; ++y) {
      for (std::uint64_t z = 0; z < 8; ++z) {
        ASSERT_EQ(filled(*content, {x, y, z}, {1, 1, 1})[0], whole[(x * 6 + y) * 8 + z]);
      }
    }
  }
  EXPECT_EQ(whole[(5 * 6 + 3) * 8 + 4], 1.0f) << "the centre";
}

TEST(CheckpointContents, AreCheckedBitForBit) {
  const CheckpointSettings settings = settings_of("gaussian", "1 3 2 2", 4);
  Pattern pattern = make_checkpoint_pattern(settings.grid, 3, 8);
  pattern.content = make_checkpoint_content(settings);
  const Transfer transfer = pattern.transfers(1).front();
  std::vector<std::byte> buffer(buffer_bytes(transfer, pattern.datasets[0]));
  fill_buffer(pattern, transfer, buffer.data());
  EXPECT_EQ(check_buffer(pattern, transfer, buffer.data()), std::nullopt);
  buffer[7] ^= std::byte{1};
  const auto mismatch = check_buffer(pattern, transfer, buffer.data());
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->count, 1u);
  EXPECT_EQ(mismatch->time, 1u);
}

TEST(CheckpointContents, AreRefusedWithFewerArgumentsThanCounted) {
  EXPECT_THROW(make_checkpoint_content(settings_of("gaussian", " 1 2 3", 4)), InputError);
}

class FillFunctions : public testing::TestWithParam<const char*> {};

TEST_P(FillFunctions, GiveTheSameBitsByBlockAndByElement) {
  const CheckpointGrid grid = {{2, 1, 3}, {7, 5, 6}, {7, 5, 6}, 1};
  const std::vector<std::string> arguments = {"2.5", "3.25", "1e1", "0.7"};
  const FillFunction by_block({library, GetParam(), arguments}, grid);
  const FillFunction by_element({library, GetParam(), arguments, FillFunction::Entry::element},
                                grid);
  EXPECT_TRUE(by_block.fills_blocks());
  EXPECT_FALSE(by_element.fills_blocks());
  for (std::uint64_t block = 0; block < 6; ++block) {
    std::vector<float> a(6 * 4 * 3), b(6 * 4 * 3);
    by_block.fill(block, {1, 0, 2}, {6, 4, 3}, a.data());
    by_element.fill(block, {1, 0, 2}, {6, 4, 3}, b.data());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << "block " << block;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, FillFunctions, testing::Values("mpi_rank_fill", "gaussian"));

std::string refusal(const FillFunction::Request& request) {
  try {
    const FillFunction function(request, CheckpointGrid{});
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(FillFunction, IsRefusedWithTheNameOfWhatIsMissing) {
  EXPECT_NE(refusal({"libnone.so", "gaussian", {}}).find("libnone.so"), std::string::npos);
  EXPECT_NE(refusal({library, "gausian", {}}).find("gausian"), std::string::npos);
  EXPECT_NE(refusal({library, "gaussian", {"1"}}).find("4 arguments"), std::string::npos);
  EXPECT_NE(refusal({library, "gaussian", {"1", "0", "1", "1"}}).find("argument 1"),
            std::string::npos);
  EXPECT_NE(refusal({library, "sd", {"none.bin"}}).find("none.bin"), std::string::npos);
  EXPECT_NE(refusal({"", "sd", {}}).find("use_function_lib"), std::string::npos);
}

}  // namespace
}  // namespace slabmark
