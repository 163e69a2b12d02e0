#include <filesystem>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "bench/map/map_files.hpp"

namespace slabmark {
namespace {

class MapOpening : public testing::Test {
 protected:
  void expect_bad(const std::string& content, const std::vector<std::string>& parts) {
    make_file(comm_, path_, content);
    expect_bad_input([&] { open_map(comm_, path_); }, parts);
    comm_.barrier();
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map");
};

TEST_F(MapOpening, MissingFilesAreNamed) {
  expect_bad_input([&] { open_map(comm_, path_); }, {path_, "No such file"});
}

TEST_F(MapOpening, DirectoriesAreRefused) {
  expect_bad_input([&] { open_map(comm_, std::filesystem::path(path_).parent_path()); },
                   {"is a directory"});
}

TEST_F(MapOpening, EmptyFilesAreRefused) { expect_bad("", {"is empty"}); }

TEST_F(MapOpening, OtherContentIsRefusedWhateverItIs) {
  expect_bad("hello", {"no decomposition file"});
  expect_bad("CDF\x03 and more", {"no decomposition file"});
  std::string random;
  std::uint64_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    random += static_cast<char>(state >> 56);
  }
  expect_bad(random, {"no decomposition file"});
}

TEST_F(MapOpening, Hdf5FilesThatAreNeitherMapsNorPatternFilesAreNamedAsSuch) {
  if (comm_.is_root()) H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  comm_.barrier();
  expect_bad_input([&] { open_map(comm_, path_); },
                   {"none of the dimensions", "num_decomp", "nor is it a pattern file"});
  comm_.barrier();
}

TEST_F(MapOpening, TruncatedHdf5FilesAreRefused) {
  expect_bad(std::string("\x89HDF\r\n\x1a\n\0\0\0\0\0\0\0\0", 16), {"damaged or truncated"});
}

TEST_F(MapOpening, AllThreeFormatsOfOneRealDecompositionGiveTheSameRuns) {
  SKIP_WITHOUT_REAL_DATA();
#if SLABMARK_WITH_PNETCDF
  const auto sorted = open_map(comm_, real_data() + "/f_case_866x72_16p.nc");
  const auto current = open_map(comm_, real_data() + "/map_f_case_16p.nc");
  ASSERT_EQ(sorted->maps().size(), 3);
  ASSERT_EQ(current->maps().size(), 3);
  const std::vector<std::string> texts = {"piodecomp16tasks16io01dims_ioid_514.dat",
                                          "piodecomp16tasks16io01dims_ioid_516.dat",
                                          "piodecomp16tasks16io02dims_ioid_548.dat"};
  const std::vector<std::uint64_t> requests = {47, 407, 29304};
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(k);
    const auto text = open_map(comm_, real_data() + "/" + texts[k]);
    EXPECT_EQ(text->maps()[0].dims, sorted->maps()[k].dims);
    EXPECT_EQ(current->maps()[k].dims, sorted->maps()[k].dims);
    const std::vector<RunList> rows = rows_of(*sorted, k);
    std::uint64_t total = 0;
    for (const RunList& row : rows) total += row.size();
    EXPECT_EQ(total, requests[k]);
    EXPECT_EQ(rows_of(*text, 0), rows);
    EXPECT_EQ(rows_of(*current, k), rows);

    const RunList mine = sorted->read(k, comm_.rank(), comm_.size()).runs;
    EXPECT_EQ(text->read(0, comm_.rank(), comm_.size()).runs, mine);
    EXPECT_EQ(current->read(k, comm_.rank(), comm_.size()).runs, mine);
    EXPECT_EQ(coverage(comm_, sorted->maps()[k], mine).covered,
              element_count(sorted->maps()[k].dims));
  }
#else
  GTEST_SKIP() << "this build has no PnetCDF";
#endif
}

TEST_F(MapOpening, ARealOceanDecompositionOwnsEachElementOnce) {
  SKIP_WITHOUT_REAL_DATA();
#if SLABMARK_WITH_PNETCDF
  const auto file = open_map(comm_, real_data() + "/g_case_cmpaso_16p.nc");
  ASSERT_EQ(file->maps().size(), 6);
  for (std::size_t k = 0; k < 6; ++k) {
    SCOPED_TRACE(k);
    const MapPart part = file->read(k, comm_.rank(), comm_.size());
    const Coverage found = coverage(comm_, file->maps()[k], part.runs);
    EXPECT_EQ(found.covered, found.elements);
    EXPECT_EQ(found.overlaps, 0);
  }
#else
  GTEST_SKIP() << "this build has no PnetCDF";
#endif
}

}  // namespace
}  // namespace slabmark
