#if SLABMARK_WITH_PNETCDF

#include "bench/map/netcdf_writer.hpp"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"
#include "bench/map/map_source.hpp"
#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {
namespace {

MapSource source_of_rows(Extent dims, std::vector<RunList> rows) {
  const std::uint64_t ranks = rows.size();
  return {.name = "the rows",
          .dims = std::move(dims),
          .ranks = ranks,
          .row = [rows](std::uint64_t rank) { return rows.at(rank); }};
}

std::vector<long long> read_values(const pnetcdf::File& file, const std::string& name,
                                   std::size_t count, std::vector<MPI_Offset> start,
                                   std::vector<MPI_Offset> counts) {
  std::vector<long long> values(count);
  file.get_vara_all(file.inq_varid(name), start.data(), counts.data(), values.data(),
                    static_cast<MPI_Offset>(count), MPI_LONG_LONG_INT);
  return values;
}

class MapWriters : public testing::Test {
 protected:
  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map.nc");

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(MapWriters, ReadEachRowAsOftenAsTheySay) {
  if (!comm_.is_root()) return;
  MapSource source = source_of_rows({2, 6}, {{{6, 1}, {0, 3}}, {}, {{3, 3}, {7, 2}}});
  std::uint64_t rows = 0;
  source.row = [&rows, row = source.row](std::uint64_t rank) {
    ++rows;
    return row(rank);
  };
  write_single_map(path_, source);
  EXPECT_EQ(rows, passes_of_single_map * source.ranks);
  rows = 0;
  write_many_maps(path_, {source}, "");
  EXPECT_EQ(rows, passes_of_many_maps * source.ranks);
}

TEST_F(MapWriters, SingleLayoutHasOneOffsetAnElementInModelOrder) {
  if (!comm_.is_root()) return;
  const WrittenMap written =
      write_single_map(path_, source_of_rows({2, 6}, {{{6, 1}, {0, 3}}, {}, {{3, 3}, {7, 2}}}));
  EXPECT_EQ(written.cdf_version, 1);
  EXPECT_EQ(written.surveys[0].listed, 9);
  EXPECT_EQ(written.bytes, std::filesystem::file_size(path_));
  pnetcdf::File file = pnetcdf::File::open(MPI_COMM_SELF, path_);
  EXPECT_EQ(file.inq_format(), NC_FORMAT_CLASSIC);
  EXPECT_EQ(file.inq_dimlen(file.inq_dimid("num_procs")), 3);
  EXPECT_EQ(file.inq_dimlen(file.inq_dimid("max_nreqs")), 5);
  EXPECT_EQ(file.get_att(NC_GLOBAL, "var_ndims"), (std::vector<long long>{2}));
  EXPECT_EQ(file.get_att(NC_GLOBAL, "dim_len_0"), (std::vector<long long>{6}));
  EXPECT_EQ(file.get_att(NC_GLOBAL, "dim_len_1"), (std::vector<long long>{2}));
  EXPECT_EQ(file.get_att(NC_GLOBAL, "max_nreqs"), (std::vector<long long>{5}));
  EXPECT_EQ(file.get_att(NC_GLOBAL, "min_nreqs"), (std::vector<long long>{0}));
  EXPECT_EQ(read_values(file, "nreqs", 3, {0}, {3}), (std::vector<long long>{4, 0, 5}));
  EXPECT_EQ(read_values(file, "offsets", 4, {0, 0}, {1, 4}), (std::vector<long long>{6, 0, 1, 2}));
  EXPECT_EQ(read_values(file, "offsets", 5, {2, 0}, {1, 5}),
            (std::vector<long long>{3, 4, 5, 7, 8}));
  file.close();
}

TEST_F(MapWriters, SingleLayoutReadBackKeepsItsStoredDimsAndCutsThere) {
  if (comm_.is_root()) {
    write_single_map(path_, source_of_rows({2, 6}, {{{6, 1}, {0, 3}}, {}, {{3, 3}, {7, 2}}}));
  }
  comm_.barrier();
  const auto file = open_map(comm_, path_);
  EXPECT_EQ(file->layout(), "single-map NetCDF");
  EXPECT_EQ(file->maps()[0].dims, (Extent{6, 2}));
  EXPECT_EQ(file->maps()[0].array_dims(), (Extent{2, 6}));
  const std::vector<RunList> expected = {
      {{0, 2}, {2, 1}, {6, 1}}, {}, {{3, 1}, {4, 2}, {7, 1}, {8, 1}}};
  EXPECT_EQ(rows_of(*file, 0), expected);
  EXPECT_EQ(file->read(0, 0, 3).raw_requests, 4);
}

TEST_F(MapWriters, ASeedFileWhoseLastPaddingIsCutOffIsStillSound) {
  if (comm_.is_root()) {
    write_single_map(path_, source_of_rows({12}, {{{0, 5}}, {{5, 2}}}));
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 3 * 4);
  }
  comm_.barrier();
  EXPECT_EQ(open_map(comm_, path_)->read(0, 1, 2).runs, (RunList{{5, 2}}));
  comm_.barrier();
  if (comm_.is_root()) std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 4);
  comm_.barrier();
  expect_bad_input([&] { open_map(comm_, path_); }, {"truncated", "offsets"});
}

