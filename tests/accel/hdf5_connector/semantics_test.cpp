#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"

namespace {
int duplicates = 0;  // of communicators
}

// HDF5's calls come here, too.
extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ++duplicates;
  return PMPI_Comm_dup(comm, made);
}

extern "C" int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  ++duplicates;
  return PMPI_Comm_create(comm, group, made);
}

namespace slabmark::slablog {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class Semantics : public LogFileTest {};

TEST_F(Semantics, WhatAllRanksWroteByWriteNIsReadAfterCloseByAnyHdf5) {
  const hsize_t n = 6 * static_cast<hsize_t>(ranks());
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {n});
    // Rank r owns elements r, r + ranks, ...
    std::vector<Dims> starts;
    std::vector<Dims> counts;
    std::vector<int> values;
    for (hsize_t i = mine(); i < n; i += static_cast<hsize_t>(ranks())) {
      starts.push_back({i});
      counts.push_back({1});
      values.push_back(static_cast<int>(100 + i));
    }
    ASSERT_GE(write_n(d, starts, counts, values), 0);
  }
  std::vector<int> expected(n);
  std::iota(expected.begin(), expected.end(), 100);
  EXPECT_EQ(all_plainly("a.h5", "d"), expected);
  const auto file = open("a.h5");
  const auto d = opened(file, "d");
  EXPECT_EQ(all(d), expected);
  EXPECT_THAT(read_n(d, {{3}, {0}}, {{2}, {1}}, 3), ElementsAre(103, 104, 100));
}

TEST_F(Semantics, ARankReadsItsOwnWritesBeforeAFlush) {
  const auto file = create("a.h5");
  const auto d = dataset(file, "d", {static_cast<hsize_t>(ranks()), 4});
  ASSERT_GE(write_n(d, {{mine(), 1}}, {{1, 2}}, {rank() + 1, rank() + 2}), 0);
  EXPECT_THAT(read_n(d, {{mine(), 0}}, {{1, 4}}, 4), ElementsAre(0, rank() + 1, rank() + 2, 0));
}

TEST_F(Semantics, OneRankReadsAndWritesAloneWhileTheOthersWait) {
  const auto file = create("a.h5");
  const auto d = dataset(file, "d", {8});
  if (rank() == 0) {
    ASSERT_GE(write_n(d, {{2}}, {{2}}, {5, 6}), 0);
    EXPECT_THAT(all(d), ElementsAre(0, 0, 5, 6, 0, 0, 0, 0));
  }
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  if (rank() == ranks() - 1) {
    EXPECT_THAT(all(d), ElementsAre(0, 0, 5, 6, 0, 0, 0, 0));
  }
}

TEST_F(Semantics, OtherRanksWritesAreReadAfterAFlush) {
  const auto file = create("a.h5");
  const auto d = dataset(file, "d", {static_cast<hsize_t>(ranks())});
  ASSERT_GE(write_n(d, {{mine()}}, {{1}}, {rank()}), 0);
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  std::vector<int> expected(static_cast<std::size_t>(ranks()));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all(d), expected);
}

TEST_F(Semantics, TheLastWriteWinsWithinARankAndAcrossFlushes) {
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {6});
    if (rank() == 0) {
      ASSERT_GE(write_n(d, {{0}, {1}, {0}}, {{3}, {3}, {1}}, {1, 1, 1, 2, 2, 2, 3}), 0);
    }
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    if (rank() == ranks() - 1) {
      ASSERT_GE(write_n(d, {{2}}, {{3}}, {4, 4, 4}), 0);
    }
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(3, 2, 4, 4, 4, 0));
}

TEST_F(Semantics, WhereRanksOverlapWithinACollectiveCallTheHighestRankHolds) {
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {static_cast<hsize_t>(ranks()) + 1});
    ASSERT_GE(write_n(d, {{mine()}}, {{2}}, {rank(), rank()}, together().get()), 0);
  }
  auto values = all_plainly("a.h5", "d");
  EXPECT_EQ(values.back(), ranks() - 1);
  values.pop_back();
  std::vector<int> expected(values.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(values, expected);
}

