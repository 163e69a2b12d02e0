#include "bench/method/shared/effective.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "scratch.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark {
namespace {

/// Two arrays of the same map and one of another type. Rank r has r + 1 runs of three elements,
/// which alternate with those of the other ranks.
Pattern uneven(const Comm& comm) {
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto size = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t length = 4 * size * size;
  RunList runs;
  for (std::uint64_t i = 0; i <= rank; ++i) runs.push_back({4 * (i * size + rank), 3});
  const auto selection = select_row_runs({length}, runs);

  Pattern pattern;
  pattern.name = "uneven";
  const auto dataset = [&](std::string name, ElementType type) {
    return Dataset{std::move(name), type, {{"x", length}}, false, std::nullopt};
  };
  pattern.datasets = {dataset("a", ElementType::float64), dataset("b", ElementType::float64),
                      dataset("c", ElementType::int32)};
  pattern.transfers = [selection](std::uint64_t) {
    return std::vector<Transfer>{
        {0, 0, selection, nullptr}, {1, 0, selection, nullptr}, {2, 0, selection, nullptr}};
  };
  return pattern;
}

class Effective : public testing::Test {
 protected:
  // What is tested is what methods say where the user has no file of hints.
  Effective() { unsetenv("ROMIO_HINTS"); }
  ~Effective() override {
    if (file_of_hints_) setenv("ROMIO_HINTS", file_of_hints_->c_str(), 1);
  }

  Json write(const std::string& method, const Settings& settings = {}) {
    const Scratch scratch(comm);
    return write_file(find_method(method), comm, uneven(comm), settings, scratch.file("f"))
        .effective;
  }
  /// True if it says that ROMIO is kept from data sieving; or, where ROMIO would not hear that of a
  /// library, that it should be.
  bool writes_unsieved(const std::string& method, const Settings& settings = {}) {
    const Json effective = write(method, settings);
    const bool is_heard = !method.starts_with("hdf5") || mpiio::romio_hears_hints_of_opening();
    return effective.contains(is_heard ? "added_hints" : "lacks_hint");
  }
  std::uint64_t runs() const { return static_cast<std::uint64_t>(comm.rank()) + 1; }
  std::uint64_t most_runs() const { return static_cast<std::uint64_t>(comm.size()); }
  static bool lacks_pnetcdf() {
    return std::any_of(methods().begin(), methods().end(), [](const MethodInfo& info) {
      return info.format == FileFormat::netcdf && !info.missing.empty();
    });
  }

  Comm comm{MPI_COMM_WORLD};

 private:
  static std::optional<std::string> variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  const std::optional<std::string> file_of_hints_ = variable("ROMIO_HINTS");
};

TEST_F(Effective, PosixWritesEachPieceOnItsOwn) {
  EXPECT_EQ(write("posix")["calls"], (Json{{"pwrite", 3 * runs()}}));
}

TEST_F(Effective, MpiioMovesAllDatasetsOfARoundInOneCall) {
  EXPECT_EQ(write("mpiio-independent")["calls"], (Json{{"MPI_File_write_at", 1}}));
  EXPECT_EQ(write("mpiio-collective")["calls"], (Json{{"MPI_File_write_at_all", 1}}));
}

TEST_F(Effective, MpiioWithoutViewMakesOneCallAPiece) {
  EXPECT_EQ(write("mpiio-independent", {{{"mpiio.view", "off"}}, {}})["calls"],
            (Json{{"MPI_File_write_at", 3 * runs()}}));
}

TEST_F(Effective, IndependentCallsOfWhichOnlySomeHaveHolesAreWrittenWithoutDataSieving) {
  const std::map<std::string, std::string> small = {{"mpiio.call_bytes", "10"}};
  EXPECT_FALSE(writes_unsieved("mpiio-independent"));  // all have some
  EXPECT_TRUE(writes_unsieved("mpiio-independent", {small, {}}));
  EXPECT_FALSE(writes_unsieved("mpiio-independent", {small, {{"romio_ds_write", "automatic"}}}));
  EXPECT_FALSE(writes_unsieved("mpiio-independent",  // none has any
                               {{{"mpiio.call_bytes", "10"}, {"mpiio.view", "off"}}, {}}));
}

TEST_F(Effective, CollectiveCallsInWhichARankHasNothingAreWrittenWithoutDataSieving) {
  const bool may_have_nothing_between_others = comm.size() > 2;
  const std::map<std::string, std::string> small = {{"mpiio.call_bytes", "10"}};
  EXPECT_FALSE(writes_unsieved("mpiio-collective"));
  EXPECT_EQ(writes_unsieved("mpiio-collective", {small, {}}), may_have_nothing_between_others);
  EXPECT_FALSE(writes_unsieved("mpiio-collective", {small, {{"romio_ds_write", "automatic"}}}));
  EXPECT_FALSE(writes_unsieved("hdf5-union"));
  EXPECT_EQ(writes_unsieved("hdf5-slab"), may_have_nothing_between_others);
  EXPECT_FALSE(writes_unsieved("hdf5-slab", {{}, {{"romio_ds_write", "automatic"}}}));
  EXPECT_FALSE(writes_unsieved("hdf5-slab", {{{"hdf5.collective", "off"}}, {}}));
  EXPECT_EQ(writes_unsieved("hdf5-union", {{{"hdf5.chunk", "7"}, {"hdf5.shuffle", "on"}}, {}}),
            may_have_nothing_between_others);
}

TEST_F(Effective, RanksWithLessDataMakeAsManyCollectiveCallsAsTheOthers) {
  const auto bytes = most_runs() * 3 * (8 + 8 + 4);
  EXPECT_EQ(write("mpiio-collective", {{{"mpiio.call_bytes", "10"}}, {}})["calls"],
            (Json{{"MPI_File_write_at_all", bytes / 10}}));
}

TEST_F(Effective, VardMakesOneCallForAllVariablesOfAType) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  const auto refused = find_method("pnetcdf-vard").supports(uneven(comm), {});
  if (refused) GTEST_SKIP() << *refused;
  EXPECT_EQ(write("pnetcdf-vard")["calls"], (Json{{"ncmpi_put_vard_all", 2}}));
}

