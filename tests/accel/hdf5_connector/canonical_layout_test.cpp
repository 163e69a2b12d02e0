// The canonical layout: what is written through the connector is in the datasets' own space once it
// is flushed, in a file that has nothing of the connector.
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class CanonicalLayout : public LogFileTest {
 protected:
  static constexpr const char* canonical = "layout=canonical";

  hdf5::Handle create_canonical(const std::string& name = "a.h5") const {
    return create(name, canonical);
  }

  /// Alone, through the connector, with the POSIX driver.
  hdf5::Handle create_alone(const std::string& name, hid_t creation = H5P_DEFAULT) const {
    const auto list = access(canonical, false);
    return handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, creation, list.get()), H5Fclose);
  }

  std::string bytes_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The elements of one byte of a contiguous dataset, past HDF5.
  std::string bytes_at(const std::string& name, const hdf5::Handle& dataset, std::size_t n) const {
    const auto offset = H5Dget_offset(dataset.get());
    return offset == HADDR_UNDEF ? "" : bytes_of(name).substr(offset, n);
  }

  static herr_t put(const hdf5::Handle& dataset, hsize_t first, std::vector<int> values,
                    hid_t list = H5P_DEFAULT) {
    const auto n = values.size();
    return write_n(dataset, {{first}}, {{n}}, std::move(values), list);
  }
};

TEST_F(CanonicalLayout, OthersSeeWhatARankWroteOnceItIsFlushedAndNotBefore) {
  const auto file = create_canonical();
  const auto d = dataset(file, "d", {2 * static_cast<hsize_t>(ranks())});
  ASSERT_GE(put(d, 2 * mine(), {rank() + 1, -rank() - 1}), 0);
  EXPECT_THAT(read_n(d, {{2 * mine()}}, {{2}}, 2), ElementsAre(rank() + 1, -rank() - 1));
  world_.barrier();
  const auto next = static_cast<hsize_t>((rank() + 1) % ranks());
  if (ranks() > 1) {
    EXPECT_THAT(read_n(d, {{2 * next}}, {{2}}, 2), ElementsAre(0, 0));
  }
  world_.barrier();
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  EXPECT_THAT(read_n(d, {{2 * next}}, {{2}}, 2),
              ElementsAre(static_cast<int>(next) + 1, -static_cast<int>(next) - 1));
}

class CanonicalElements : public CanonicalLayout, public testing::WithParamInterface<bool> {
 protected:
  /// Chunks with filters, or none.
  static hdf5::Handle creation() {
    auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = 3;
    if (GetParam()) {
      H5Pset_chunk(list.get(), 1, &chunk);
      H5Pset_shuffle(list.get());
      H5Pset_deflate(list.get(), 1);
    }
    return list;
  }
};

INSTANTIATE_TEST_SUITE_P(InChunks, CanonicalElements, testing::Bool());

TEST_P(CanonicalElements, OfAnySizeGoToTheirPlaces) {
  const hsize_t each = 5;
  const std::vector<std::size_t> sizes = {1, 2, 3, 4, 6, 8, 12, 16, 24, 40};
  const hsize_t n = each * static_cast<hsize_t>(ranks());
  const auto value = [](std::size_t size, hsize_t element) {
    return std::string(size, static_cast<char>('a' + (size + element) % 26));
  };
  {
    const auto file = create_canonical();
    for (const auto size : sizes) {
      const auto type = handle(H5Tcreate(H5T_OPAQUE, size), H5Tclose);
      const auto d = dataset(file, std::to_string(size).c_str(), {n}, type.get(), creation().get());
      const auto all = handle(H5Dget_space(d.get()), H5Sclose);
      // By turns, and in two calls the second half.
      for (const hsize_t first : {hsize_t{0}, each / 2}) {
        const hsize_t start = mine() + first * static_cast<hsize_t>(ranks());
        const hsize_t stride = static_cast<hsize_t>(ranks());
        const hsize_t count = each - first;
        H5Sselect_hyperslab(all.get(), H5S_SELECT_SET, &start, &stride, &count, nullptr);
        const auto memory = handle(H5Screate_simple(1, &count, nullptr), H5Sclose);
        std::string data;
        for (hsize_t i = 0; i < count; ++i) data += value(size, start + i * stride);
        ASSERT_GE(H5Dwrite(d.get(), type.get(), memory.get(), all.get(), H5P_DEFAULT, data.data()),
                  0);
        ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
      }
    }
  }
  const auto file = open_plainly("a.h5");
  for (const auto size : sizes) {
    const auto type = handle(H5Tcreate(H5T_OPAQUE, size), H5Tclose);
    std::string data(n * size, '?');
    std::string expected;
    for (hsize_t i = 0; i < n; ++i) expected += value(size, i);
    const auto d = opened(file, std::to_string(size).c_str());
    ASSERT_GE(H5Dread(d.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), 0);
    EXPECT_EQ(data, expected) << size;
  }
}