TEST_F(MapWriters, FaultsInTheSingleLayoutAreErrorsThatNameRankAndValue) {
  const auto damage = [&](const std::string& variable, std::vector<MPI_Offset> at,
                          long long value) {
    comm_.barrier();
    if (comm_.is_root()) {
      write_single_map(path_, source_of_rows({12}, {{{0, 5}}, {{5, 2}}}));
      pnetcdf::File file = pnetcdf::File::open(MPI_COMM_SELF, path_, NC_WRITE);
      const std::vector<MPI_Offset> one(at.size(), 1);
      file.put_vara_all(file.inq_varid(variable), at.data(), one.data(), &value, 1,
                        MPI_LONG_LONG_INT);
      file.close();
    }
    comm_.barrier();
  };
  const auto read = [&] { open_map(comm_, path_)->read(0, comm_.rank(), comm_.size()); };
  damage("offsets", {1, 1}, 12);
  expect_bad_input(read, {"rank 1", "offset 12", "12 elements"});
  damage("offsets", {1, 1}, -1);
  expect_bad_input(read, {"rank 1", "offset -1"});
  damage("offsets", {1, 1}, 5);
  expect_bad_input(read, {"Element 5", "recorded rank 1"});
  damage("nreqs", {0}, 6);
  expect_bad_input(read, {"rank 0", "6 requests", "room for 5"});
  damage("nreqs", {0}, -2);
  expect_bad_input(read, {"rank 0", "-2"});
}

TEST_F(MapWriters, ManyMapLayoutReadsBackAsWhatWasWritten) {
  const SyntheticDecomposition made = make_f_decomposition(2, 5, 3);
  if (comm_.is_root()) {
    std::vector<MapSource> sources;
    for (const SyntheticMap& map : made.maps) sources.push_back(source_of(map));
    EXPECT_EQ(write_many_maps(path_, sources, "made by a test").cdf_version, 1);
    pnetcdf::File file = pnetcdf::File::open(MPI_COMM_SELF, path_);
    std::string command_line(file.inq_attlen(NC_GLOBAL, "command_line").value_or(0), ' ');
    EXPECT_EQ(ncmpi_get_att_text(file.id(), NC_GLOBAL, "command_line", command_line.data()),
              NC_NOERR);
    EXPECT_EQ(command_line, "made by a test");
    EXPECT_EQ(file.get_att(NC_GLOBAL, "D3.dims"), (std::vector<long long>{3, 218}));
    file.close();
  }
  comm_.barrier();
  const auto file = open_map(comm_, path_);
  ASSERT_EQ(file->maps().size(), 3);
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(k);
    EXPECT_EQ(file->maps()[k].dims, made.maps[k].dims);
    for (int rank = 0; rank < 5; ++rank) {
      RunList expected = model_order_runs(made.maps[k], static_cast<std::uint64_t>(rank));
      sort_runs(expected);
      coalesce(expected);
      EXPECT_EQ(file->read(k, rank, 5).runs, split_at_rows(expected, made.maps[k].dims.back()));
    }
  }
}