TEST_F(Semantics, ASelectionOutsideTheExtentIsRefusedAndNothingIsWritten) {
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {4});
    EXPECT_LT(write_n(d, {{0}, {3}}, {{1}, {2}}, {1, 2, 3}), 0);
    EXPECT_LT(write_n(d, {{~hsize_t{0}}}, {{2}}, {1, 2}), 0);
    const auto space = handle(H5Dget_space(d.get()), H5Sclose);
    const hsize_t start = 3;
    const hsize_t count = 3;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    const std::vector<int> values(3, 9);
    EXPECT_LT(H5Dwrite(d.get(), H5T_NATIVE_INT, H5S_BLOCK, space.get(), H5P_DEFAULT, values.data()),
              0);
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), Each(0));
}

TEST_F(Semantics, RanksWithoutRequestsTakePart) {
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {3});
    const std::vector<Dims> none;
    if (rank() == 0) {
      ASSERT_GE(write_n(d, {{1}}, {{1}}, {5}), 0);
    } else {
      ASSERT_GE(write_n(d, none, none, {}), 0);
      ASSERT_GE(H5Dwrite_n(d.get(), H5T_NATIVE_INT, 0, nullptr, nullptr, H5P_DEFAULT, nullptr), 0);
    }
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(0, 5, 0));
}

TEST_F(Semantics, FillValuesAreReadWhereNothingWasWritten) {
  {
    const auto file = create("a.h5");
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const int fill = 42;
    H5Pset_fill_value(list.get(), H5T_NATIVE_INT, &fill);
    const auto d = dataset(file, "d", {3}, H5T_NATIVE_INT, list.get());
    EXPECT_THAT(all(d), Each(42));
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    if (rank() == 0) {
      ASSERT_GE(write_n(d, {{1}}, {{1}}, {5}), 0);
    }
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(42, 5, 42));
}

TEST_F(Semantics, FiltersAreRefusedAtCreation) {
  const auto file = create("a.h5");
  const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 4;
  H5Pset_chunk(list.get(), 1, &chunk);
  H5Pset_shuffle(list.get());
  const auto space = handle(H5Screate_simple(1, &chunk, nullptr), H5Sclose);
  EXPECT_LT(H5Dcreate2(file.get(), "d", H5T_NATIVE_INT, space.get(), H5P_DEFAULT, list.get(),
                       H5P_DEFAULT),
            0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("slablog does not support filters"));
  EXPECT_EQ(H5Lexists(file.get(), "d", H5P_DEFAULT), 0);
}

TEST_F(Semantics, TheLogsOwnGroupIsNeitherDeletedNorMovedButOneOfTheUsersIs) {
  {
    const auto file = create("a.h5");
    const auto group =
        handle(H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    const auto d = dataset(group, "d", {3});
    ASSERT_GE(write_n(d, {{0}}, {{3}}, {1, 2, 3}), 0);
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    for (const char* name : {"_slablog", "/_slablog", "/./_slablog", "_slablog/d0.s0"}) {
      EXPECT_LT(H5Ldelete(file.get(), name, H5P_DEFAULT), 0) << name;
      EXPECT_LT(H5Lmove(file.get(), name, file.get(), "away", H5P_DEFAULT, H5P_DEFAULT), 0) << name;
    }
    EXPECT_LT(H5Ldelete(group.get(), "/_slablog/index0", H5P_DEFAULT), 0);
    handle(H5Gcreate2(group.get(), "_slablog", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    EXPECT_GE(H5Ldelete(group.get(), "_slablog", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(group.get(), "_slablog", H5P_DEFAULT), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "g/d"), ElementsAre(1, 2, 3));
}

TEST_F(Semantics, WhatALogCannotAnswerIsRefusedWithItsReason) {
  const auto file = create("a.h5");
  const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 2;
  H5Pset_chunk(list.get(), 1, &chunk);
  const auto d = dataset(file, "d", {4}, H5T_NATIVE_INT, list.get());
  hsize_t chunks = 0;
  EXPECT_LT(H5Dget_num_chunks(d.get(), H5S_ALL, &chunks), 0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("slablog keeps no chunks"));
  EXPECT_LT(H5Fget_file_image(file.get(), nullptr, 0), 0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("when it is closed"));
}

TEST_F(Semantics, ReadersBesideTheWriterAreNotPromisedALog) {
  if (rank() != 0) return;  // HDF5 has no such writers in parallel
  const auto list = access("", false);
  H5Pset_libver_bounds(list.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const auto made = [&](const char* name, unsigned flags) {
    return handle(H5Fcreate(path(name).c_str(), flags, H5P_DEFAULT, list.get()), H5Fclose);
  };
  made("swmr.h5", H5F_ACC_TRUNC | H5F_ACC_SWMR_WRITE);
  EXPECT_EQ(H5Lexists(open_plainly("swmr.h5").get(), "_slablog", H5P_DEFAULT), 0);
  {
    const auto file = made("a.h5", H5F_ACC_TRUNC);
    dataset(file, "d", {3});
    EXPECT_LT(H5Fstart_swmr_write(file.get()), 0);
    EXPECT_THAT(reason(), ::testing::HasSubstr("nobody can read while it is written"));
  }
  EXPECT_LT(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, list.get()), 0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("nobody can read while it is written"));
  EXPECT_GE(opened(open_plainly("a.h5"), "d").get(), 0);
}

TEST_F(Semantics, AFullBufferSpillsAndIsReadAndFlushedAllTheSame) {
  const hsize_t n = 3000;
  const auto count = static_cast<hsize_t>(ranks());
  {
    const auto file = create("a.h5", "buffer=1K");
    const auto d = dataset(file, "d", {n * count});
    for (hsize_t i = 0; i < n; ++i) {
      ASSERT_GE(write_n(d, {{i * count + mine()}}, {{1}}, {static_cast<int>(i)}), 0);
    }
    EXPECT_THAT(read_n(d, {{1234 * count + mine()}}, {{1}}, 1), ElementsAre(1234));
  }
  std::vector<int> expected(n * count);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i / count);
  EXPECT_EQ(all_plainly("a.h5", "d"), expected);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch_.path()), {}),
            1);  // nothing is left
}

