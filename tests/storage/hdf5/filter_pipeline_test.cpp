#include "storage/hdf5/filter_pipeline.hpp"

#include <cstring>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/older.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::hdf5 {
namespace {

using testing::ElementsAreArray;

// A filter of a number that nobody has registered: it fails on chunks whose first byte is odd.
constexpr H5Z_filter_t moody_filter = 400;

std::size_t moody(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                  void** buffer) {
  return (*static_cast<const unsigned char*>(*buffer) & 1) != 0 ? 0 : bytes;
}

void register_moody() {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, moody_filter, 1,       1,
                               "moody",          nullptr,      nullptr, moody};
  ASSERT_GE(H5Zregister(&filter), 0);
}

class FilterPipelineTest : public testing::Test {
 protected:
  FilterPipelineTest() {
    silence();
    H5Pset_chunk(creation.get(), 2, lengths.data());
    for (std::size_t i = 0; i < chunk.size(); ++i)
      chunk[i] = 1000.0 + 0.25 * static_cast<double>(i);
  }

  const std::byte* data() const { return reinterpret_cast<const std::byte*>(chunk.data()); }

  /// What HDF5 stores of the chunk in a file.
  StoredChunk store(std::vector<std::byte>& bytes) const {
    const auto space = own(H5Screate_simple(2, lengths.data(), nullptr), H5Sclose, "space", "");
    const auto file = own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose, "H5Fcreate", path);
    const auto dataset = own(H5Dcreate2(file.get(), "d", H5T_NATIVE_DOUBLE, space.get(),
                                        H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                             H5Dclose, "H5Dcreate2", path);
    H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, chunk.data());
    const auto chunks = stored_chunks(dataset.get(), path);
    std::size_t room = chunks.at(0).bytes;
    bytes.resize(room);
    const hsize_t first[2] = {0, 0};
    std::uint32_t mask = 0;
    H5Dread_chunk2(dataset.get(), H5P_DEFAULT, first, &mask, bytes.data(), &room);
    return chunks.at(0);
  }

  void expect_what_a_file_gets() {
    std::vector<std::byte> stored;
    const StoredChunk entry = store(stored);
    FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
    ASSERT_EQ(pipeline.chunk_bytes(), sizeof(double) * chunk.size());
    for (int again = 0; again < 3; ++again) {
      const auto filtered = pipeline.apply(data(), to_scratch);
      EXPECT_EQ(filtered.mask, entry.mask);
      ASSERT_THAT(filtered.bytes, ElementsAreArray(stored));
      std::vector<double> back(chunk.size());
      const std::vector<std::byte> copy(filtered.bytes.begin(), filtered.bytes.end());
      pipeline.undo(copy, filtered.mask, reinterpret_cast<std::byte*>(back.data()));
      EXPECT_EQ(back, chunk);
    }
  }

  std::vector<std::byte> filtered_bytes;
  const FilterPipeline::Room to_scratch = [this](std::size_t bytes) {
    filtered_bytes.resize(bytes);
    return filtered_bytes.data();
  };
  Comm comm{MPI_COMM_SELF};
  Scratch scratch{comm};
  const std::string path = scratch.file("f.h5");
  const std::vector<hsize_t> lengths{16, 24};
  const Handle creation = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "");
  std::vector<double> chunk = std::vector<double>(16 * 24);
};

TEST_F(FilterPipelineTest, MakesOfAChunkWhatHdf5Stores) {
  H5Pset_shuffle(creation.get());
  H5Pset_deflate(creation.get(), 1);
  H5Pset_fletcher32(creation.get());
  expect_what_a_file_gets();
}

TEST_F(FilterPipelineTest, RunsSzip) {
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0) GTEST_SKIP() << "this HDF5 has no szip";
  H5Pset_szip(creation.get(), H5_SZIP_NN_OPTION_MASK, 8);
  expect_what_a_file_gets();
}

TEST_F(FilterPipelineTest, WithoutFiltersKeepsTheChunkAsItIs) { expect_what_a_file_gets(); }

TEST_F(FilterPipelineTest, DatasetsOfOneTypeWithEqualListsShareAPipeline) {
  H5Pset_shuffle(creation.get());
  const auto alike = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "");
  H5Pset_chunk(alike.get(), 2, lengths.data());
  H5Pset_shuffle(alike.get());
  PipelineCache pipelines;
  auto& first = pipelines.of(H5T_NATIVE_DOUBLE, creation.get());
  EXPECT_EQ(&pipelines.of(H5T_NATIVE_DOUBLE, alike.get()), &first);
  EXPECT_NE(&pipelines.of(H5T_NATIVE_FLOAT, alike.get()), &first);
  H5Pset_deflate(alike.get(), 1);
  EXPECT_NE(&pipelines.of(H5T_NATIVE_DOUBLE, alike.get()), &first);
  EXPECT_EQ(&pipelines.of(H5T_NATIVE_DOUBLE, creation.get()), &first);
}

