#include <algorithm>

#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"
#include "bench/map/map_pattern.hpp"
#include "bench/pattern/output_table.hpp"

namespace slabmark {
namespace {

/// Requests and bytes of an output file on as many ranks as its maps were recorded on.
struct Amounts {
  std::uint64_t requests = 0, most = 0, fewest = 0, bytes = 0;
};

Amounts amounts(const Comm& comm, const std::string& path, const std::string& output,
                ElementType real) {
  const auto file = open_map(comm, path);
  const OutputTable table = find_output_table(output);
  const int ranks = static_cast<int>(file->maps().front().recorded_ranks);
  Amounts all;
  for (int rank = 0; rank < ranks; ++rank) {
    OutputShare share{.maps = {}, .is_first = rank == 0, .real = real, .records = 1};
    for (std::size_t k = 0; k < table.maps.size(); ++k) {
      share.maps.push_back(select_row_runs(file->maps()[k].dims, file->read(k, rank, ranks).runs));
    }
    const Pattern pattern = make_output_pattern(table, share);
    const std::uint64_t requests = request_count(pattern);
    all.requests += requests;
    all.most = std::max(all.most, requests);
    all.fewest = rank == 0 ? requests : std::min(all.fewest, requests);
    all.bytes += moved_bytes(pattern);
  }
  return all;
}

class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_REAL_DATA();
    if (!SLABMARK_WITH_PNETCDF) GTEST_SKIP() << "this build has no PnetCDF";
  }
  Comm comm_{MPI_COMM_WORLD};
};

TEST_F(OutputFiles, TheAtmospheresMovesTheBytesAndRequestsOfTheOriginal) {
  const auto path = real_data() + "/map_f_case_16p.nc";
  const Amounts monthly = amounts(comm_, path, "f-h0", ElementType::float64);
  EXPECT_EQ(monthly.requests, 1977687u);
  EXPECT_EQ(monthly.most, 189503u);
  EXPECT_EQ(monthly.fewest, 63170u);
  EXPECT_EQ(monthly.bytes, 33673696u);
  EXPECT_EQ(amounts(comm_, path, "f-h0", ElementType::float32).bytes, 16849048u);
  EXPECT_EQ(amounts(comm_, path, "f-h1", ElementType::float64).bytes, 661776u);
}

TEST_F(OutputFiles, TheOceansMovesTheBytesAndRequestsOfTheOriginal) {
  const Amounts ocean =
      amounts(comm_, real_data() + "/g_case_cmpaso_16p.nc", "g", ElementType::float64);
  EXPECT_EQ(ocean.requests, 1263580u);
  EXPECT_EQ(ocean.bytes, 831068148u);
}

}  // namespace
}  // namespace slabmark
