// Which write holds where several ranks write the same elements, and when the others see it.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// A layout, with what a rank may hold before it spills, and what is seen when.
class Order : public LogFileTest, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr hsize_t each = 3;  ///< elements of a block

  static bool is(const char* option) {
    return std::string(GetParam()).find(option) != std::string::npos;
  }
  hsize_t length() const { return each * static_cast<hsize_t>(ranks()); }
  /// Chunks lie across the blocks.
  hdf5::Handle made(const hdf5::Handle& file, const char* name, bool chunked = true) const {
    const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = 2;
    if (chunked) H5Pset_chunk(creation.get(), 1, &chunk);
    return dataset(file, name, {length()}, H5T_NATIVE_INT, creation.get(),
                   chunked ? Dims{H5S_UNLIMITED} : Dims());
  }

  static hdf5::Handle selected(const hdf5::Handle& dataset, hsize_t start, hsize_t count) {
    auto space = handle(H5Dget_space(dataset.get()), H5Sclose);
    if (count == 0) {
      H5Sselect_none(space.get());
    } else {
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    }
    return space;
  }

  /// Writes one value.
  void put(const hdf5::Handle& dataset, hsize_t start, hsize_t count, int value, hid_t list) const {
    const auto file = selected(dataset, start, count);
    const std::vector<int> values(std::max<hsize_t>(1, count), value);
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_INT, H5S_BLOCK, file.get(), list, values.data()),
              0);
  }
  void put_together(const hdf5::Handle& dataset, hsize_t start, hsize_t count, int value) const {
    put(dataset, start, count, value, collective_.get());
  }
  std::vector<int> get_together(const hdf5::Handle& dataset, hsize_t start, hsize_t count) const {
    const auto file = selected(dataset, start, count);
    std::vector<int> values(count, -7);
    EXPECT_GE(H5Dread(dataset.get(), H5T_NATIVE_INT, H5S_BLOCK, file.get(), collective_.get(),
                      values.data()),
              0);
    return values;
  }

  // Blocks are dealt to the ranks one way first, then the other way round.
  hsize_t first_block() const { return each * mine(); }
  hsize_t then_block() const { return length() - each - first_block(); }
  void put_first(const hdf5::Handle& d) const {
    put_together(d, first_block(), each, 100 + rank());
  }
  void put_then(const hdf5::Handle& d) const { put_together(d, then_block(), each, 200 + rank()); }
  void expect_the_second(const char* name) const {
    std::vector<int> expected;
    for (int r = ranks() - 1; r >= 0; --r) expected.insert(expected.end(), each, 200 + r);
    auto found = all_plainly("a.h5", name);
    found.resize(length());
    EXPECT_EQ(found, expected) << name;
  }

  const hdf5::Handle collective_ = together();
};

INSTANTIATE_TEST_SUITE_P(Layouts, Order,
                         testing::Values("layout=log", "layout=log;buffer=16", "layout=canonical",
                                         "layout=canonical;buffer=16",
                                         "layout=log;visibility=strict",
                                         "layout=canonical;visibility=strict"));