TEST_F(CanonicalLayout, AnOrdinaryFileIsWrittenIntoAndWhatNobodyWritesStays) {
  const std::vector<int> all_written = {5, 5, 5, 1, 2, 5, 5, 5, 5, 5, 5, 5};
  const std::vector<int> only_written = {9, 9, 9, 1, 2, 9, 9, 9, 9, 9, 9, 9};
  for (const hsize_t user_block : {0, 512}) {
    if (rank() == 0) {
      const auto list = access(nullptr, false);
      const auto properties = handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
      H5Pset_userblock(properties.get(), user_block);
      const auto file = handle(
          H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, properties.get(), list.get()), H5Fclose);
      const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      const auto make = [&](const char* name) {
        return dataset(file, name, {12}, H5T_NATIVE_INT, creation.get());
      };
      const std::vector<int> before(12, 5);
      ASSERT_GE(put(make("written"), 0, before), 0);
      const int fill = 9;
      H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill);
      make("unwritten");
      const hsize_t chunk = 5;
      H5Pset_chunk(creation.get(), 1, &chunk);
      ASSERT_GE(put(make("chunked"), 0, before), 0);
      H5Pset_deflate(creation.get(), 1);
      ASSERT_GE(put(make("filtered"), 0, before), 0);
    }
    world_.barrier();
    {
      const auto file = open("a.h5", H5F_ACC_RDWR, canonical);
      for (const char* name : {"written", "unwritten", "chunked", "filtered"}) {
        const auto d = opened(file, name);
        if (rank() != ranks() - 1) continue;
        ASSERT_GE(put(d, 3, {1, 2}), 0);
        if (name == std::string("unwritten")) {
          EXPECT_EQ(all(d), only_written);
        }
      }
    }
    for (const char* name : {"written", "chunked", "filtered"}) {
      EXPECT_EQ(all_plainly("a.h5", name), all_written) << name << " behind " << user_block;
    }
    EXPECT_EQ(all_plainly("a.h5", "unwritten"), only_written);
    world_.barrier();
  }
}

TEST_F(CanonicalLayout, AFileWithALogIsNotWrittenAndSaysWhatToDo) {
  dataset(create("a.h5"), "d", {4});
  const auto list = access(canonical);
  EXPECT_LT(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, list.get()), 0);
  EXPECT_THAT(reason(), ::testing::HasSubstr("has a log, which layout=canonical does not write"));
  const auto file = open("a.h5", H5F_ACC_RDONLY, canonical);
  EXPECT_THAT(all(opened(file, "d")), ElementsAre(0, 0, 0, 0));
}

