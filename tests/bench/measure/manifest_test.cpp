#include "bench/measure/manifest.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "core/base/host_name.hpp"
#include "core/base/version.hpp"
#include "core/parallel/program.hpp"

namespace slabmark {
namespace {

Json manifest_with(const Comm& comm, const Json& more = Json::object()) {
  return collect_manifest(comm, {.program = "a_test",
                                 .output_directory = "/",
                                 .configuration = {{"trials", 3}},
                                 .seed = 5,
                                 .more = more});
}

TEST(Manifests, SayWhatRanWhereAndHow) {
  const Comm comm(MPI_COMM_WORLD);
  const Json manifest = manifest_with(comm);
  if (!comm.is_root()) {
    EXPECT_TRUE(manifest.is_null());
    return;
  }
  EXPECT_EQ(manifest["program"]["name"], "a_test");
  EXPECT_EQ(manifest["program"]["version"], std::string(version()));
  EXPECT_EQ(manifest["program"]["git_revision"], std::string(git_revision()));
  EXPECT_EQ(manifest["mpi"], mpi_library_version());
  EXPECT_EQ(manifest["ranks"], comm.size());
  EXPECT_EQ(manifest["hosts"], (Json{{{"name", host_name()}, {"ranks", comm.size()}}}));
  EXPECT_EQ(manifest["ranks_per_node"], (Json{{"min", comm.size()}, {"max", comm.size()}}));
  EXPECT_GT(manifest["memory_bytes"].get<std::uint64_t>(), 1u << 20);
  EXPECT_GE(manifest["cores"].get<std::uint64_t>(), 1u);
  EXPECT_EQ(manifest["output"]["path"], "/");
  EXPECT_EQ(manifest["configuration"], (Json{{"trials", 3}}));
  EXPECT_EQ(manifest["configuration_hash"], configuration_hash({{"trials", 3}}));
  EXPECT_EQ(manifest["seed"], 5);
  EXPECT_TRUE(manifest["ended"].is_null());
  EXPECT_FALSE(manifest["kernel"].get<std::string>().empty());
}

TEST(Manifests, TakeWhatLibrariesSayOfThemselves) {
  const Comm comm(MPI_COMM_WORLD);
  const Json manifest = manifest_with(comm, {{"mpi_io", "OMPIO"}, {"program", {{"extra", 1}}}});
  if (!comm.is_root()) return;
  EXPECT_EQ(manifest["mpi_io"], "OMPIO");
  EXPECT_EQ(manifest["program"]["extra"], 1);
  EXPECT_EQ(manifest["program"]["name"], "a_test") << "members are merged, not replaced";
}

TEST(Manifests, NameTheJobAndItsEnvironmentButNoSecrets) {
  const Comm comm(MPI_COMM_WORLD);
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_JWT", "eyJhbGciOi", 1);
  const Json manifest = manifest_with(comm);
  unsetenv("SLURM_JOB_ID");
  unsetenv("SLURM_JWT");
  if (!comm.is_root()) return;
  EXPECT_EQ(manifest["job"]["SLURM_JOB_ID"], "4711");
  EXPECT_EQ(manifest["environment"]["SLURM_JOB_ID"], "4711");
  EXPECT_EQ(manifest.dump().find("eyJhbGciOi"), std::string::npos);
  EXPECT_NE(manifest["environment_withheld"].dump().find("SLURM_JWT"), std::string::npos);
}

TEST(Times, AreWrittenAsIsoInUtcToTheMillisecond) {
  using namespace std::chrono;
  EXPECT_EQ(utc_time(sys_days{2026y / January / 31} + 23h + 59min + 58s + 7ms),
            "2026-01-31T23:59:58.007Z");
  EXPECT_EQ(utc_time(sys_days{1969y / December / 31} + 23h + 59min + 59s + 900ms),
            "1969-12-31T23:59:59.900Z");
}

TEST(ConfigurationHashes, AreFnv1aOfTheCompactDump) {
  // Worked out with a separate implementation.
  EXPECT_EQ(configuration_hash(7), "af63aa4c86019796");
  EXPECT_EQ(configuration_hash({{"a", 1}, {"b", "two"}}), "f73d7afca7b6aedb");
}

TEST(ConfigurationHashes, IgnoreTheOrderOfMembersAndNothingElse) {
  EXPECT_EQ(configuration_hash(Json::parse(R"({"b": "two",   "a": 1})")),
            configuration_hash({{"a", 1}, {"b", "two"}}));
  EXPECT_NE(configuration_hash({{"a", 2}, {"b", "two"}}),
            configuration_hash({{"a", 1}, {"b", "two"}}));
}

}  // namespace
}  // namespace slabmark