TEST_F(Semantics, AttributesLinksAndReferencesToADatasetStayValid) {
  {
    const auto file = create("a.h5");
    const auto group =
        handle(H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    const auto d = dataset(group, "d", {2});
    const auto scalar = handle(H5Screate(H5S_SCALAR), H5Sclose);
    const auto unit =
        handle(H5Acreate2(d.get(), "unit", H5T_NATIVE_INT, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
               H5Aclose);
    const int value = 3;
    ASSERT_GE(H5Awrite(unit.get(), H5T_NATIVE_INT, &value), 0);
    ASSERT_GE(H5Lcreate_hard(file.get(), "g/d", file.get(), "other", H5P_DEFAULT, H5P_DEFAULT), 0);
    ASSERT_GE(H5Lmove(file.get(), "g/d", file.get(), "g/renamed", H5P_DEFAULT, H5P_DEFAULT), 0);
    const auto reference = handle(
        H5Acreate2(group.get(), "ref", H5T_STD_REF_OBJ, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    hobj_ref_t to_d = 0;
    ASSERT_GE(H5Rcreate(&to_d, file.get(), "other", H5R_OBJECT, H5I_INVALID_HID), 0);
    ASSERT_GE(H5Awrite(reference.get(), H5T_STD_REF_OBJ, &to_d), 0);
    ASSERT_GE(write_n(d, {{0}}, {{2}}, {8, 9}), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "other"), ElementsAre(8, 9));
  const auto file = open_plainly("a.h5");
  const auto d = opened(file, "g/renamed");
  EXPECT_GT(H5Aexists(d.get(), "unit"), 0);
  const auto reference =
      handle(H5Aopen_by_name(file.get(), "g", "ref", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  hobj_ref_t to_d = 0;
  ASSERT_GE(H5Aread(reference.get(), H5T_STD_REF_OBJ, &to_d), 0);
  const auto pointed =
      handle(H5Rdereference2(file.get(), H5P_DEFAULT, H5R_OBJECT, &to_d), H5Dclose);
  EXPECT_THAT(all(pointed), ElementsAre(8, 9));
}

TEST_F(Semantics, WriteMultiMovesSeveralDatasets) {
  {
    const auto file = create("a.h5");
    const auto a = dataset(file, "a", {2});
    const auto b = dataset(file, "b", {3});
    hid_t datasets[] = {a.get(), b.get()};
    hid_t types[] = {H5T_NATIVE_INT, H5T_NATIVE_INT};
    hid_t spaces[] = {H5S_ALL, H5S_ALL};
    const int first[] = {1, 2};
    const int second[] = {3, 4, 5};
    const void* buffers[] = {first, second};
    ASSERT_GE(H5Dwrite_multi(2, datasets, types, spaces, spaces, H5P_DEFAULT, buffers), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "a"), ElementsAre(1, 2));
  EXPECT_THAT(all_plainly("a.h5", "b"), ElementsAre(3, 4, 5));
}

TEST_F(Semantics, WriteNOnAFileWithoutTheConnectorIsOneNativeWrite) {
  const auto list = access(nullptr);
  {
    const auto file =
        handle(H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
    const auto d = dataset(file, "d", {2, 5});
    if (rank() == 0) {
      ASSERT_GE(
          write_n(d, {{1, 1}, {0, 3}, {1, 2}}, {{1, 3}, {2, 2}, {1, 1}}, {1, 2, 3, 4, 5, 6, 7, 8}),
          0);
    }
    EXPECT_LT(write_n(d, {{0, 4}}, {{1, 2}}, {1, 2}), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(0, 0, 0, 4, 5, 0, 1, 8, 6, 7));
  const auto file = open_plainly("a.h5");
  const auto d = opened(file, "d");
  EXPECT_THAT(read_n(d, {{1, 2}, {0, 3}}, {{1, 2}, {2, 1}}, 4), ElementsAre(8, 6, 4, 6));
}

TEST_F(Semantics, WriteNOfALogGoesThroughTheConnectorsOwnOperation) {
  const auto file = create("a.h5");
  const auto d = dataset(file, "d", {4});
  const hsize_t start = 1;
  const hsize_t count = 2;
  const hsize_t* starts[] = {&start};
  const hsize_t* counts[] = {&count};
  int values[] = {5, 6};
  slablog_n_args args = {H5T_NATIVE_INT, 1, starts, counts, values, 0};
  EXPECT_EQ(slablog_try(SLABLOG_WRITE_N, d.get(), &args, H5P_DEFAULT), 1);
  EXPECT_THAT(all(d), ElementsAre(0, 5, 6, 0));
}

TEST_F(Semantics, ADatasetThatShrankAndGrewAgainHoldsFillValuesThere) {
  {
    const auto file = create("a.h5");
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const Dims chunk = {2, 2};
    H5Pset_chunk(list.get(), 2, chunk.data());
    const auto d =
        dataset(file, "d", {2, 3}, H5T_NATIVE_INT, list.get(), {H5S_UNLIMITED, H5S_UNLIMITED});
    const std::vector<int> values = {1, 2, 3, 4, 5, 6};
    ASSERT_GE(H5Dwrite(d.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    const Dims small = {2, 2};
    ASSERT_GE(H5Dset_extent(d.get(), small.data()), 0);
    const Dims large = {3, 3};
    ASSERT_GE(H5Dset_extent(d.get(), large.data()), 0);
    EXPECT_THAT(all(d), ElementsAre(1, 2, 0, 4, 5, 0, 0, 0, 0));
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(1, 2, 0, 4, 5, 0, 0, 0, 0));
  const auto file = open("a.h5");
  EXPECT_THAT(all(opened(file, "d")), ElementsAre(1, 2, 0, 4, 5, 0, 0, 0, 0));
}

TEST_F(Semantics, AFileIsContinuedInALaterSession) {
  for (int session = 0; session < 3; ++session) {
    const auto file = session == 0 ? create("a.h5") : open("a.h5", H5F_ACC_RDWR);
    const auto d = session == 0 ? dataset(file, "d", {4}) : opened(file, "d");
    if (rank() == 0) {
      ASSERT_GE(write_n(d, {{static_cast<hsize_t>(session)}}, {{2}}, {session + 1, session + 1}),
                0);
    }
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(1, 2, 3, 3));
}

TEST_F(Semantics, AMaterialisedDatasetIsContiguousAndOneAboveTheCapToo) {
  for (const char* options : {"view=materialise", "cap=2"}) {
    {
      const auto file = create("a.h5", options);
      const auto d = dataset(file, "d", {4 * static_cast<hsize_t>(ranks())});
      const auto at = 4 * mine();
      ASSERT_GE(write_n(d, {{at}, {at + 2}, {at + 3}}, {{1}, {1}, {1}}, {1, 2, 3}), 0);
      ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
      ASSERT_GE(write_n(d, {{at}}, {{1}}, {4}), 0);
    }
    const auto values = all_plainly("a.h5", "d");
    EXPECT_THAT(std::vector<int>(values.end() - 4, values.end()), ElementsAre(4, 0, 2, 3));
    const auto file = open_plainly("a.h5");
    const auto view = opened(file, "/_slablog/d0.view");
    const auto list = handle(H5Dget_create_plist(view.get()), H5Pclose);
    EXPECT_EQ(H5Pget_layout(list.get()), H5D_CONTIGUOUS) << options;
    world_.barrier();
  }
}

TEST_F(Semantics, ManyScatteredHyperslabsInTwoDimensionsAreViewedRight) {
  const hsize_t columns = 1500 * static_cast<hsize_t>(ranks());
  std::vector<int> expected(3 * columns, 0);
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {3, columns});
    std::vector<Dims> starts;
    std::vector<Dims> counts;
    std::vector<int> values;
    for (hsize_t row = 0; row < 3; ++row) {
      for (hsize_t c = 0; c < columns; ++c) {
        // Every second column, and in row 1 others than elsewhere.
        if ((c + (row == 1 ? 1 : 0)) % 2 != 0) continue;
        const auto value = static_cast<int>(row * columns + c + 1);
        expected[row * columns + c] = value;
        if (c / 2 % static_cast<hsize_t>(ranks()) != mine()) continue;
        starts.push_back({row, c});
        counts.push_back({1, 1});
        values.push_back(value);
      }
    }
    ASSERT_GE(write_n(d, starts, counts, values), 0);
  }
  EXPECT_EQ(all_plainly("a.h5", "d"), expected);
  const auto file = open("a.h5");
  EXPECT_EQ(all(opened(file, "d")), expected);
}

TEST_F(Semantics, DatasetsOfALogAreMadeAndOpenedWithoutDuplicatesOfCommunicators) {
  auto file = create("a.h5");
  EXPECT_GT(duplicates, 0);
  int before = duplicates;
  for (const char* name : {"a", "b", "c"}) dataset(file, name, {4});
  EXPECT_EQ(duplicates, before);
  file = {};
  file = open("a.h5");
  before = duplicates;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_THAT(all(opened(file, name)), Each(0));
    EXPECT_THAT(all(handle(H5Oopen(file.get(), name, H5P_DEFAULT), H5Oclose)), Each(0));
  }
  EXPECT_EQ(duplicates, before);
}

TEST_F(Semantics, AFileThatIsBeingWrittenThroughMpiIoIsNotOpenedAgain) {
  auto file = create("a.h5");
  auto one = dataset(file, "d", {4});
  const auto list = access("");
  EXPECT_LT(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, list.get()), 0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("open for writing in this program already"));
  write_n(one, {{0}}, {{4}}, {1, 2, 3, 4});
  one = {};
  EXPECT_GE(H5Fclose(file.release()), 0);
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(open("a.h5", H5F_ACC_RDWR).is_open());
}

TEST_F(Semantics, WhereAFileCannotBeOpenedHdf5SaysWhy) {
  for (const char* options : {"", "layout=canonical"}) {
    const auto list = access(options, false);
    EXPECT_LT(H5Fopen(path("absent.h5").c_str(), H5F_ACC_RDWR, list.get()), 0);
    EXPECT_THAT(reason(), ::testing::HasSubstr("No such file or directory"));
    EXPECT_LT(H5Fcreate(path("").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), 0);
    EXPECT_THAT(reason(), ::testing::HasSubstr("Is a directory"));
  }
}

// HDF5 would duplicate a communicator on the rank that writes, and wait for the others.
TEST_F(Semantics, WhatAnExternalLinkLeadsToInAClosedLogIsRefusedToOneRankWithAReason) {
  {
    const auto other = create("b.h5");
    const auto d = dataset(other, "d", {3});
    ASSERT_GE(write_n(d, {{0}}, {{3}}, {1, 2, 3}), 0);
  }
  const auto file = create("a.h5");
  ASSERT_GE(
      H5Lcreate_external(path("b.h5").c_str(), "/d", file.get(), "l", H5P_DEFAULT, H5P_DEFAULT), 0);
  const auto linked = opened(file, "l");
  if (rank() == 0) {
    std::vector<int> values(3, 9);
    EXPECT_LT(H5Dwrite(linked.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              0);
    EXPECT_THAT(reason(), ::testing::HasSubstr("open that file itself"));
    EXPECT_LT(H5Dread(linked.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              0);
  }
}

}  // namespace
}  // namespace slabmark::slablog
