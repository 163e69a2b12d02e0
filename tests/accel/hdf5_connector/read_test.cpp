// Reading what many short hyperslabs wrote: in contiguous parts, where the log is copied entry
// after entry, and where it is looked through from the newest entry to the oldest.
#include <random>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

constexpr int fill_value = -5;

class Reads : public LogFileTest {
 protected:
  /// A dataset that can grow.
  void make(const Dims& dims, const char* options = "view=none") {
    file_ = create("a.h5", options);
    const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const Dims chunk(dims.size(), 8);
    H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill_value);
    dataset_ =
        dataset(file_, "d", dims, H5T_NATIVE_INT, creation.get(), Dims(dims.size(), H5S_UNLIMITED));
    dims_ = dims;
    expected_.assign(elements(), fill_value);
  }

  std::size_t elements() const {
    return std::accumulate(dims_.begin(), dims_.end(), std::size_t{1}, std::multiplies<>());
  }

  /// Hyperslabs of 1 to 4 elements in rows, each written by any rank, or by none with `holes` of
  /// 100. With `alone`, what others would write is not written.
  void write(std::uint64_t seed, unsigned holes, bool alone = false) {
    std::mt19937_64 random(seed);
    std::vector<Dims> starts;
    std::vector<Dims> counts;
    std::vector<int> values;
    const auto row = dims_.back();
    for (std::size_t at = 0; at < expected_.size();) {
      const auto length = std::min<hsize_t>(1 + random() % 4, row - at % row);
      const auto owner = static_cast<int>(random() % static_cast<unsigned>(ranks()));
      const bool hole = random() % 100 < holes;
      if (!hole && (owner == rank() || !alone)) {
        for (std::size_t i = at; i < at + length; ++i) {
          expected_[i] = static_cast<int>(i * 100 + seed);
          if (owner == rank()) values.push_back(expected_[i]);
        }
      }
      if (!hole && owner == rank()) {
        starts.push_back(dims_.size() == 1 ? Dims{at} : Dims{at / row, at % row});
        counts.push_back(dims_.size() == 1 ? Dims{length} : Dims{1, length});
      }
      at += length;
    }
    ASSERT_GE(write_n(dataset_, starts, counts, values), 0);
  }

  void flush() { ASSERT_GE(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), 0); }

  void reopen() {
    dataset_ = {};
    file_ = {};
    file_ = open("a.h5", H5F_ACC_RDWR, "view=none");
    dataset_ = opened(file_, "d");
  }

  void resize(const Dims& dims) {
    ASSERT_GE(H5Dset_extent(dataset_.get(), dims.data()), 0);
    std::vector<int> values;
    const auto row = dims_.back();
    const auto of = [&](hsize_t r, hsize_t c) {
      return r * row + c < expected_.size() && c < row ? expected_[r * row + c] : fill_value;
    };
    const auto rows = dims.size() == 1 ? 1 : dims[0];
    for (hsize_t r = 0; r < rows; ++r) {
      for (hsize_t c = 0; c < dims.back(); ++c) values.push_back(of(r, c));
    }
    dims_ = dims;
    expected_ = values;
  }

  /// Rows, or elements of a line, [from, to), in any type.
  template <class Value>
  void expect_part(hid_t type, hsize_t from, hsize_t to) {
    const auto space = handle(H5Dget_space(dataset_.get()), H5Sclose);
    Dims start(dims_.size(), 0);
    Dims count = dims_;
    start[0] = from;
    count[0] = to - from;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    const auto row = static_cast<hsize_t>(elements()) / dims_[0];
    const hsize_t length = (to - from) * row;
    const auto line = handle(H5Screate_simple(1, &length, nullptr), H5Sclose);
    std::vector<Value> values(length);
    ASSERT_GE(H5Dread(dataset_.get(), type, line.get(), space.get(), H5P_DEFAULT, values.data()),
              0);
    for (hsize_t i = 0; i < length; ++i) {
      ASSERT_EQ(values[i], static_cast<Value>(expected_[from * row + i]))
          << "element " << from * row + i;
    }
  }

  /// The whole, this rank's part, and parts that begin and end within hyperslabs.
  void expect_right() {
    const auto n = dims_[0];
    expect_part<int>(H5T_NATIVE_INT, 0, n);
    const auto part = n / static_cast<hsize_t>(ranks());
    expect_part<int>(H5T_NATIVE_INT, mine() * part, (mine() + 1) * part);
    for (hsize_t i = 1; i < 5; ++i) expect_part<int>(H5T_NATIVE_INT, i, n - 2 * i);
    expect_part<int>(H5T_NATIVE_INT, n / 3, n / 3 + 1);
    expect_part<double>(H5T_NATIVE_DOUBLE, 7, n);
  }

  hdf5::Handle file_;
  hdf5::Handle dataset_;
  Dims dims_;
  std::vector<int> expected_;
};

TEST_F(Reads, LaterFlushesLieOverEarlierOnesAndFillValuesInTheHoles) {
  make({300'000});
  write(1, 30);
  flush();
  write(2, 90);
  flush();
  expect_right();
  reopen();
  expect_right();
}

TEST_F(Reads, OfALogThatWasRewrittenManyTimesGetTheLastElements) {
  make({40'000});
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    write(seed, 20);
    flush();
  }
  expect_right();
  reopen();
  expect_right();
}

TEST_F(Reads, WhatWasCutOffBetweenFlushesIsGoneForThemAll) {
  make({300'000});
  write(1, 10);
  flush();
  expect_right();
  resize({170'001});
  expect_right();
  resize({300'000});
  expect_right();
  write(2, 95);
  flush();
  expect_right();
  reopen();
  expect_right();
}

TEST_F(Reads, OwnWritesLieOverWhatWasFlushedInMemoryAndSpilled) {
  make({300'000}, "view=none;buffer=100K");
  write(1, 30);
  flush();
  write(2, 30, true);  // more than the buffer
  write(3, 97, true);
  expect_right();
}

TEST_F(Reads, WholeRowsAreContiguousAlsoWhereTheyChangedTheirLength) {
  make({500, 600});
  write(1, 20);
  flush();
  write(2, 90);
  flush();
  expect_right();
  resize({500, 411});
  expect_right();
  resize({430, 600});
  write(3, 60);
  flush();
  expect_right();
  reopen();
  expect_right();
}

}  // namespace
}  // namespace slabmark::slablog
