#include <functional>

#include <gtest/gtest.h>

#include "bench/map/hdf5_files.hpp"
#include "bench/map/map_files.hpp"

namespace slabmark {
namespace {

class Hdf5Maps : public testing::Test {
 protected:
  /// Rank 0 makes the file and then damages it by `damage`.
  std::unique_ptr<MapFile> open(
      const HandMadeMap& map, Hdf5Flavor flavor = {},
      const std::function<void(Hdf5MapFile&)>& damage = [](Hdf5MapFile&) {}) {
    if (comm_.is_root()) {
      Hdf5MapFile file = begin_hdf5_map(path_, map, flavor);
      damage(file);
    }
    comm_.barrier();
    return open_map(comm_, path_);
  }

  void expect_bad(const std::vector<std::string>& parts,
                  const std::function<void(Hdf5MapFile&)>& damage, Hdf5Flavor flavor = {}) {
    expect_bad_input(
        [&] {
          const auto file = open({}, flavor, damage);
          file->read(0, comm_.rank(), comm_.size());
        },
        parts);
    comm_.barrier();
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map.h5");
};

TEST_F(Hdf5Maps, AllFlavorsGiveTheRowsOfTheSameMapInNetcdf) {
  for (const bool is_netcdf : {false, true}) {
    for (const hid_t type : {H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_I64LE}) {
      for (const hsize_t chunk : {0, 2}) {
        SCOPED_TRACE(testing::Message() << is_netcdf << ' ' << chunk);
        const auto file = open({}, {is_netcdf, type, chunk});
        EXPECT_EQ(file->layout(), is_netcdf ? "many-map NetCDF-4" : "many-map HDF5");
        EXPECT_EQ(file->maps()[0].dims, (Extent{4, 10}));
        EXPECT_EQ(rows_of(*file, 0), rows_of_hand_made_map);
        comm_.barrier();
      }
    }
  }
}

TEST_F(Hdf5Maps, RequestsThatOnlyFillAreLeftOut) {
  EXPECT_EQ(rows_of(*open(map_with_requests_that_only_fill()), 0), rows_of_hand_made_map);
}

TEST_F(Hdf5Maps, TheOtherLayoutsAreReadToo) {
  const std::vector<RunList> rows = {{{0, 2}}, {{3, 1}, {5, 1}}};
  const auto expect = [&](const char* layout, const std::function<void(Hdf5MapFile&)>& build) {
    if (comm_.is_root()) {
      Hdf5MapFile file(path_, {.is_netcdf = true, .chunk = 1});
      build(file);
    }
    comm_.barrier();
    {
      const auto file = open_map(comm_, path_);
      EXPECT_EQ(file->layout(), layout);
      EXPECT_EQ(rows_of(*file, 0), rows);
    }
    comm_.barrier();
  };
  expect("single-map NetCDF-4", [](Hdf5MapFile& file) {
    file.add_dimension("num_procs", 2);
    file.add_dimension("max_nreqs", 2);
    file.add_attribute("var_ndims", {1});
    file.add_attribute("dim_len_0", {6});
    file.add_variable("nreqs", {2, 2});
    file.add_variable("offsets", {1, 0, 5, 3}, {2, 2});
  });
  expect("ParallelIO NetCDF-4", [](Hdf5MapFile& file) {
    file.add_dimension("dims", 1);
    file.add_dimension("task", 2);
    file.add_dimension("map_element", 3);
    file.add_variable("global_size", {6});
    file.add_variable("maplen", {2, 3});
    file.add_variable("map", {1, 0, -7, 5, -1, 3}, {2, 3});
  });
  expect("SCORPIO NetCDF-4", [](Hdf5MapFile& file) {
    file.add_dimension("comm_sz", 2);
    file.add_dimension("gmaplen", 5);
    file.add_attribute("gdimlen", {6});
    file.add_variable("counts", {2, 3});
    file.add_variable("gmap", {2, 1, 6, 0, 4});
  });
}

TEST_F(Hdf5Maps, FaultsAreThoseOfClassicFiles) {
  expect_bad({path_, "the variable D1.offsets is missing"},
             [](Hdf5MapFile& file) { file.remove("D1.offsets"); });
  expect_bad({"the dimension decomp_nprocs is missing"},
             [](Hdf5MapFile& file) { H5Adelete(file.get(), "-DIM_decomp_nprocs"); });
  expect_bad({"the global attribute D1.dims is missing"},
             [](Hdf5MapFile& file) { H5Adelete(file.get(), "D1.dims"); });
  expect_bad({"D1.offsets is 5 x 1 where 5 is expected"}, [](Hdf5MapFile& file) {
    file.remove("D1.offsets");
    file.add_variable("D1.offsets", {8, 0, 20, 30, 11}, {5, 1});
  });
  expect_bad({"rank 2 of map D1", "offset 31", "40 elements"}, [](Hdf5MapFile& file) {
    file.remove("D1.offsets");
    file.add_variable("D1.offsets", {8, 0, 20, 31, 11});
  });
}

TEST_F(Hdf5Maps, OtherTypesThanSignedWholeNumbersAreRefused) {
  const std::string sentence = "not of type int or int64";
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_STD_U32LE, H5T_STD_I16LE}) {
    expect_bad({"D1.offsets", sentence}, [&](Hdf5MapFile& file) {
      file.remove("D1.offsets");
      const hsize_t length = 5;
      const hdf5::Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
      H5Dclose(H5Dcreate2(file.get(), "D1.offsets", type, space.get(), H5P_DEFAULT, H5P_DEFAULT,
                          H5P_DEFAULT));
    });
  }
  expect_bad({"D1.dims is no whole number"}, [](Hdf5MapFile& file) {
    H5Adelete(file.get(), "D1.dims");
    const hdf5::Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    H5Aclose(
        H5Acreate2(file.get(), "D1.dims", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  });
}

TEST_F(Hdf5Maps, VariablesThatWereNeverWrittenAreRefusedHoweverLargeTheyClaimToBe) {
  constexpr hsize_t huge = hsize_t{1} << 48;
  for (const hsize_t chunk : {0, 2}) {
    expect_bad({"D1.offsets was never written"},
               [&](Hdf5MapFile& file) {
                 file.remove("D1.offsets");
                 file.remove("D1.lengths");
                 H5Adelete(file.get(), "-DIM_D1.total_nreqs");
                 file.add_dimension("D1.total_nreqs", huge);
                 file.add_variable("D1.offsets", {}, {huge});
                 file.add_variable("D1.lengths", {}, {huge});
               },
               {.chunk = chunk});
  }
}

TEST_F(Hdf5Maps, AFileCutOffAnywhereIsAnErrorAndNobodyHangs) {
  open({}, {.is_netcdf = true, .chunk = 2});
  comm_.barrier();
  const std::string whole = content_of(path_);
  for (std::size_t bytes = 8; bytes < whole.size(); bytes += 197) {
    SCOPED_TRACE(bytes);
    comm_.barrier();
    make_file(comm_, path_, whole.substr(0, bytes));
    expect_bad_input([&] { open_map(comm_, path_); }, {path_, "damaged or truncated"});
  }
}

TEST_F(Hdf5Maps, FlippedBytesNeverEndInACrash) {
  for (const hsize_t chunk : {0, 2}) {
    open({}, {.chunk = chunk});
    comm_.barrier();
    const std::string whole = content_of(path_);
    for (std::size_t at = 8; at < whole.size(); at += 29) {
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
    comm_.barrier();
  }
}

}  // namespace
}  // namespace slabmark