TEST_F(CanonicalLayout, ADatasetThatIsDeletedOrMovedWhileItsElementsWaitHarmsNoOther) {
  {
    const auto file = create_canonical();
    for (const char* name : {"gone", "moved"}) {
      const auto d = dataset(file, name, {static_cast<hsize_t>(ranks())});
      if (rank() == 0) {
        ASSERT_GE(put(d, 0, {7}), 0);
      }
    }
    ASSERT_GE(H5Ldelete(file.get(), "gone", H5P_DEFAULT), 0);
    ASSERT_GE(H5Lmove(file.get(), "moved", file.get(), "here", H5P_DEFAULT, H5P_DEFAULT), 0);
    const auto d = dataset(file, "gone", {static_cast<hsize_t>(ranks())});
    ASSERT_GE(put(d, mine(), {3}), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "gone"), Each(3));
  EXPECT_EQ(all_plainly("a.h5", "here")[0], 7);
}

TEST_F(CanonicalLayout, OneProcessAloneGetsTheBytesThatHdf5WouldHaveWritten) {
  if (rank() > 0) return;
  const auto write = [&](const hdf5::Handle& file) {
    const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.get(), false);
    const auto e = dataset(file, "e", {20}, H5T_NATIVE_INT, creation.get());
    const auto never = dataset(file, "never", {20}, H5T_NATIVE_INT, creation.get());
    const int fill = 4;
    H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill);
    const auto d = dataset(file, "d", {30}, H5T_NATIVE_INT, creation.get());
    for (hsize_t i = 0; i < 20; i += 3) {
      ASSERT_GE(put(e, 19 - i, {static_cast<int>(i)}), 0);
      ASSERT_GE(put(d, i, {static_cast<int>(i), -1}), 0);
    }
    EXPECT_GT(H5Dget_storage_size(d.get()), 0u);
    EXPECT_EQ(H5Dget_storage_size(never.get()), 0u);
    ASSERT_GE(put(d, 4, {50}), 0);
  };
  const auto plain = access(nullptr, false);
  // The root group's, too: a second may turn between the two files.
  const auto without_times = handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(without_times.get(), false);
  write(
      handle(H5Fcreate(path("native.h5").c_str(), H5F_ACC_TRUNC, without_times.get(), plain.get()),
             H5Fclose));
  write(create_alone("canonical.h5", without_times.get()));
  EXPECT_TRUE(bytes_of("canonical.h5") == bytes_of("native.h5"));
}

