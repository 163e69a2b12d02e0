#include <array>
#include <cstdint>
#include <random>

#include <hdf5.h>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// A geometry of h5perf by the letters of its options, with sizes in bytes.
struct Geometry {
  std::uint64_t p, e, b, x;
  bool square, interleaved, chunked, collective, original;

  Words words() const {
    Words all = {"-e", fmt::to_string(e), "-B", fmt::to_string(b), "-x", fmt::to_string(x),
                 "-X", fmt::to_string(x), "-p", fmt::to_string(p), "-P", fmt::to_string(p)};
    if (square) all.push_back("-g");
    if (interleaved) all.push_back("-I");
    if (chunked) all.push_back("-c");
    if (collective) all.push_back("-C");
    all.insert(all.end(), {"--emulation", original ? "original" : "hdf5", "-d", "3", "--contents",
                           "rank,request,buffer", "-w"});
    return all;
  }

  std::uint64_t side() const { return p * e; }
  std::uint64_t elements() const { return square ? side() * side() : side(); }
};

/// Owner, request and place in the transfer buffer of an element, from the words and figures of
/// the user's guide alone.
std::array<std::uint64_t, 3> model_1d(const Geometry& g, std::uint64_t i) {
  if (!g.interleaved) return {i / g.e, i % g.e / g.x, i % g.x};
  const std::uint64_t mine = i / (g.b * g.p) * g.b + i % g.b;  // place among the bytes of the owner
  return {i / g.b % g.p, mine / g.x, mine % g.x};
}

std::array<std::uint64_t, 3> model_2d(const Geometry& g, std::uint64_t row, std::uint64_t column) {
  const auto [p, e, b, x] = std::array{g.p, g.e, g.b, g.x};
  const std::uint64_t place = row % b * x + column % (g.interleaved ? b : x);
  if (!g.interleaved) {
    return {row / e, row % e / b * (g.side() / x) + column / x, place};
  }
  return {column / b % p, row / x * (g.side() / (b * p)) + column / (b * p),
          row % x * b + column % b};
}

using Bytes = std::vector<std::uint8_t>;

std::uint8_t stored(std::uint64_t value) { return static_cast<std::uint8_t>(1 + value % 255); }

/// The elements of a dataset in the order of its extent.
Bytes expected(const Geometry& g, std::size_t dataset) {
  Bytes all;
  for (std::uint64_t i = 0; i < g.elements(); ++i) {
    all.push_back(stored(g.square ? model_2d(g, i / g.side(), i % g.side())[dataset]
                                  : model_1d(g, i)[dataset]));
  }
  return all;
}

/// Returns the bytes of a dataset in POSIX and MPI-IO files. The chunks of b x b of a square follow
/// one another there.
Bytes expected_in_file(const Geometry& g, std::size_t dataset) {
  const Bytes plain = expected(g, dataset);
  if (!g.square || !g.chunked) return plain;
  const bool as_original = g.original && !g.interleaved && dataset == 2;
  const std::uint64_t side = g.side(), b = g.b;
  Bytes all;
  for (std::uint64_t i = 0; i < plain.size(); ++i) {
    const std::uint64_t chunk = i / (b * b), within = i % (b * b);
    const std::uint64_t row = chunk / (side / b) * b + within / b;
    const std::uint64_t column = chunk % (side / b) * b + within % b;
    all.push_back(as_original ? stored(column % g.x / b * b * b + row % b * b + column % b)
                              : plain[row * side + column]);
  }
  return all;
}

void check_hdf5(const Geometry& g, const char* path) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  H5G_info_t group;
  ASSERT_GE(H5Gget_info(file, &group), 0);
  EXPECT_EQ(group.nlinks, 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    const hid_t dataset = H5Dopen2(file, fmt::format("Dataset_{}", n + 1).c_str(), H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const hid_t creation = H5Dget_create_plist(dataset);
    EXPECT_EQ(H5Tget_size(type), 1u);
    hsize_t sides[2] = {}, chunk[2] = {};
    const int dimensions = H5Sget_simple_extent_dims(space, sides, nullptr);
    EXPECT_EQ(dimensions, g.square ? 2 : 1);
    EXPECT_EQ(sides[0], g.side());
    EXPECT_EQ(sides[1], g.square ? g.side() : 0);
    EXPECT_EQ(H5Pget_layout(creation), g.chunked ? H5D_CHUNKED : H5D_CONTIGUOUS);
    if (g.chunked) {
      EXPECT_EQ(H5Pget_chunk(creation, 2, chunk), dimensions);
      EXPECT_EQ(chunk[0], g.b);
      EXPECT_EQ(chunk[1], g.square ? g.b : 0);
    }
    Bytes found(g.elements());
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    EXPECT_TRUE(found == expected(g, n)) << "Dataset_" << n + 1;
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
  }
  H5Fclose(file);
}

void check_files(const Geometry& g) {
  check_hdf5(g, "#pio_tmp_1.h5");
  Bytes due;
  for (std::size_t n = 0; n < 3; ++n) {
    const Bytes one = expected_in_file(g, n);
    due.insert(due.end(), one.begin(), one.end());
  }
  for (const char* path : {"#pio_tmp_1.posix", "#pio_tmp_1.mpio"}) {
    const std::string found = content_of(path);
    EXPECT_TRUE(Bytes(found.begin(), found.end()) == due) << path;
  }
}

/// Divides where the options demand it, and is so small that a request has a number below 255.
Geometry random_geometry(std::mt19937& dice) {
  const auto up_to = [&](std::uint64_t most) { return 1 + dice() % most; };
  Geometry g{};
  g.p = up_to(4), g.b = up_to(5), g.square = dice() % 5 < 3;
  if (g.square) {
    g.e = g.b * up_to(4);
    do g.x = up_to(g.side() / g.b);
    while (g.side() / g.b % g.x != 0);
    g.x *= g.b;
  } else {
    g.x = g.b * up_to(6);
    g.e = g.x * up_to(6);
  }
  g.interleaved = dice() % 2, g.chunked = dice() % 2, g.collective = dice() % 2;
  g.original = dice() % 4 == 0;
  return g;
}

TEST_F(ProgramTest, RandomGeometriesOfH5perfLeaveTheBytesOfTheModel) {
  if (world().size() < 4) GTEST_SKIP() << "geometries are of up to 4 processes";
  const Variable keep("HDF5_NOCLEANUP", "1"), prefix("HDF5_PARAPREFIX", nullptr);
  std::mt19937 dice(20120501);
  for (int i = 0; i < 104; ++i) {
    const Geometry geometry = random_geometry(dice);
    SCOPED_TRACE(fmt::format("h5perf {}", fmt::join(geometry.words(), " ")));
    Words words = geometry.words();
    words.push_back("--overwrite");
    const Outcome done = run(programs::h5perf(), words);
    ASSERT_EQ(done.status, ExitStatus::good) << done.message;
    if (world().is_root()) check_files(geometry);
    world().barrier();
  }
}

}  // namespace
}  // namespace slabmark
