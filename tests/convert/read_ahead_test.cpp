#include "convert/read_ahead.hpp"

#include <cstring>
#include <thread>

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark::convert {
namespace {

/// Elements are their numbers; one of them cannot be read.
class Numbers : public Source {
 public:
  Numbers(bool in_threads, std::uint64_t broken) : in_threads_(in_threads), broken_(broken) {
    contents_.dimensions = {{"x", 100, false}};
    contents_.variables = {{.name = "v", .type = ElementType::uint64, .dimensions = {0}}};
  }

  void read(std::size_t, const Hyperslab& box, std::byte* memory) override {
    is_other_thread |= std::this_thread::get_id() != main_;
    for (std::uint64_t i = 0; i < box.block.front(); ++i) {
      const std::uint64_t element = box.start.front() + i;
      if (element == broken_) throw IoError("Element 55 cannot be read.");
      std::memcpy(memory + i * sizeof element, &element, sizeof element);
    }
  }
  bool reads_in_threads() const override { return in_threads_; }

  bool is_other_thread = false;

 private:
  bool in_threads_;
  std::uint64_t broken_;
  std::thread::id main_ = std::this_thread::get_id();
};

std::uint64_t element_at(const Shares& shares, std::size_t i) {
  std::uint64_t element;
  std::memcpy(&element, shares.memory.data() + i * sizeof element, sizeof element);
  return element;
}

TEST(ReadAhead, ReadsTheSharesOfARankInOrder) {
  for (const bool in_threads : {false, true}) {
    Numbers source(in_threads, 1000);
    const std::vector<Batch> batches = batches_of(source.contents(), {{}}, 240);
    ASSERT_EQ(batches.size(), 4U);
    std::vector<std::uint64_t> found;
    for (const std::uint64_t rank : {0, 1}) {
      ReadAhead reader(source, source.contents(), batches, rank, 2);
      for (std::size_t b = 0; b < batches.size(); ++b) {
        const Shares& shares = reader.next();
        for (std::size_t i = 0; i < shares.runs.front().length; ++i) {
          found.push_back(element_at(shares, i));
        }
      }
    }
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found.size(), 100U);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i);
    EXPECT_EQ(source.is_other_thread, in_threads);
  }
}

TEST(ReadAhead, BeginsWhereItIsTold) {
  Numbers source(true, 1000);
  const std::vector<Batch> batches = batches_of(source.contents(), {{}}, 240);
  ReadAhead reader(source, source.contents(), batches, 0, 1, 2);
  EXPECT_EQ(element_at(reader.next(), 0), 60U);
  EXPECT_EQ(element_at(reader.next(), 0), 90U);
}

TEST(ReadAhead, AFailureComesWithItsBatch) {
  for (const bool in_threads : {false, true}) {
    Numbers source(in_threads, 55);
    const std::vector<Batch> batches = batches_of(source.contents(), {{}}, 240);
    ReadAhead reader(source, source.contents(), batches, 0, 1);
    EXPECT_EQ(element_at(reader.next(), 29), 29U);
    EXPECT_THROW(reader.next(), IoError);
  }
}

}  // namespace
}  // namespace slabmark::convert