TEST_F(MapWriters, ManyMapLayoutEqualsTheRealFileInAllCountsAndRequests) {
  SKIP_WITHOUT_REAL_DATA();
  if (!comm_.is_root()) return;
  std::vector<MapSource> sources;
  for (const char* name :
       {"piodecomp16tasks16io01dims_ioid_514.dat", "piodecomp16tasks16io01dims_ioid_516.dat",
        "piodecomp16tasks16io02dims_ioid_548.dat"}) {
    sources.push_back(source_of(index_pio_text(real_data() + "/" + name)));
  }
  write_many_maps(path_, sources, "dat2nc");
  pnetcdf::File ours = pnetcdf::File::open(MPI_COMM_SELF, path_);
  pnetcdf::File real = pnetcdf::File::open(MPI_COMM_SELF, real_data() + "/f_case_866x72_16p.nc");
  int our_variables = 0, real_variables = 0;
  EXPECT_EQ(ncmpi_inq_nvars(ours.id(), &our_variables), NC_NOERR);
  EXPECT_EQ(ncmpi_inq_nvars(real.id(), &real_variables), NC_NOERR);
  EXPECT_EQ(our_variables, real_variables);
  for (const std::string map : {"D1", "D2", "D3"}) {
    for (const std::string attribute : {".ndims", ".dims", ".max_nreqs", ".min_nreqs"}) {
      EXPECT_EQ(ours.get_att(NC_GLOBAL, map + attribute), real.get_att(NC_GLOBAL, map + attribute));
    }
    for (const std::string attribute : {"max", "min"}) {
      EXPECT_EQ(ours.get_att(ours.inq_varid(map + ".lengths"), attribute),
                real.get_att(real.inq_varid(map + ".lengths"), attribute));
    }
    const auto total =
        static_cast<MPI_Offset>(real.inq_dimlen(real.inq_dimid(map + ".total_nreqs")));
    for (const std::string variable : {".offsets", ".lengths"}) {
      EXPECT_EQ(read_values(ours, map + variable, total, {0}, {total}),
                read_values(real, map + variable, total, {0}, {total}));
    }
    EXPECT_EQ(read_values(ours, map + ".nreqs", 16, {0}, {16}),
              read_values(real, map + ".nreqs", 16, {0}, {16}));
  }
  ours.close();
  real.close();
}

TEST_F(MapWriters, OffsetsBeyond32BitsGoIntoCdf5) {
  const std::uint64_t far = std::uint64_t{1} << 33;
  if (comm_.is_root()) {
    const MapSource source = source_of_rows({4, far}, {{{far + 7, 1}}, {{3 * far, 2}}});
    EXPECT_EQ(write_single_map(path_, source).cdf_version, 5);
    EXPECT_EQ(write_many_maps(scratch_.file("many.nc"), {source, source}, "").cdf_version, 5);
  }
  comm_.barrier();
  EXPECT_EQ(open_map(comm_, path_)->read(0, 1, 2).runs, (RunList{{3 * far, 2}}));
  const auto many = open_map(comm_, scratch_.file("many.nc"));
  EXPECT_EQ(many->maps()[1].dims, (Extent{4, far}));
  EXPECT_EQ(many->read(1, 0, 2).runs, (RunList{{far + 7, 1}}));
}

TEST_F(MapWriters, RefusedMapsLeaveNoFileAndAnEarlierOneAsItWas) {
  if (!comm_.is_root()) return;
  const auto overlapping = source_of_rows({12}, {{{0, 5}}, {{4, 2}}});
  expect_bad_input([&] { write_single_map(path_, overlapping); },
                   {"Element 4", "by rank 0 and by rank 1"});
  expect_bad_input(
      [&] {
        write_single_map(path_, source_of_rows({12}, {{{3, 1}, {3, 1}}}));
      },
      {"Element 3", "twice by rank 0"});
  const std::uint64_t far = std::uint64_t{1} << 40;
  expect_bad_input(
      [&] {
        write_single_map(path_, source_of_rows({far}, {{{far - 1, 1}}, {{far - 1, 1}}}));
      },
      {"Element 1099511627775", "by rank 0 and by rank 1"});
  expect_bad_input([&] { write_many_maps(path_, {source_of_rows({12}, {{}})}, ""); },
                   {"owns anything"});
  expect_bad_input(
      [&] {
        write_many_maps(path_,
                        {source_of_rows({2}, {{{0, 1}}}), source_of_rows({2}, {{{0, 1}}, {}})}, "");
      },
      {"1 ranks", "2"});
  EXPECT_TRUE(files().empty());
  std::ofstream(path_) << "earlier";
  EXPECT_THROW(write_single_map(path_, overlapping), InputError);
  EXPECT_EQ(content_of(path_), "earlier");
  EXPECT_EQ(files().size(), 1);
}

TEST_F(MapWriters, AFileSizeLimitIsAnIoErrorThatKeepsTheEarlierFile) {
  if (!comm_.is_root()) return;
  std::ofstream(path_) << "earlier";
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = 100'000;
  setrlimit(RLIMIT_FSIZE, &small);
  try {
    write_single_map(path_, source_of_rows({100'000}, {{{0, 100'000}}}));
    ADD_FAILURE() << "400 KB fitted into 100 KB";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::failed) << error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(content_of(path_), "earlier");
  EXPECT_EQ(files().size(), 1);
}

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
