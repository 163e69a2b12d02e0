#if SLABMARK_WITH_PNETCDF

#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {
namespace {

using Row = std::vector<long long>;

/// The decomposition of pio_text_test: 3 ranks of a 2 x 6 array, entries from 1, 0 is a hole.
const std::vector<Row> sound_rows = {{3, 2, 1, 0, 7}, {0, 0, 0}, {8, 9, 10, 11, 4, 5, 6}};
const std::vector<RunList> merged_rows = {{{0, 3}, {6, 1}}, {}, {{3, 3}, {7, 4}}};

void put(pnetcdf::File& file, int variable, const Row& values, const Row& shape) {
  const std::vector<MPI_Offset> start(shape.size());
  const std::vector<MPI_Offset> count(shape.begin(), shape.end());
  file.put_vara_all(variable, start.data(), count.data(), values.data(),
                    static_cast<MPI_Offset>(values.size()), MPI_LONG_LONG_INT);
}

/// As SCORPIO's logger does. `more` entries are announced by rank 2 that are not there.
void make_scorpio(const std::string& path, const std::vector<Row>& rows, long long more = 0) {
  pnetcdf::File file = pnetcdf::File::create(MPI_COMM_SELF, path, NC_CLOBBER | NC_64BIT_DATA);
  Row counts, entries;
  for (const Row& row : rows) {
    counts.push_back(static_cast<long long>(row.size()));
    entries.insert(entries.end(), row.begin(), row.end());
  }
  counts.back() += more;
  const int ranks = file.def_dim("comm_sz", rows.size());
  const int length = file.def_dim("gmaplen", entries.size());
  const int of_counts = file.def_var("counts", NC_INT, std::vector{ranks});
  const int of_entries = file.def_var("gmap", NC_INT64, std::vector{length});
  file.put_att(NC_GLOBAL, "gdimlen", NC_INT, Row{2, 6});
  file.enddef();
  put(file, of_counts, counts, {static_cast<long long>(counts.size())});
  put(file, of_entries, entries, {static_cast<long long>(entries.size())});
  file.close();
}

/// As PIOc_write_nc_decomp() does: from 0, rows padded with the fill value of NetCDF.
void make_parallel_io(const std::string& path, const std::vector<Row>& rows, long long more = 0) {
  pnetcdf::File file = pnetcdf::File::create(MPI_COMM_SELF, path, NC_CLOBBER);
  constexpr std::size_t longest = 7;
  Row counts, entries;
  for (const Row& row : rows) {
    counts.push_back(static_cast<long long>(row.size()));
    for (const long long entry : row) entries.push_back(entry - 1);
    entries.resize(counts.size() * longest, NC_FILL_INT);
  }
  counts.back() += more;
  const int dims = file.def_dim("dims", 2);
  const int ranks = file.def_dim("task", rows.size());
  const int element = file.def_dim("map_element", longest);
  const int of_sizes = file.def_var("global_size", NC_INT, std::vector{dims});
  const int of_counts = file.def_var("maplen", NC_INT, std::vector{ranks});
  const int of_entries = file.def_var("map", NC_INT, std::vector{ranks, element});
  file.enddef();
  put(file, of_sizes, {2, 6}, {2});
  put(file, of_counts, counts, {static_cast<long long>(counts.size())});
  put(file, of_entries, entries, {static_cast<long long>(counts.size()), longest});
  file.close();
}

struct Layout {
  const char* name;
  void (*make)(const std::string&, const std::vector<Row>&, long long);
  std::string entry_99;  ///< how an entry of 99 is stored
};

class PioNetcdfMaps : public testing::TestWithParam<Layout> {
 protected:
  std::unique_ptr<MapFile> open(const std::vector<Row>& rows, long long more = 0) {
    if (comm_.is_root()) GetParam().make(path_, rows, more);
    comm_.barrier();
    return open_map(comm_, path_);
  }
  void expect_bad(const std::vector<Row>& rows, long long more,
                  const std::vector<std::string>& parts) {
    expect_bad_input(
        [&] {
          const auto file = open(rows, more);
          file->read(0, comm_.rank(), comm_.size());
        },
        parts);
    comm_.barrier();
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map.nc");
};

TEST_P(PioNetcdfMaps, RowsAreThoseOfTheSameMapAsText) {
  const auto file = open(sound_rows);
  EXPECT_EQ(file->layout(), GetParam().name);
  EXPECT_EQ(file->maps().at(0).array_dims(), (Extent{2, 6}));
  EXPECT_EQ(rows_of(*file, 0), merged_rows);
  const MapPart whole = file->read(0, 0, 1);
  EXPECT_EQ(whole.runs, (RunList{{0, 6}, {6, 5}}));
  EXPECT_EQ(whole.raw_requests, 4 + 7);
}

TEST_P(PioNetcdfMaps, FaultsNameTheRankAndTheValue) {
  std::vector<Row> rows = sound_rows;
  rows[2][1] = 99;
  expect_bad(rows, 0, {path_, "rank 2", GetParam().entry_99, "12 elements"});
  rows[2][1] = -3;
  expect_bad(rows, 0, {"rank 2", "outside"});
  rows[2][1] = 8;
  expect_bad(rows, 0, {"Element 7", "rank 2"});
  expect_bad(sound_rows, 3, {"rank 2 announces 10 entries"});
  expect_bad(sound_rows, -8, {"rank 2 announces -1 entries"});
}

TEST_P(PioNetcdfMaps, AFileCutOffAnywhereIsAnErrorAndNobodyHangs) {
  open(sound_rows);
  comm_.barrier();
  const std::string whole = content_of(path_);
  for (std::size_t bytes = 4; bytes < whole.size(); bytes += 8) {
    SCOPED_TRACE(bytes);
    comm_.barrier();
    make_file(comm_, path_, whole.substr(0, bytes));
    expect_bad_input([&] { open_map(comm_, path_); }, {path_, "truncated"});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, PioNetcdfMaps,
    testing::Values(Layout{"SCORPIO NetCDF", make_scorpio, "entry 99"},
                    Layout{"ParallelIO NetCDF", make_parallel_io, "entry 98"}),
    [](const auto& instance) {
      return std::string(instance.param.name).substr(0, instance.param.name[0] == 'S' ? 7 : 10);
    });

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