TEST_F(FilterPipelineTest, LeavesAnOptionalFilterOutWhereItFailsAndSaysSoInTheMask) {
  register_moody();
  H5Pset_filter(creation.get(), moody_filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
  H5Pset_fletcher32(creation.get());
  expect_what_a_file_gets();
  FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
  EXPECT_EQ(pipeline.apply(data(), to_scratch).mask, 0u);
  auto odd = chunk;
  reinterpret_cast<unsigned char*>(odd.data())[0] = 1;
  const auto without = pipeline.apply(reinterpret_cast<const std::byte*>(odd.data()), to_scratch);
  EXPECT_EQ(without.mask, 1u);
  const std::vector<std::byte> copy(without.bytes.begin(), without.bytes.end());
  std::vector<double> back(chunk.size());
  pipeline.undo(copy, 1, reinterpret_cast<std::byte*>(back.data()));
  EXPECT_EQ(std::memcmp(back.data(), odd.data(), sizeof(double) * odd.size()), 0);
  EXPECT_EQ(pipeline.apply(data(), to_scratch).mask, 0u);
}

// Chunks of one size may have gone through different filters.
TEST_F(FilterPipelineTest, UndoesWhatTheMaskSaysWasDone) {
  H5Pset_shuffle(creation.get());
  FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
  const auto applied = pipeline.apply(data(), to_scratch);
  const std::vector<std::byte> shuffled(applied.bytes.begin(), applied.bytes.end());
  const std::vector<std::byte> plain(data(), data() + shuffled.size());
  for (int again = 0; again < 2; ++again) {
    std::vector<double> back(chunk.size());
    pipeline.undo(shuffled, 0, reinterpret_cast<std::byte*>(back.data()));
    EXPECT_EQ(back, chunk);
    std::fill(back.begin(), back.end(), 0.0);
    pipeline.undo(plain, 1, reinterpret_cast<std::byte*>(back.data()));
    EXPECT_EQ(back, chunk);
  }
}

TEST_F(FilterPipelineTest, ThrowsWhereAMandatoryFilterFailsOrIsMissing) {
  register_moody();
  H5Pset_filter(creation.get(), moody_filter, H5Z_FLAG_MANDATORY, 0, nullptr);
  {
    FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
    auto odd = chunk;
    reinterpret_cast<unsigned char*>(odd.data())[0] = 1;
    EXPECT_THROW(pipeline.apply(reinterpret_cast<const std::byte*>(odd.data()), to_scratch),
                 IoError);
  }
  const auto other = own(H5Pcopy(creation.get()), H5Pclose, "H5Pcopy", "");
  H5Zunregister(moody_filter);
  EXPECT_THROW(FilterPipeline(H5T_NATIVE_DOUBLE, other.get()), IoError);
}

TEST_F(FilterPipelineTest, SaysWhenAChecksumIsWrong) {
  H5Pset_fletcher32(creation.get());
  FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
  const auto applied = pipeline.apply(data(), to_scratch);
  std::vector<std::byte> damaged(applied.bytes.begin(), applied.bytes.end());
  damaged[100] ^= std::byte{1};
  std::vector<double> back(chunk.size());
  EXPECT_THROW(pipeline.undo(damaged, 0, reinterpret_cast<std::byte*>(back.data())), IoError);
}

TEST_F(FilterPipelineTest, KnowsTheFillValueThatHdf5WouldStore) {
  const double value = 2.5;
  double found = -1;
  const auto ask = [&] {
    const FilterPipeline pipeline(H5T_NATIVE_DOUBLE, creation.get());
    std::memcpy(&found, pipeline.fill().data(), sizeof(found));
    return found;
  };
  EXPECT_EQ(ask(), 0.0);
  H5Pset_fill_value(creation.get(), H5T_NATIVE_DOUBLE, &value);
  EXPECT_EQ(ask(), value);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  EXPECT_EQ(ask(), 0.0);
}

/// A dataset of each kind of chunk index, whose chunks get their space without their data.
struct Index {
  const char* name;
  bool latest;                ///< bounds of the format's version
  std::vector<hsize_t> most;  ///< extent that it may grow to
  std::vector<hsize_t> chunk;
  H5D_chunk_index_t kind;
};

class AllocateChunks : public testing::TestWithParam<Index> {
 protected:
  static constexpr hsize_t extent[2] = {40, 30};

  Handle make(const std::string& path, hid_t access, Handle& dataset) const {
    const auto& index = GetParam();
    const auto creation = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "");
    H5Pset_chunk(creation.get(), 2, index.chunk.data());
    H5Pset_deflate(creation.get(), 1);
    if (index.latest) H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    auto file = own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                    "H5Fcreate", path);
    const auto space =
        own(H5Screate_simple(2, extent, index.most.data()), H5Sclose, "H5Screate_simple", "");
    dataset = own(H5Dcreate2(file.get(), "d", H5T_NATIVE_INT, space.get(), H5P_DEFAULT,
                             creation.get(), H5P_DEFAULT),
                  H5Dclose, "H5Dcreate2", path);
    return file;
  }

  Comm comm{MPI_COMM_SELF};
  Scratch scratch{comm};
};

