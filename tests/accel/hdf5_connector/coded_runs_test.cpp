#include "accel/hdf5_connector/log/coded_runs.hpp"

#include <random>

#include <gtest/gtest.h>

#include "accel/hdf5_connector/element_size.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::slablog {
namespace {

constexpr std::uint64_t first_position = 1000;

/// An entry of one index with `count` runs, and what it must hold.
class Entry {
 public:
  Entry(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::uint64_t at = 0;
    std::uint64_t position = first_position;
    for (std::size_t i = 0; i < count; ++i) {
      // Most numbers take a byte of the index, some take more.
      at += random() % (random() % 50 == 0 ? 100'000 : 20);
      const auto length = 1 + random() % (random() % 50 == 0 ? 1000 : 4);
      runs.push_back({at, length, position * element_size, in_segment});
      at += length;
      position += length;
    }
    extent = {at + 7};
    append_entry(index_, 0, extent, first_position, runs);
    for_each_entry(index_, "index", [&](const IndexEntry& entry) { found_ = entry; });
  }

  CodedRuns coded() const { return {found_, 0, element_size, "index"}; }
  IndexEntry& entry() { return found_; }
  const IndexEntry& entry() const { return found_; }

  std::vector<std::byte> marks() const { return coded().coded_marks(0); }
  /// What `marks` make of the runs in a file.
  CodedRuns stored(posix::File& file, const std::vector<std::byte>& marks) const {
    file.write_at(0, found_.coded.data(), found_.coded.size());
    auto entry = found_;
    entry.coded = marks;
    entry.file = &file;
    return {entry, 0, element_size, "index"};
  }

  LogRuns runs;
  Extent extent;

 private:
  std::vector<std::byte> index_;
  IndexEntry found_;
};

TEST(CodedRuns, AreFoundFromAnyElementOn) {
  for (const std::size_t count : {1, 31, 32, 33, 255, 256, 257, 3000}) {
    const Entry entry(count, count);
    const auto coded = entry.coded();
    EXPECT_EQ(coded.decoded(), entry.runs);
    EXPECT_EQ(coded.end(), entry.runs.back().end());
    std::mt19937_64 random(1);
    for (int round = 0; round < 50; ++round) {
      auto cursor = coded.begin();
      for (std::uint64_t offset = 0; offset < entry.extent[0];) {
        offset += random() % (entry.extent[0] / 5 + 1);
        const auto expected = first_that_ends_after(entry.runs.begin(), entry.runs.end(), offset);
        cursor.seek(offset);
        ASSERT_EQ(cursor.at_end(), expected == entry.runs.end()) << count << " from " << offset;
        if (cursor.at_end()) break;
        ASSERT_EQ(cursor.run(), *expected) << count << " from " << offset;
      }
    }
  }
}

class StoredRuns : public testing::Test {
 protected:
  static constexpr std::size_t block = 64 * 256;  // runs

  Scratch scratch_;
  posix::File file_ = posix::File::open_or_create(scratch_.file("runs"));
};

TEST_F(StoredRuns, AreThoseThatWereCoded) {
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{257}, block - 1, block, 2 * block + 1}) {
    const Entry entry(count, count);
    const auto marks = entry.marks();
    EXPECT_EQ(entry.stored(file_, marks).decoded(), entry.runs);
    EXPECT_EQ(entry.stored(file_, marks), entry.coded());
    const auto stored = entry.stored(file_, marks);
    EXPECT_EQ(stored.end(), entry.coded().end());
    EXPECT_EQ(stored.segment_end(), entry.coded().segment_end());
    EXPECT_EQ(stored.first_offset(), entry.runs.front().offset);
    std::mt19937_64 random(1);
    for (int round = 0; round < 50; ++round) {
      const auto& run = entry.runs[random() % count];
      const auto once = entry.stored(file_, marks);
      EXPECT_EQ(once.begin(run.end() - 1).run(), run);
    }
  }
}

TEST_F(StoredRuns, AreReadAndCheckedByBlocks) {
  const Entry entry(1, 3 * block);
  const auto marks = entry.marks();
  const auto stored = entry.stored(file_, marks);
  const auto last = entry.entry().coded.size() - 1;
  const auto changed = entry.entry().coded[last] ^ std::byte{1};
  file_.write_at(last, &changed, 1);
  EXPECT_EQ(stored.begin().run(), entry.runs.front());
  EXPECT_EQ(stored.begin(entry.runs[2 * block - 1].offset).run(), entry.runs[2 * block - 1]);
  EXPECT_THROW(stored.begin(entry.runs.back().offset), IoError);
  EXPECT_THROW(stored.decoded(), IoError);
}

TEST_F(StoredRuns, AreRefusedOrRightWhateverTheirMarksSay) {
  const Entry entry(1, block + 300);
  const auto marks = entry.marks();
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    auto changed = marks;
    changed[random() % changed.size()] ^= static_cast<std::byte>(1 << random() % 8);
    try {
      const auto stored = entry.stored(file_, changed);
      EXPECT_EQ(stored.decoded(), entry.runs);
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1900);
}

TEST(CodedRuns, EndWhereTheDatasetWasCut) {
  const Entry entry(3, 700);
  for (std::size_t i = 0; i < entry.runs.size(); i += 23) {
    for (const auto limit : {entry.runs[i].offset, entry.runs[i].offset + 1, entry.runs[i].end()}) {
      auto coded = entry.coded();
      coded.limit(limit);
      coded.limit(entry.extent[0]);  // what grows again does not bring it back
      EXPECT_EQ(coded.decoded(), reshaped(entry.runs, entry.extent, {limit}, element_size));
    }
  }
}

TEST(CodedRuns, KnowWherePartsOfTheDatasetAreInTheSegment) {
  const Entry entry(5, 2000);
  const auto coded = entry.coded();
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto offset = random() % entry.extent[0];
    const slabmark::Run wanted{offset, 1 + random() % (entry.extent[0] - offset)};
    const auto part = coded.segment_part(wanted);
    std::uint64_t inside = 0;
    for (const auto& run : entry.runs) {
      const auto from = std::max(run.offset, wanted.offset);
      const auto to = std::min(run.end(), wanted.end());
      if (from >= to) continue;
      const auto at = run.position / element_size + (from - run.offset);
      ASSERT_GE(at, part.offset);
      ASSERT_LE(at + (to - from), part.end());
      inside += to - from;
    }
    // Not much more than asked for: two times the runs between marks.
    EXPECT_LE(part.length, inside + 2 * 257 * 1000);
    EXPECT_LE(part.end(), coded.segment_end());
  }
}

TEST(CodedRuns, ThatLeaveTheExtentAreRefused) {
  Entry entry(7, 600);
  entry.entry().extent = {entry.runs.back().end()};
  EXPECT_NO_THROW(entry.coded());
  entry.entry().extent = {entry.runs.back().end() - 1};
  EXPECT_THROW(entry.coded(), IoError);
  entry.entry().extent = entry.extent;
  ++entry.entry().runs;
  EXPECT_THROW(entry.coded(), IoError);
}

}  // namespace
}  // namespace slabmark::slablog
