#include "logvol/encoded_mappings.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::logvol {
namespace {

using hdf5::Handle;
using hdf5::Space;

/// What HDF5 makes of a dataspace; the selection is its end.
Encoded encoded_by_hdf5(const Space& space, H5F_libver_t low) {
  const Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(list.get(), low, H5F_LIBVER_LATEST);
  std::size_t bytes = 0;
  H5Sencode2(space.get(), nullptr, &bytes, list.get());
  Encoded encoded(bytes);
  EXPECT_GE(H5Sencode2(space.get(), encoded.data(), &bytes, list.get()), 0);
  return encoded;
}

Encoded end_of(const Encoded& bytes, std::size_t length) {
  if (length > bytes.size()) return bytes;
  return {bytes.end() - static_cast<std::ptrdiff_t>(length), bytes.end()};
}

void expect_as_hdf5(const Encoded& encoded, const Space& space, H5F_libver_t low) {
  EXPECT_EQ(encoded, end_of(encoded_by_hdf5(space, low), encoded.size()));
}

/// Three boxes, and their corners.
Space scattered(const Extent& extent, std::uint64_t far, std::vector<std::uint64_t>& corners) {
  Space space(extent);
  space.select_none();
  for (const auto& [start, size] : std::vector<std::pair<Extent, Extent>>{
           {{0, 1}, {1, 3}}, {{2, 5}, {2, 1}}, {{4, far}, {1, 4}}}) {
    space.unite(make_box(start, size), false);
    corners.insert(corners.end(), start.begin(), start.end());
    for (std::size_t d = 0; d < 2; ++d) corners.push_back(start[d] + size[d] - 1);
  }
  return space;
}

TEST(EncodedMappings, AUnionIsEncodedAsHdf5Does) {
  std::vector<std::uint64_t> corners;
  const auto space = scattered({5, 40}, 11, corners);
  expect_as_hdf5(encoded_union({5, 40}, corners), space, H5F_LIBVER_V110);
}

TEST(EncodedMappings, CoordinatesBeyond32BitsAreEncodedAsHdf5Does) {
  const auto far = std::uint64_t{1} << 33;
  std::vector<std::uint64_t> corners;
  const auto space = scattered({5, far + 4}, far, corners);
  expect_as_hdf5(encoded_union({5, far + 4}, corners), space, H5F_LIBVER_V110);
}

TEST(EncodedMappings, ARegularHyperslabIsEncodedAsHdf5Does) {
  const Hyperslab slab{{1, 2}, {1, 5}, {1, 9}, {3, 2}};
  Space space(Extent{6, 60});
  space.select(slab);
  expect_as_hdf5(encoded_regular(slab), space, H5F_LIBVER_V110);
}

TEST(EncodedMappings, TheChecksumIsThatOfHdf5) {
  // Known answers of lookup3's hashlittle() with a seed of 0.
  const auto sum = [](std::string_view text) {
    return metadata_checksum(std::as_bytes(std::span(text)));
  };
  EXPECT_EQ(sum(""), 0xdeadbeefu);
  EXPECT_EQ(sum("Four score and seven years ago"), 0x17770551u);
}

class EncodedMappingsFile : public LogFileTest {};

TEST_F(EncodedMappingsFile, MappingsAreEncodedAsHdf5PutsThemIntoAFile) {
  std::vector<std::uint64_t> corners;
  const Extent extent = {5, 40};
  const auto to = scattered(extent, 11, corners);
  Space from(Extent{9});
  from.select(make_box({0}, {9}));
  if (rank() == 0) {
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    for (const char* source : {"a", "/group/b"}) {
      ASSERT_GE(H5Pset_virtual(list.get(), to.get(), ".", source, from.get()), 0);
    }
    const auto file =
        handle(H5Fcreate(path("v.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    handle(
        H5Dcreate2(file.get(), "d", H5T_NATIVE_INT, to.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
        H5Dclose);
  }
  world_.barrier();
  std::ifstream file(path("v.h5"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};

  EncodedMappings mappings(8);
  const auto line = encoded_union({9}, std::vector<std::uint64_t>{0, 8});
  for (const char* source : {"a", "/group/b"}) {
    mappings.add(source, line, encoded_union(extent, corners));
  }
  const auto encoded = std::move(mappings).finish();
  const std::string expected(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  EXPECT_NE(bytes.find(expected), std::string::npos);
}

}  // namespace
}  // namespace slabmark::logvol
