#if SLABMARK_WITH_PNETCDF

#include <filesystem>

#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"
#include "bench/map/netcdf_files.hpp"

namespace slabmark {
namespace {

class ManyMaps : public testing::Test {
 protected:
  std::unique_ptr<MapFile> open(const HandMadeMap& map, int mode = NC_CLOBBER,
                                nc_type type = NC_INT) {
    if (comm_.is_root()) make_many_map(path_, map, mode, type);
    comm_.barrier();
    return open_map(comm_, path_);
  }
  void expect_bad(const HandMadeMap& map, const std::vector<std::string>& parts) {
    expect_bad_input(
        [&] {
          const auto file = open(map);
          file->read(0, comm_.rank(), comm_.size());
        },
        parts);
    comm_.barrier();
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map.nc");
};

TEST_F(ManyMaps, RequestsAreSortedAndCutAtRows) {
  const auto file = open({});
  EXPECT_EQ(file->layout(), "many-map NetCDF");
  EXPECT_EQ(file->maps()[0].dims, (Extent{4, 10}));
  EXPECT_EQ(file->maps()[0].recorded_ranks, 3);
  EXPECT_EQ(rows_of(*file, 0), rows_of_hand_made_map);
  EXPECT_EQ(file->read(0, 0, 1).runs, (RunList{{0, 2}, {8, 2}, {10, 2}, {20, 1}, {30, 10}}));
  EXPECT_EQ(file->read(0, 2, 3).raw_requests, 3);
}

TEST_F(ManyMaps, Cdf5WithWideIntegersGivesTheSame) {
  EXPECT_EQ(rows_of(*open({}, NC_CLOBBER | NC_64BIT_DATA, NC_INT64), 0), rows_of_hand_made_map);
}

TEST_F(ManyMaps, RequestsThatOnlyFillAreLeftOutAndTheRestIsFoundByNreqs) {
  EXPECT_EQ(rows_of(*open(map_with_requests_that_only_fill()), 0), rows_of_hand_made_map);
}

TEST_F(ManyMaps, FaultsInTheRequestsAreErrorsThatNameRankAndValue) {
  HandMadeMap map;
  map.offsets[3] = -30;
  expect_bad(map, {"rank 2 of map D1", "-30", path_});
  map = {};
  map.offsets[3] = 31;
  expect_bad(map, {"rank 2 of map D1", "length 10", "offset 31", "40 elements"});
  map = {};
  map.lengths[1] = 0;
  expect_bad(map, {"rank 0 of map D1", "length 0"});
  map = {};
  map.lengths[1] = -7;
  expect_bad(map, {"rank 0 of map D1", "length -7"});
  map = {};
  map.offsets[1] = 9;
  expect_bad(map, {"Element 9", "recorded rank 0"});
}

TEST_F(ManyMaps, CountsThatDoNotAddUpAreErrors) {
  HandMadeMap map;
  map.nreqs = {2, 0, 2};
  expect_bad(map, {"announce 4 requests", "has 5"});
  map.nreqs = {2, 4, 3};
  expect_bad(map, {"rank 1", "4 requests", "3 of 5"});
  map.nreqs = {2, -1, 4};
  expect_bad(map, {"rank 1", "-1"});
}

TEST_F(ManyMaps, FillStartsOutsideTheRequestsOfARankAreErrors) {
  expect_bad({.fill_starts = {{2, 0, 4}}}, {"rank 2", "start at 4", "has 3"});
  expect_bad({.fill_starts = {{-1, 0, 3}}}, {"rank 0", "start at -1"});
}

TEST_F(ManyMaps, DimensionsMustBePositive) {
  HandMadeMap map;
  map.dims = {4, 0};
  expect_bad(map, {"D1.dims", "length of 0"});
}

TEST_F(ManyMaps, AFileCutOffAnywhereIsAnErrorAndNobodyHangs) {
  if (comm_.is_root()) make_many_map(path_, {});
  comm_.barrier();
  const std::string whole = content_of(path_);
  // Beyond the header in steps: each is the same case.
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 400 ? 1 : 4) {
    SCOPED_TRACE(bytes);
    comm_.barrier();
    make_file(comm_, path_, whole.substr(0, bytes));
    const char* const what = bytes == 0 ? "empty" : bytes < 4 ? "no decomposition" : "truncated";
    expect_bad_input([&] { open_map(comm_, path_); }, {path_, what});
  }
}

TEST_F(ManyMaps, FlippedBytesOfTheHeaderNeverEndInACrash) {
  if (comm_.is_root()) make_many_map(path_, {});
  comm_.barrier();
  const std::string whole = content_of(path_);
  for (std::size_t at = 4; at < 400; ++at) {
    SCOPED_TRACE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    comm_.barrier();
    make_file(comm_, path_, damaged);
    try {
      const auto file = open_map(comm_, path_);
      file->read(0, comm_.rank(), comm_.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input) << error.what();
    }
  }
}

TEST_F(ManyMaps, OlderLayoutsAreNamed) {
  const auto make = [&](const std::string& dimension, const std::string& variable) {
    if (comm_.is_root()) {
      pnetcdf::File file = pnetcdf::File::create(MPI_COMM_SELF, path_, NC_CLOBBER);
      const int ranks = file.def_dim(dimension, 3);
      file.def_var(variable, NC_INT, std::vector{ranks});
      file.enddef();
      file.close();
    }
    comm_.barrier();
  };
  make("num_procs", "D1.nreqs");
  expect_bad_input([&] { open_map(comm_, path_); }, {"October 2018", "dat2nc"});
  comm_.barrier();
  make("array_size", "off_00000");
  expect_bad_input([&] { open_map(comm_, path_); }, {"November 2018", "dat2nc"});
  comm_.barrier();
  make("time", "temperature");
  expect_bad_input([&] { open_map(comm_, path_); }, {"num_decomp", "num_procs"});
}

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
