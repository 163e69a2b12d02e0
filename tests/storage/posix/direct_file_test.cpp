#include "storage/posix/direct_file.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::posix {
namespace {

constexpr std::uint64_t mib = 1 << 20;

std::vector<std::byte> numbered(std::uint64_t bytes, int seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>((i * 31 + i / 4096 + static_cast<std::size_t>(seed)) % 251);
  }
  return data;
}

struct Request {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t past_the_cache;
};

class DirectFiles : public testing::Test {
 protected:
  void SetUp() override {
    cached_ = File::create(scratch_.file("f"));
    cached_.resize(10 * mib);
    try {
      direct_.emplace(cached_, File::Access::write);
    } catch (const InputError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  const Scratch scratch_;
  File cached_;
  std::optional<DirectFile> direct_;
};

TEST_F(DirectFiles, AnyRequestIsWrittenAndReadAndItsWholeBlocksGoPastTheCache) {
  int seed = 0;
  for (const auto& [offset, bytes, past] :
       std::vector<Request>{{0, 0, 0},
                            {5, 100, 0},
                            {4000, 200, 0},  // over a block's end, no whole one
                            {4096, 8192, 8192},
                            {4095, 8194, 8192},
                            {1, 12287, 8192},
                            {100, 9 * mib, 9 * mib - 4096}}) {  // more than is copied at once
    for (const std::uint64_t shift : {0, 8}) {  // memory that begins elsewhere in a block
      std::vector<std::byte> before(10 * mib);
      cached_.read_at(0, before.data(), before.size());
      const auto data = numbered(bytes + shift, ++seed);
      const std::uint64_t direct_before = direct_->direct_bytes();
      direct_->write_at(offset, data.data() + shift, bytes);
      EXPECT_EQ(direct_->direct_bytes() - direct_before, past) << offset << ' ' << bytes;

      std::copy_n(data.data() + shift, bytes, before.data() + offset);
      std::vector<std::byte> after(before.size());
      cached_.read_at(0, after.data(), after.size());
      EXPECT_EQ(after, before) << offset << ' ' << bytes;

      std::vector<std::byte> found(bytes + shift);
      direct_->read_at(offset, found.data() + shift, bytes);
      EXPECT_TRUE(std::equal(found.begin() + static_cast<std::ptrdiff_t>(shift), found.end(),
                             data.begin() + static_cast<std::ptrdiff_t>(shift)))
          << offset << ' ' << bytes;
    }
  }
}

TEST_F(DirectFiles, TheEndOfAFileThatIsNoBlockIsRead) {
  const auto data = numbered(10000, 3);
  cached_.resize(10000);
  direct_->write_at(0, data.data(), data.size());
  std::vector<std::byte> found(data.size());
  direct_->read_at(0, found.data(), found.size());
  EXPECT_EQ(found, data);
  EXPECT_EQ(cached_.size(), 10000u);
}

}  // namespace
}  // namespace slabmark::posix