TEST_F(Effective, VarnPostsOneRequestAVariableAndWaitsOnce) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  EXPECT_EQ(write("pnetcdf-varn")["calls"], (Json{{"ncmpi_iput_varn", 3}, {"ncmpi_wait_all", 1}}));
  EXPECT_EQ(write("pnetcdf-varn", {{{"pnetcdf.blocking", "on"}}, {}})["calls"],
            (Json{{"ncmpi_put_varn_all", 3}}));
}

TEST_F(Effective, VaraPostsOneRequestAHyperslab) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  EXPECT_EQ(write("pnetcdf-vara")["calls"],
            (Json{{"ncmpi_iput_vara", 3 * runs()}, {"ncmpi_wait_all", 1}}));
}

TEST_F(Effective, BlockingVaraIsPaddedToTheLargestNumberOfHyperslabs) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  EXPECT_EQ(write("pnetcdf-vara", {{{"pnetcdf.blocking", "on"}}, {}})["calls"],
            (Json{{"ncmpi_put_vara_all", 3 * most_runs()}}));
}

TEST_F(Effective, PnetcdfCountsAtLeastTheBytesThatWereMoved) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  const auto effective = write("pnetcdf-varn");
  EXPECT_GE(effective["library_bytes"].get<std::uint64_t>(), runs() * 3 * (8 + 8 + 4));
  EXPECT_EQ(effective["file_format"], "CDF-5");
}

TEST_F(Effective, CollectiveHdf5IsCollectiveAndPaddedToTheLargestNumberOfHyperslabs) {
  const auto effective = write("hdf5-slab");
  EXPECT_EQ(effective["calls"], (Json{{"H5Dwrite", 3 * most_runs()}}));
  EXPECT_EQ(effective["io_mode"], (Json{{"contiguous collective", 3 * most_runs()}}));
  EXPECT_EQ(effective["no_collective_cause"], Json::array());
}

TEST_F(Effective, IndependentHdf5MakesItsOwnCallsOnlyAndSaysThatItIsNotCollective) {
  const auto effective = write("hdf5-slab", {{{"hdf5.collective", "off"}}, {}});
  EXPECT_EQ(effective["calls"], (Json{{"H5Dwrite", 3 * runs()}}));
  EXPECT_EQ(effective["io_mode"], (Json{{"not collective", 3 * runs()}}));
}

TEST_F(Effective, Hdf5PinsTheFormatUnlessAsked) {
  EXPECT_EQ(write("hdf5-slab")["libver"], (Json{"earliest", "v110"}));
  EXPECT_EQ(write("hdf5-slab", {{{"hdf5.libver", "v114"}}, {}})["libver"], (Json{"v114", "v114"}));
}

TEST(ReportedHints, ThoseThatAreNotInEffectAsAskedAreNoted) {
  Json effective;
  const Settings settings{{}, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"c", "4"}}};
  report_hints(effective, settings, {{"a", "1"}, {"b", "20"}, {"c", "4"}, {"own", "x"}});
  EXPECT_EQ(effective["hints"].size(), 4u);
  ASSERT_EQ(effective["notes"].size(), 1u);
  EXPECT_EQ(effective["notes"][0], "The hint b=2 is not in effect: 20 is.");
}

TEST(ReportedHints, ThoseThatAreNotReportedAtAllAreNoted) {
  Json effective;
  report_hints(effective, {{}, {{"a", "1"}}}, {});
  ASSERT_EQ(effective["notes"].size(), 1u);
  EXPECT_EQ(effective["notes"][0],
            "The hint a=1 is not in effect: the library does not report it.");
}

TEST_F(Effective, AHintThatNobodyKnowsIsNoted) {
  for (const auto* method : {"mpiio-collective", "hdf5-slab"}) {
    const auto effective = write(method, {{}, {{"slabmark_no_such_hint", "7"}}});
    if (effective["hints"].contains("slabmark_no_such_hint")) continue;  // kept as it was given
    EXPECT_NE(effective["notes"].dump().find("slabmark_no_such_hint=7"), std::string::npos);
  }
}

TEST_F(Effective, PnetcdfHintsAreThoseOfTheOriginalUnlessTheUserSaysOtherwise) {
  if (lacks_pnetcdf()) GTEST_SKIP() << "PnetCDF is not in this build";
  EXPECT_EQ(write("pnetcdf-varn")["hints"]["nc_in_place_swap"], "enable");
  EXPECT_EQ(
      write("pnetcdf-varn", {{}, {{"nc_in_place_swap", "disable"}}})["hints"]["nc_in_place_swap"],
      "disable");
}

}  // namespace
}  // namespace slabmark