TEST_P(AllocateChunks, MakesTheFileThatHdf5MakesWhenItWritesThemItself) {
  std::vector<int> values(40 * 30);
  std::iota(values.begin(), values.end(), 0);
  const std::string native = scratch.file("native.h5");
  std::vector<StoredChunk> wanted;
  std::vector<std::vector<std::byte>> bytes;
  {
    const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "");
    Handle dataset;
    const auto file = make(native, access.get(), dataset);
    H5Dwrite(dataset.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    wanted = stored_chunks(dataset.get(), native);
    for (const auto& chunk : wanted) {
      std::size_t room = chunk.bytes;
      std::uint32_t mask = 0;
      const std::vector<hsize_t> first(chunk.first.begin(), chunk.first.end());
      bytes.emplace_back(room);
      H5Dread_chunk2(dataset.get(), H5P_DEFAULT, first.data(), &mask, bytes.back().data(), &room);
    }
  }

  const std::string ours = scratch.file("ours.h5");
  const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "");
  leave_out_placeholders(access.get());
  auto chunks = wanted;
  {
    Handle dataset;
    const auto file = make(ours, access.get(), dataset);
    H5D_chunk_index_t kind;
    H5Dget_chunk_index_type(dataset.get(), &kind);
    EXPECT_EQ(kind, GetParam().kind);
    // Another size first, so that each gives its space up.
    for (auto& chunk : chunks) ++chunk.bytes;
    allocate_chunks(dataset.get(), chunks, ours);
    for (auto& chunk : chunks) --chunk.bytes;
    allocate_chunks(dataset.get(), chunks, ours);
    const auto found = stored_chunks(dataset.get(), ours);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].first, wanted[i].first);
      EXPECT_EQ(found[i].bytes, wanted[i].bytes);
      EXPECT_EQ(found[i].mask, wanted[i].mask);
      EXPECT_EQ(found[i].address, chunks[i].address);
    }
  }
  auto* const stream = std::fopen(ours.c_str(), "r+b");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    std::fseek(stream, static_cast<long>(chunks[i].address), SEEK_SET);
    std::fwrite(bytes[i].data(), 1, bytes[i].size(), stream);
  }
  std::fclose(stream);

  std::vector<int> found(values.size());
  const auto file =
      own(H5Fopen(ours.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", "");
  const auto dataset = own(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose, "H5Dopen2", "");
  EXPECT_GE(H5Dread(dataset.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
  EXPECT_EQ(found, values);
}

const Index indices[] = {
    {"v1_b_tree", false, {40, 30}, {7, 8}, H5D_CHUNK_IDX_BTREE},
    {"single", true, {40, 30}, {40, 30}, H5D_CHUNK_IDX_SINGLE},
    {"fixed_array", true, {40, 30}, {7, 8}, H5D_CHUNK_IDX_FARRAY},
    {"extensible_array", true, {H5S_UNLIMITED, 30}, {7, 8}, H5D_CHUNK_IDX_EARRAY},
    {"v2_b_tree", true, {H5S_UNLIMITED, H5S_UNLIMITED}, {7, 8}, H5D_CHUNK_IDX_BT2},
};
INSTANTIATE_TEST_SUITE_P(Kinds, AllocateChunks, testing::ValuesIn(indices),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(AllocateChunksOf, AFileWhoseDriverKnowsNoPlaceholdersIsRefused) {
  const Comm comm{MPI_COMM_SELF};
  const Scratch scratch{comm};
  const std::string path = scratch.file("f.h5");
  const hsize_t length = 4;
  const auto creation = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", "");
  H5Pset_chunk(creation.get(), 1, &length);
  const auto space = own(H5Screate_simple(1, &length, nullptr), H5Sclose, "H5Screate_simple", "");
  const auto file =
      own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "", "");
  const auto dataset = own(H5Dcreate2(file.get(), "d", H5T_NATIVE_INT, space.get(), H5P_DEFAULT,
                                      creation.get(), H5P_DEFAULT),
                           H5Dclose, "", "");
  std::vector<StoredChunk> chunks = {{{0}, 16, 0, 0}};
  EXPECT_THROW(allocate_chunks(dataset.get(), chunks, path), IoError);
}

}  // namespace
}  // namespace slabmark::hdf5
