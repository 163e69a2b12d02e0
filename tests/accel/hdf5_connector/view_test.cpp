#include <array>

#include <gmock/gmock.h>

#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/error.hpp"
#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;

/// Views as HDF5 without the connector reads them.
class Views : public LogFileTest {
 protected:
  /// A log file with this creation list.
  hdf5::Handle create_as(const hdf5::Handle& list, const char* name) const {
    const auto log = access("");
    return handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, list.get(), log.get()), H5Fclose);
  }

  /// Every rank writes 300 hyperslabs of 1 to 3 elements, with a gap behind each.
  std::vector<int> write_scattered(const hdf5::Handle& file) const {
    const hsize_t n = 300 * 4 * static_cast<hsize_t>(ranks());
    const auto d = dataset(file, "d", {n});
    std::vector<int> expected(n, 0);
    std::vector<Dims> starts;
    std::vector<Dims> counts;
    std::vector<int> values;
    for (hsize_t i = 0; i < n / 4; ++i) {
      const auto length = 1 + (i * 7 / 3) % 3;
      for (hsize_t k = 0; k < length; ++k) expected[4 * i + k] = static_cast<int>(4 * i + k + 1);
      if (i % static_cast<hsize_t>(ranks()) != mine()) continue;
      starts.push_back({4 * i});
      counts.push_back({length});
      for (hsize_t k = 0; k < length; ++k) values.push_back(expected[4 * i + k]);
    }
    EXPECT_GE(write_n(d, starts, counts, values), 0);
    return expected;
  }

  std::size_t mappings(const char* name) const {
    const auto file = open_plainly(name);
    const auto view = opened(file, "/_slablog/d0.view");
    const auto list = handle(H5Dget_create_plist(view.get()), H5Pclose);
    std::size_t count = 0;
    EXPECT_GE(H5Pget_virtual_count(list.get(), &count), 0);
    return count;
  }
};

TEST_F(Views, AreMadeInFilesOfEveryLayout) {
  const auto changes = std::to_array<std::function<void(hid_t)>>({
      [](hid_t list) { H5Pset_userblock(list, 1024); },
      [](hid_t list) { H5Pset_sizes(list, 4, 4); },
      [](hid_t list) { H5Pset_sizes(list, 8, 4); },
      [](hid_t list) { H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, true, 1); },
      [](hid_t list) { H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED); },
  });
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto list = handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    changes[i](list.get());
    std::vector<int> expected;
    {
      const auto file = create_as(list, "a.h5");
      expected = write_scattered(file);
    }
    EXPECT_EQ(all_plainly("a.h5", "d"), expected) << "layout " << i;
    world_.barrier();
  }
}

TEST_F(Views, OfElementsThatDoNotFitIntoTheObjectHeaderAreRight) {
  constexpr std::size_t bytes = 900;
  const auto type = handle(H5Tcreate(H5T_OPAQUE, bytes), H5Tclose);
  const std::string fill(bytes, 'f');
  std::string value(bytes, 'v');
  {
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_fill_value(list.get(), type.get(), fill.data()), 0);
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {2}, type.get(), list.get());
    hsize_t start = 1;
    hsize_t count = 1;
    hsize_t* starts = &start;
    hsize_t* counts = &count;
    ASSERT_GE(H5Dwrite_n(d.get(), type.get(), 1, &starts, &counts, H5P_DEFAULT, value.data()), 0);
  }
  const auto file = open_plainly("a.h5");
  std::string values(2 * bytes, ' ');
  ASSERT_GE(
      H5Dread(opened(file, "d").get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
      0);
  EXPECT_EQ(values, fill + value);
}

TEST_F(Views, OfElementsBeyondFourGibiAreRight) {
  const hsize_t far = hsize_t{5} << 30;
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {far}, H5T_NATIVE_SCHAR);
    ASSERT_GE(write_n(d, {{10 * mine()}, {far - 10 * mine() - 4}}, {{1}, {3}},
                      {rank() + 1, 2, 3, rank() + 1}),
              0);
  }
  const auto file = open_plainly("a.h5");
  const auto d = opened(file, "d");
  for (int r = 0; r < ranks(); ++r) {
    const auto back = 10 * static_cast<hsize_t>(r);
    EXPECT_THAT(read_n(d, {{back}, {far - back - 5}}, {{2}, {5}}, 7),
                ElementsAre(r + 1, 0, 0, 2, 3, r + 1, 0));
  }
}

TEST_F(Views, OfARegularPatternHaveOneMappingARank) {
  const hsize_t n = 2000 * static_cast<hsize_t>(ranks());
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {2 * n});
    std::vector<Dims> starts;
    std::vector<int> values;
    for (hsize_t i = mine(); i < n; i += static_cast<hsize_t>(ranks())) {
      starts.push_back({2 * i});
      values.push_back(static_cast<int>(i));
      values.push_back(static_cast<int>(i));
    }
    ASSERT_GE(write_n(d, starts, std::vector<Dims>(starts.size(), {2}), values), 0);
  }
  EXPECT_EQ(mappings("a.h5"), static_cast<std::size_t>(ranks()));
  const auto values = all_plainly("a.h5", "d");
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<int>(i / 2));
}

TEST_F(Views, TheOneBeforeIsSeenUntilTheNewOneIsComplete) {
  const auto write = [&](const hdf5::Handle& file, int value) {
    const auto d = value == 1 ? dataset(file, "d", {4}) : opened(file, "d");
    ASSERT_GE(write_n(d, {{0}}, {{3}}, {value, value, value}), 0);
  };
  write(create("a.h5"), 1);
  write(open("a.h5", H5F_ACC_RDWR, "view=none"), 2);
  if (rank() == 0) {
    // As a process that is killed half way leaves it.
    const auto list = access(nullptr, false);
    const auto file = handle(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, list.get()), H5Fclose);
    dataset(file, "/_slablog/d0.view.new", {4});
  }
  world_.barrier();
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(1, 1, 1, 0));
  world_.barrier();
  if (rank() == 0) {
    EXPECT_EQ(write_views(path("a.h5"), Config()), 1u);
  }
  world_.barrier();
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(2, 2, 2, 0));
  const auto file = open_plainly("a.h5");
  EXPECT_EQ(H5Lexists(file.get(), "/_slablog/d0.view.new", H5P_DEFAULT), 0);
}

// The driver that keeps the journal does not share the file with HDF5's own.
TEST_F(Views, AreNotMadeWhileTheSameProcessHasTheFileOpenWithoutTheConnector) {
  {
    const auto file = create("a.h5", "view=none");
    const auto d = dataset(file, "d", {4});
    ASSERT_GE(write_n(d, {{1}}, {{2}}, {5, 6}), 0);
  }
  if (rank() == 0) {
    {
      const auto list = access(nullptr, false);
      const auto file = handle(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, list.get()), H5Fclose);
      EXPECT_THROW(write_views(path("a.h5"), Config()), IoError);
    }
    EXPECT_EQ(write_views(path("a.h5"), Config()), 1u);
  }
  world_.barrier();
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(0, 5, 6, 0));
}

}  // namespace
}  // namespace slabmark::slablog