TEST_P(Order, TheLaterCollectiveWriteHoldsWhateverHappensInBetween) {
  {
    const auto file = create("a.h5", GetParam());
    const auto plain = made(file, "plain", false);
    put_first(plain);
    put_then(plain);
    const auto handles = made(file, "handles");
    put_first(handles);
    put_then(opened(file, "handles"));
    const auto again = handle(H5Freopen(file.get()), H5Fclose);
    const auto reopened = made(file, "reopened");
    put_first(reopened);
    put_then(opened(again, "reopened"));
    put_first(made(file, "closed"));
    put_then(opened(file, "closed"));
    const auto moved = made(file, "before");
    put_first(moved);
    H5Lmove(file.get(), "before", file.get(), "moved", H5P_DEFAULT, H5P_DEFAULT);
    put_then(moved);
    const auto described = made(file, "described");
    put_first(described);
    const auto scalar = handle(H5Screate(H5S_SCALAR), H5Sclose);
    handle(H5Acreate2(described.get(), "a", H5T_NATIVE_INT, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
           H5Aclose);
    put_then(described);
    const auto grown = made(file, "grown");
    put_first(grown);
    const hsize_t twice = 2 * length();
    ASSERT_GE(H5Dset_extent(grown.get(), &twice), 0);
    put_then(grown);
    const auto referred = made(file, "referred");
    put_first(referred);
    H5R_ref_t reference;
    ASSERT_GE(H5Rcreate_object(file.get(), "referred", H5P_DEFAULT, &reference), 0);
    put_then(handle(H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT), H5Dclose));
    H5Rdestroy(&reference);
    if (is("canonical")) {
      const auto copied = made(file, "copied");
      put_first(copied);
      ASSERT_GE(H5Ocopy(file.get(), "copied", file.get(), "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
      put_then(copied);
    }
  }
  for (const char* name :
       {"plain", "handles", "reopened", "closed", "moved", "described", "grown", "referred"}) {
    expect_the_second(name);
  }
}

TEST_P(Order, TheLaterCollectiveWriteHoldsWhateverCallsMakeIt) {
  {
    const auto file = create("a.h5", GetParam());
    std::vector<hdf5::Handle> pair;
    for (const char* name : {"multi", "other"}) pair.push_back(made(file, name));
    for (const bool later : {false, true}) {
      const std::vector<int> values(each, (later ? 200 : 100) + rank());
      const auto space = selected(pair[0], later ? then_block() : first_block(), each);
      std::vector<hid_t> ids = {pair[0].get(), pair[1].get()};
      std::vector<hid_t> types(2, H5T_NATIVE_INT);
      std::vector<hid_t> memory(2, H5S_BLOCK);
      std::vector<hid_t> spaces(2, space.get());
      std::vector<const void*> buffers(2, values.data());
      ASSERT_GE(H5Dwrite_multi(2, ids.data(), types.data(), memory.data(), spaces.data(),
                               collective_.get(), buffers.data()),
                0);
    }
    const auto boxes = made(file, "boxes");
    for (const bool later : {false, true}) {
      std::vector<hsize_t> starts;
      const auto block = later ? then_block() : first_block();
      for (hsize_t i = 0; i < each; ++i) starts.push_back(block + i);
      hsize_t one = 1;
      std::vector<hsize_t*> start, count(each, &one);
      for (auto& at : starts) start.push_back(&at);
      std::vector<int> values(each, (later ? 200 : 100) + rank());
      ASSERT_GE(H5Dwrite_n(boxes.get(), H5T_NATIVE_INT, each, start.data(), count.data(),
                           collective_.get(), values.data()),
                0);
    }
    const auto points = made(file, "points");
    for (const bool later : {false, true}) {
      std::vector<hsize_t> at;  // the last first
      for (hsize_t i = each; i-- > 0;) at.push_back((later ? then_block() : first_block()) + i);
      const auto space = handle(H5Dget_space(points.get()), H5Sclose);
      H5Sselect_elements(space.get(), H5S_SELECT_SET, each, at.data());
      const std::vector<short> values(each, static_cast<short>((later ? 200 : 100) + rank()));
      ASSERT_GE(H5Dwrite(points.get(), H5T_NATIVE_SHORT, H5S_BLOCK, space.get(), collective_.get(),
                         values.data()),
                0);
    }
    // Calls in which nobody, or only one rank, has anything count as well.
    const auto mixed = made(file, "mixed");
    put_first(mixed);
    put_together(mixed, 0, 0, 0);
    for (int r = ranks() - 1; r >= 0; --r) {
      put_together(mixed, then_block(), r == rank() ? each : 0, 200 + rank());
    }
    // Refused on one rank, the call counts there, too.
    const auto refused = made(file, "refused");
    put_first(refused);
    if (rank() == 0) {
      const hsize_t many = 2 * length();
      const auto beyond = handle(H5Screate_simple(1, &many, nullptr), H5Sclose);
      const std::vector<int> values(many, 1);
      EXPECT_LT(H5Dwrite(refused.get(), H5T_NATIVE_INT, H5S_BLOCK, beyond.get(), collective_.get(),
                         values.data()),
                0);
    } else {
      put_together(refused, first_block(), each, 300);
    }
    put_then(refused);
  }
  for (const char* name : {"multi", "other", "boxes", "points", "mixed", "refused"}) {
    expect_the_second(name);
  }
}

TEST_P(Order, OfWhatRanksWriteByThemselvesTheLaterHolds) {
  {
    const auto file = create("a.h5", GetParam());
    for (const bool chunked : {false, true}) {
      const auto d = made(file, chunked ? "chunked" : "plain", chunked);
      for (int writer = ranks() - 1; writer >= 0; --writer) {
        if (rank() == writer) put(d, 0, length() - mine(), writer, H5P_DEFAULT);
        world_.barrier();
      }
      // After a collective call even without a barrier, whoever is faster.
      put_together(d, first_block(), each, 100);
      if (rank() == 0) put(d, length() - 1, 1, 1000, H5P_DEFAULT);
      put_together(d, 0, rank() == ranks() - 1 ? 1 : 0, 2000);
    }
  }
  for (const char* name : {"plain", "chunked"}) {
    std::vector<int> expected(length(), 100);
    expected.back() = 1000;
    expected.front() = 2000;
    EXPECT_EQ(all_plainly("a.h5", name), expected) << name;
  }
}

TEST_P(Order, ARankThatWroteEarlierThanAHigherOneLosesNoOtherElement) {
  {
    const auto file = create("a.h5", GetParam());
    const auto d = made(file, "d", false);
    // Rank r writes from block r on; the lowest comes last.
    for (int writer = ranks() - 1; writer >= 0; --writer) {
      if (rank() == writer) put(d, first_block(), length() - first_block(), writer, H5P_DEFAULT);
      world_.barrier();
    }
    const auto e = made(file, "e", false);
    for (int writer = 0; writer < ranks(); ++writer) {
      if (rank() == writer) put(e, first_block(), length() - first_block(), writer, H5P_DEFAULT);
      world_.barrier();
    }
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), Each(0));
  std::vector<int> expected;
  for (int r = 0; r < ranks(); ++r) expected.insert(expected.end(), each, r);
  EXPECT_EQ(all_plainly("a.h5", "e"), expected);
}

TEST_P(Order, ACollectiveReadSeesWhatAllRanksHaveWritten) {
  const auto file = create("a.h5", GetParam());
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 2;
  const hsize_t next = each * ((mine() + 1) % static_cast<hsize_t>(ranks()));
  const int theirs = static_cast<int>(next / each);
  for (int kind = 0; kind < 3; ++kind) {
    if (kind == 1) H5Pset_chunk(creation.get(), 1, &chunk);
    if (kind == 2 && is("canonical")) H5Pset_deflate(creation.get(), 1);
    const auto d =
        dataset(file, std::to_string(kind).c_str(), {length()}, H5T_NATIVE_INT, creation.get());
    put_together(d, first_block(), each, rank() + 1);
    EXPECT_THAT(get_together(d, next, each), Each(theirs + 1)) << kind;
    put(d, first_block(), each, rank() + 10, H5P_DEFAULT);
    EXPECT_THAT(get_together(d, next, each), Each(theirs + 10)) << kind;
    EXPECT_THAT(get_together(d, next, each), Each(theirs + 10)) << kind;
    // Only one writes, only another one reads.
    if (rank() == 0) put(d, 0, each, 20, H5P_DEFAULT);
    const auto found = get_together(d, 0, rank() == ranks() - 1 ? each : 0);
    EXPECT_THAT(found, Each(20)) << kind;
  }
}

TEST_P(Order, AStrictFileShowsAtOnceWhatRanksWroteTogether) {
  if (!is("strict")) GTEST_SKIP() << "other files show it when they are flushed";
  setenv("SLABLOG_VISIBILITY", "strict", 1);  // holds where the access list is silent
  const auto file = create("a.h5", is("canonical") ? "layout=canonical" : GetParam());
  unsetenv("SLABLOG_VISIBILITY");
  const hsize_t next = each * ((mine() + 1) % static_cast<hsize_t>(ranks()));
  const auto get = [&](const hdf5::Handle& d) {
    std::vector<int> values(each, -7);
    EXPECT_GE(H5Dread(d.get(), H5T_NATIVE_INT, H5S_BLOCK, selected(d, next, each).get(),
                      H5P_DEFAULT, values.data()),
              0);
    return values;
  };
  for (const bool chunked : {false, true}) {
    const auto d = made(file, chunked ? "chunked" : "plain", chunked);
    put_first(d);
    world_.barrier();
    EXPECT_THAT(get(d), Each(100 + static_cast<int>(next / each)));
    world_.barrier();
    if (!is("canonical")) continue;
    // What a rank writes by itself goes through HDF5.
    put(d, first_block(), each, rank() + 10, H5P_DEFAULT);
    ASSERT_GE(write_n(d, {{first_block()}}, {{2}}, {rank() + 10, rank() + 10}), 0);
    world_.barrier();
    EXPECT_THAT(get(d), Each(static_cast<int>(next / each) + 10));
    world_.barrier();
    put_together(d, first_block(), rank() == 0 ? 1 : 0, 10);
    EXPECT_THAT(get_together(d, next, each), Each(static_cast<int>(next / each) + 10));
  }
}

TEST_P(Order, AFileThatIsOpenTwiceHoldsTheLaterWriteWhicheverIsClosedFirst) {
  if (!is("canonical")) GTEST_SKIP() << "a file with a log is not opened twice";
  for (const bool first_goes_first : {false, true}) {
    for (const bool alone : {false, true}) {
      {
        auto first = create("a.h5", GetParam());
        auto d = made(first, "d");
        put_first(d);
        ASSERT_GE(H5Fflush(first.get(), H5F_SCOPE_GLOBAL), 0);
        put_first(d);
        auto second = open("a.h5", H5F_ACC_RDWR, GetParam());
        auto e = opened(second, "d");
        EXPECT_THAT(get_together(e, first_block(), each), Each(100 + rank()));
        put_together(d, first_block(), each, 150 + rank());
        put(e, then_block(), each, 200 + rank(), alone ? H5P_DEFAULT : collective_.get());
        world_.barrier();
        EXPECT_THAT(get_together(d, then_block(), each), Each(200 + rank()));
        (first_goes_first ? d : e) = {};
        (first_goes_first ? first : second) = {};
        d = {};
        e = {};
      }
      expect_the_second("d");
      world_.barrier();
    }
  }
}

TEST_P(Order, MembersThatOtherRanksWroteBeforeStayWhereAllWriteTogether) {
  const auto both = handle(H5Tcreate(H5T_COMPOUND, 2 * sizeof(int)), H5Tclose);
  H5Tinsert(both.get(), "a", 0, H5T_NATIVE_INT);
  H5Tinsert(both.get(), "b", sizeof(int), H5T_NATIVE_INT);
  const auto only_b = handle(H5Tcreate(H5T_COMPOUND, sizeof(int)), H5Tclose);
  H5Tinsert(only_b.get(), "b", 0, H5T_NATIVE_INT);
  {
    const auto file = create("a.h5", GetParam());
    const auto d = dataset(file, "d", {static_cast<hsize_t>(ranks())}, both.get());
    const std::vector<int> first = {10 + rank(), 20 + rank()};
    ASSERT_GE(H5Dwrite(d.get(), both.get(), H5S_BLOCK, selected(d, mine(), 1).get(),
                       collective_.get(), first.data()),
              0);
    const int then = 30 + rank();
    const auto other = static_cast<hsize_t>(ranks()) - 1 - mine();
    ASSERT_GE(H5Dwrite(d.get(), only_b.get(), H5S_BLOCK, selected(d, other, 1).get(),
                       collective_.get(), &then),
              0);
  }
  const auto file = open_plainly("a.h5");
  std::vector<int> found(2 * static_cast<std::size_t>(ranks()));
  ASSERT_GE(
      H5Dread(opened(file, "d").get(), both.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
  std::vector<int> expected;
  for (int i = 0; i < ranks(); ++i) {
    expected.push_back(10 + i);
    expected.push_back(30 + ranks() - 1 - i);
  }
  EXPECT_EQ(found, expected);
}

/// Random calls, and what they leave, in memory: all ranks draw the same ones.
TEST_P(Order, RandomCallsLeaveWhatTheyLeaveInTheOrderOfTheProgram) {
  const char* given = std::getenv("SLABLOG_SEED");
  const auto seed = world_.broadcast(given != nullptr ? std::strtoull(given, nullptr, 10)
                                                      : std::random_device()());
  SCOPED_TRACE("SLABLOG_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  auto file = create("a.h5", GetParam());
  const std::vector<const char*> names = {"plain", "chunked"};
  std::vector<hdf5::Handle> datasets;
  for (const char* name : names) datasets.push_back(made(file, name, name == names[1]));
  std::vector<std::vector<int>> expected(names.size(), std::vector<int>(length(), 0));
  std::vector<int> deal(static_cast<std::size_t>(ranks()));
  std::iota(deal.begin(), deal.end(), 0);
  for (int value = 1; value <= 80 && !HasFailure(); ++value) {
    const auto which = below(names.size());
    auto& now = expected[which];
    std::shuffle(deal.begin(), deal.end(), random);
    switch (below(12)) {
      case 0:
        ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
        break;
      case 1:
        datasets[which] = {};
        datasets[which] = opened(file, names[which]);
        break;
      case 2:
      case 3: {  // each reads another's block
        const auto start = each * static_cast<hsize_t>(deal[static_cast<std::size_t>(rank())]);
        const auto at = now.begin() + static_cast<std::ptrdiff_t>(start);
        EXPECT_EQ(get_together(datasets[which], start, each), std::vector<int>(at, at + each));
        break;
      }
      case 4:
      case 5:
      case 6:
      case 7: {  // one rank writes by itself, after what others have
        const auto start = below(length());
        const auto count = 1 + below(length() - start);
        world_.barrier();
        if (rank() == deal.front()) put(datasets[which], start, count, value, H5P_DEFAULT);
        world_.barrier();
        std::fill_n(now.begin() + static_cast<std::ptrdiff_t>(start), count, value);
        break;
      }
      default: {  // all write together, a part of a block each, or nothing
        const auto skip = below(each);
        const auto count = below(each - skip + 1);
        for (int r = 0; r < ranks(); ++r) {
          const auto start = each * static_cast<hsize_t>(deal[static_cast<std::size_t>(r)]) + skip;
          std::fill_n(now.begin() + static_cast<std::ptrdiff_t>(start), count, 1000 * value + r);
          if (r == rank()) put_together(datasets[which], start, count, 1000 * value + r);
        }
      }
    }
  }
  datasets.clear();
  file = {};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(all_plainly("a.h5", names[i]), expected[i]) << names[i];
  }
}

TEST_P(Order, RanksThatCreateOtherDatasetsAreToldAtTheFlush) {
  if (ranks() == 1 || is(";")) GTEST_SKIP() << "one rank has one order, and options change nothing";
  {
    const auto file = create("a.h5", GetParam());
    for (const int i : {0, 1}) dataset(file, (rank() + i) % 2 == 0 ? "even" : "odd", {4});
    EXPECT_LT(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    const auto said = reason();
    EXPECT_THAT(said, HasSubstr("Ranks created different datasets in"));
    EXPECT_THAT(said, HasSubstr("number 1 since the last flush is '/even' on rank 0 and '/odd' on "
                                "rank 1."));
  }
}

}  // namespace
}  // namespace slabmark::slablog