TEST_F(CanonicalLayout, WhatHdf5LooksAtItselfIsThereInTime) {
  if (rank() > 0) return;
  const auto file = create_alone("a.h5");
  const auto d = dataset(file, "d", {4}, H5T_STD_I8LE);
  ASSERT_GE(put(d, 0, {'a', 'b', 'c', 'd'}), 0);
  EXPECT_EQ(bytes_at("a.h5", d, 4), "abcd");
  ASSERT_GE(put(d, 1, {'x'}), 0);
  ASSERT_GE(H5Ocopy(file.get(), "d", file.get(), "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_THAT(all(opened(file, "copy")), ElementsAre('a', 'x', 'c', 'd'));
  ASSERT_GE(put(d, 2, {'y'}), 0);
  std::string image(static_cast<std::size_t>(H5Fget_file_image(file.get(), nullptr, 0)), '?');
  ASSERT_GE(H5Fget_file_image(file.get(), image.data(), image.size()), 0);
  EXPECT_NE(image.find("axyd"), std::string::npos);
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 2;
  H5Pset_chunk(creation.get(), 1, &chunk);
  const auto c = dataset(file, "c", {2}, H5T_STD_I8LE, creation.get(), {H5S_UNLIMITED});
  ASSERT_GE(put(c, 0, {'z'}), 0);
  H5O_native_info_t info{};
  ASSERT_GE(H5Oget_native_info(c.get(), &info, H5O_NATIVE_INFO_META_SIZE), 0);
  EXPECT_GT(info.meta_size.obj.index_size, 0u);
  const auto list = handle(H5Fget_access_plist(file.get()), H5Pclose);
  std::size_t sieve = 0;
  H5Pget_sieve_buf_size(list.get(), &sieve);
  EXPECT_EQ(sieve, 64u << 10);
}

/// A filter that changes every element, and fails where the first is negative.
constexpr H5Z_filter_t flipping_filter = 300;

std::size_t flip(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                 void** data) {
  auto* const first = static_cast<int*>(*data);
  if ((flags & H5Z_FLAG_REVERSE) == 0 && *first < 0) return 0;
  std::for_each(first, first + bytes / sizeof(int), [](int& element) { element ^= 0x55; });
  return bytes;
}

TEST_F(CanonicalLayout, AParallelFileSaysThatItIsOpenThroughMpiIo) {
  const auto file = create("a.h5", "layout=canonical");
  const auto list = handle(H5Fget_access_plist(file.get()), H5Pclose);
  EXPECT_EQ(H5Pget_driver(list.get()), H5FD_MPIO);
}

TEST_F(CanonicalLayout, AMandatoryFilterThatFailsKeepsNothingButItsChunksFromTheFile) {
  register_filter(flipping_filter, "flipping", flip);
  const hsize_t chunk = 2;
  const hsize_t n = chunk * static_cast<hsize_t>(ranks());
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.get(), 1, &chunk);
  ASSERT_GE(H5Pset_filter(creation.get(), flipping_filter, H5Z_FLAG_MANDATORY, 0, nullptr), 0);
  for (const bool alone : {false, true}) {
    if (alone && rank() > 0) continue;
    const auto list = access(canonical, !alone);
    H5Pset_cache(list.get(), 0, 0, 0, 0);  // or HDF5 puts filters off
    const char* name = alone ? "b.h5" : "a.h5";
    const auto file =
        handle(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
    const auto bad = dataset(file, "bad", {n}, H5T_NATIVE_INT, creation.get());
    const auto good = dataset(file, "good", {n}, H5T_NATIVE_INT, creation.get());
    const auto plain = dataset(file, "plain", {4 * n}, H5T_STD_I8LE);
    const int first = rank() + 1;
    // The chunk of rank 0 fails.
    ASSERT_GE(put(bad, 2 * mine(), {rank() == 0 ? -1 : first, 5}), 0);
    ASSERT_GE(put(good, 2 * mine(), {first, 6}), 0);
    ASSERT_GE(put(plain, 8 * mine(), {'u', 'n', 'l', 'i', 'k', 'e', 'l', 'y'}), 0);
    ASSERT_LT(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    if (!alone) world_.barrier();
    EXPECT_NE(bytes_of(name).find("unlikely"), std::string::npos);
    EXPECT_GT(H5Dget_storage_size(good.get()), 0u);
    ASSERT_GE(put(bad, 2 * mine(), {first}), 0);
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    EXPECT_EQ(all(bad)[0], 1);
    EXPECT_EQ(all(bad)[1], 5);
    EXPECT_EQ(all(good)[1], 6);
  }
}

TEST_F(CanonicalLayout, ChunksAreReadByTheFiltersThatTheyWentThrough) {
  register_filter(flipping_filter, "flipping", flip);
  const hsize_t chunk = 2;
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.get(), 1, &chunk);
  ASSERT_GE(H5Pset_filter(creation.get(), flipping_filter, H5Z_FLAG_OPTIONAL, 0, nullptr), 0);
  const auto file = create_canonical();
  const auto d =
      dataset(file, "d", {4 * static_cast<hsize_t>(ranks())}, H5T_NATIVE_INT, creation.get());
  const auto e =
      dataset(file, "e", {4 * static_cast<hsize_t>(ranks())}, H5T_NATIVE_INT, creation.get());
  auto alone = dataset(file, "alone", {chunk}, H5T_NATIVE_INT, creation.get());
  for (const auto* both : {&d, &e}) {
    ASSERT_GE(put(*both, 4 * mine(), {1, rank(), -1, rank()}), 0);
  }
  if (rank() == 0) {
    ASSERT_GE(put(alone, 0, {-1, 5}), 0);
  }
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  EXPECT_THAT(all(alone), ElementsAre(-1, 5));
  if (rank() == 0) {
    ASSERT_GE(put(alone, 1, {6}), 0);
    ASSERT_GE(put(d, 2, {-2}), 0);
  }
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  EXPECT_THAT(all(alone), ElementsAre(-1, 6));
  if (rank() % 2 == 1) alone = {};
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  if (rank() % 2 == 1) alone = opened(file, "alone");
  const auto together = handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(together.get(), H5FD_MPIO_COLLECTIVE);
  std::vector<int> found(chunk);
  ASSERT_GE(H5Dread(alone.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together.get(), found.data()),
            0);
  EXPECT_THAT(found, ElementsAre(-1, 6));
  for (int other = 0; other < ranks(); ++other) {
    const auto first = 4 * static_cast<hsize_t>(other);
    EXPECT_THAT(read_n(d, {{first}}, {{4}}, 4), ElementsAre(1, other, other == 0 ? -2 : -1, other));
    EXPECT_THAT(read_n(e, {{first}}, {{4}}, 4), ElementsAre(1, other, -1, other));
  }
}

// HDF5 makes room for a cache of chunks that it does not use where others may write them.
TEST_F(CanonicalLayout, TheCacheOfChunksIsWhatTheProgramWantsItToBe) {
  const auto list = access(canonical);
  H5Pset_cache(list.get(), 0, 31, 1000, .5);
  const auto file =
      handle(H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 3;
  H5Pset_chunk(creation.get(), 1, &chunk);
  const auto made = dataset(file, "d", {10}, H5T_NATIVE_INT, creation.get());
  const auto again = opened(file, "d");
  for (const auto one : {made.get(), again.get()}) {
    const auto found = handle(H5Dget_access_plist(one), H5Pclose);
    std::size_t slots = 0;
    std::size_t bytes = 0;
    double preemption = 0;
    ASSERT_GE(H5Pget_chunk_cache(found.get(), &slots, &bytes, &preemption), 0);
    EXPECT_EQ(std::tuple(slots, bytes, preemption), std::tuple(31u, 1000u, .5));
  }
}

TEST_F(CanonicalLayout, ACopyHoldsWhatAllRanksWrote) {
  const auto file = create_canonical();
  const auto d = dataset(file, "d", {static_cast<hsize_t>(ranks())});
  ASSERT_GE(put(d, mine(), {rank()}), 0);
  ASSERT_GE(H5Ocopy(file.get(), "d", file.get(), "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
  std::vector<int> expected(static_cast<std::size_t>(ranks()));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all(opened(file, "copy")), expected);
}

TEST_F(CanonicalLayout, OneProcessAloneWritesChunksInAnyOrderAndWhatIsNotWrittenStays) {
  if (rank() > 0) return;
  const hsize_t rows = 10;
  const hsize_t columns = 13;
  const auto write = [&](const hdf5::Handle& file) {
    const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk[] = {4, 5};
    const int fill = 7;
    H5Pset_chunk(creation.get(), 2, chunk);
    H5Pset_deflate(creation.get(), 1);
    H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill);
    const auto d = dataset(file, "d", {rows, columns}, H5T_NATIVE_INT, creation.get(),
                           {H5S_UNLIMITED, columns});
    const auto column = [&](hsize_t which, int from) {
      std::vector<int> values(rows);
      std::iota(values.begin(), values.end(), from);
      ASSERT_GE(write_n(d, {{0, which}}, {{rows, 1}}, values), 0);
    };
    for (const hsize_t which : {12, 3, 0, 9, 1}) column(which, static_cast<int>(100 * which));
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    column(3, 5000);
    ASSERT_GE(write_n(d, {{4, 5}}, {{4, 5}}, std::vector<int>(20, 6)), 0);  // a whole chunk
    const hsize_t more[] = {rows + 3, columns};
    ASSERT_GE(H5Dset_extent(d.get(), more), 0);
    ASSERT_GE(write_n(d, {{rows + 1, 2}}, {{1, 3}}, {-1, -2, -3}), 0);
    EXPECT_EQ(all(d)[3], 5000);
  };
  const auto plain = access(nullptr, false);
  write(handle(H5Fcreate(path("native.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, plain.get()),
               H5Fclose));
  for (const char* buffer : {"layout=canonical", "layout=canonical;buffer=60"}) {
    const auto list = access(buffer, false);
    write(handle(H5Fcreate(path("canonical.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()),
                 H5Fclose));
    const auto native = opened(open_plainly("native.h5"), "d");
    const auto ours = opened(open_plainly("canonical.h5"), "d");
    EXPECT_EQ(all(ours), all(native));
    EXPECT_EQ(H5Dget_storage_size(ours.get()), H5Dget_storage_size(native.get()));
  }
}

// HDF5 2.2.0 fails there where no chunk of the dataset has space yet.
TEST_F(CanonicalLayout, ADatasetWhoseEdgesSkipTheFiltersGrowsWhileItsElementsWait) {
  const auto file = create_canonical();
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 4;
  H5Pset_chunk(creation.get(), 1, &chunk);
  H5Pset_deflate(creation.get(), 1);
  H5Pset_chunk_opts(creation.get(), H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  const auto length = 2 * static_cast<hsize_t>(ranks());
  const auto d = dataset(file, "d", {length}, H5T_NATIVE_INT, creation.get(), {H5S_UNLIMITED});
  ASSERT_GE(put(d, 2 * mine(), {rank(), rank()}), 0);
  std::vector<int> expected;
  for (int i = 0; i < ranks(); ++i) expected.insert(expected.end(), 2, i);
  for (const hsize_t longer : {length + 3, length + 7}) {
    ASSERT_GE(H5Dset_extent(d.get(), &longer), 0);
    ASSERT_GE(write_n(d, {{longer - 1}}, {{1}}, {77}), 0);
    expected.resize(longer);
    expected.back() = 77;
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  }
  EXPECT_EQ(all(d), expected);
}

TEST_F(CanonicalLayout, OneProcessAloneSeesWhatWaitsThroughAVirtualDatasetWithoutAnEnd) {
  if (rank() > 0) return;
  const auto file = create_alone("a.h5");
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 4;
  H5Pset_chunk(creation.get(), 1, &chunk);
  const auto d = dataset(file, "d", {3}, H5T_NATIVE_INT, creation.get(), {H5S_UNLIMITED});
  const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t first = 0;
  const hsize_t count = H5S_UNLIMITED;
  const auto endless = handle(H5Dget_space(d.get()), H5Sclose);
  ASSERT_GE(H5Sselect_hyperslab(endless.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
            0);
  ASSERT_GE(H5Pset_virtual(list.get(), endless.get(), ".", "/d", endless.get()), 0);
  const auto shown = dataset(file, "shown", {3}, H5T_NATIVE_INT, list.get(), {H5S_UNLIMITED});
  ASSERT_GE(put(d, 0, {1, 2, 3}), 0);
  EXPECT_THAT(all(shown), ElementsAre(1, 2, 3));
  const hsize_t longer = 5;
  ASSERT_GE(H5Dset_extent(d.get(), &longer), 0);
  ASSERT_GE(put(d, 3, {4, 5}), 0);
  EXPECT_THAT(all(shown), ElementsAre(1, 2, 3, 4, 5));
  ASSERT_GE(put(d, 0, {9}), 0);
  ASSERT_GE(H5Dwrite(shown.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     std::vector<int>{6, 7, 8, 9, 10}.data()),
            0);
  EXPECT_THAT(all(d), ElementsAre(6, 7, 8, 9, 10));
}

TEST_F(CanonicalLayout, ADatasetWithFiltersIsMadeSmallerAndKeepsWhatIsNotCut) {
  const auto file = create_canonical();
  const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk[] = {4, 3};
  const int fill = 7;
  H5Pset_chunk(creation.get(), 2, chunk);
  H5Pset_deflate(creation.get(), 1);
  H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &fill);
  const auto d = dataset(file, "d", {10, 7}, H5T_NATIVE_INT, creation.get(), {H5S_UNLIMITED, 9});
  for (int row = rank(); row < 10; row += ranks()) {
    std::vector<int> values(7);
    std::iota(values.begin(), values.end(), 10 * row);
    ASSERT_GE(write_n(d, {{static_cast<hsize_t>(row), 0}}, {{1, 7}}, values), 0);
  }
  // Cut, cut again, longer in one dimension while the other is cut, and back.
  for (const auto& extent : std::vector<Dims>{{10, 5}, {6, 5}, {3, 9}, {10, 7}}) {
    ASSERT_GE(H5Dset_extent(d.get(), extent.data()), 0);
  }
  std::vector<int> expected(70, fill);
  for (std::size_t row = 0; row < 3; ++row) {
    std::iota(&expected[7 * row], &expected[7 * row + 5], 10 * static_cast<int>(row));
  }
  const hsize_t too_large[] = {1, 10};
  EXPECT_LT(H5Dset_extent(d.get(), too_large), 0);
  EXPECT_EQ(all(d), expected);
}

// As netCDF-4 opens files: no rank may ask HDF5 for a chunk alone then.
TEST_F(CanonicalLayout, ChunksAreCompletedAndCutAlsoWhereMetadataIsReadCollectively) {
  const hsize_t length = 5 * static_cast<hsize_t>(ranks());
  {
    const auto list = access(canonical);
    H5Pset_all_coll_metadata_ops(list.get(), true);
    const auto file =
        handle(H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
    const auto creation = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = 7;
    H5Pset_chunk(creation.get(), 1, &chunk);
    H5Pset_deflate(creation.get(), 1);
    const auto d = dataset(file, "d", {length}, H5T_NATIVE_INT, creation.get(), {H5S_UNLIMITED});
    ASSERT_GE(put(d, 5 * mine(), {1, 2}), 0);
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    ASSERT_GE(put(d, 5 * mine() + 2, {3, 4, 5}), 0);
    ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
    const hsize_t shorter = length - 2;
    ASSERT_GE(H5Dset_extent(d.get(), &shorter), 0);
  }
  const auto values = all_plainly("a.h5", "d");
  ASSERT_EQ(values.size(), length - 2);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 1 + i % 5) << i;
}

TEST_F(CanonicalLayout, OnlySomeMembersOfACompoundAreWritten) {
  struct Both {
    int a, b;
  };
  const auto both = handle(H5Tcreate(H5T_COMPOUND, sizeof(Both)), H5Tclose);
  H5Tinsert(both.get(), "a", offsetof(Both, a), H5T_NATIVE_INT);
  H5Tinsert(both.get(), "b", offsetof(Both, b), H5T_NATIVE_INT);
  const auto only_b = handle(H5Tcreate(H5T_COMPOUND, sizeof(int)), H5Tclose);
  H5Tinsert(only_b.get(), "b", 0, H5T_NATIVE_INT);
  const auto file = create_canonical();
  const auto d = dataset(file, "d", {3}, both.get());
  if (rank() == 0) {
    const Both values[] = {{1, 2}, {3, 4}, {5, 6}};
    ASSERT_GE(H5Dwrite(d.get(), both.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  }
  ASSERT_GE(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), 0);
  if (rank() == ranks() - 1) {
    const int values[] = {20, 40, 60};
    ASSERT_GE(H5Dwrite(d.get(), only_b.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    Both got[3] = {};
    ASSERT_GE(H5Dread(d.get(), both.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, got), 0);
    EXPECT_EQ(got[2].a, 5);
    EXPECT_EQ(got[2].b, 60);
  }
}

}  // namespace
}  // namespace slabmark::slablog
