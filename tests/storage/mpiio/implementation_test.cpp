#include "storage/mpiio/implementation.hpp"

#include <gtest/gtest.h>

namespace slabmark::mpiio {
namespace {

// What Open MPI 4.1.4 selects under these settings was seen with "--mca io_base_verbose 100".
const std::map<std::string, int> standard = {{"ompio", 30}, {"romio321", 10}};

TEST(OpenMpiSelections, TakeTheHighestPriority) {
  EXPECT_EQ(chosen_implementation({.components = "", .priorities = standard}), "OMPIO");
  EXPECT_EQ(
      chosen_implementation({.components = "", .priorities = {{"ompio", 1}, {"romio321", 10}}}),
      "ROMIO");
}

TEST(OpenMpiSelections, FollowTheUsersList) {
  EXPECT_EQ(chosen_implementation({.components = "romio321", .priorities = standard}), "ROMIO");
  EXPECT_EQ(chosen_implementation({.components = "^ompio", .priorities = standard}), "ROMIO");
  EXPECT_EQ(chosen_implementation({.components = "^romio321", .priorities = standard}), "OMPIO");
  EXPECT_EQ(chosen_implementation({.components = "romio321,ompio", .priorities = standard}),
            "OMPIO")
      << "the order of a list does not count";
}

TEST(OpenMpiSelections, LeaveLustreToRomio) {
  EXPECT_EQ(chosen_implementation({.components = "", .priorities = standard, .on_lustre = true}),
            "ROMIO");
  EXPECT_EQ(
      chosen_implementation({.components = "ompio", .priorities = standard, .on_lustre = true}),
      "OMPIO");
}

TEST(OpenMpiSelections, AdmitThatTheyDoNotKnow) {
  EXPECT_EQ(chosen_implementation({}), "unknown (Open MPI has no MPI-IO component)");
  EXPECT_EQ(chosen_implementation({.components = "", .priorities = {{"newio", 5}}}),
            "unknown (Open MPI's component newio)");
}

TEST(MpiIoImplementations, AreKnownForTheLibraryInUse) {
  const std::string name = mpi_io_implementation("/");
  EXPECT_TRUE(name == "OMPIO" || name == "ROMIO") << name;
}

TEST(MpiIoImplementations, FailOnOverlapsInTheVersionsThatAreKnownTo) {
  EXPECT_TRUE(fails_on_overlaps("OMPIO", "Open MPI v4.1.1"));
  EXPECT_TRUE(fails_on_overlaps("OMPIO", "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"));
  EXPECT_FALSE(fails_on_overlaps("OMPIO", "Open MPI v4.1.0, package: x"));
  EXPECT_FALSE(fails_on_overlaps("OMPIO", "Open MPI v4.1.5, package: x"));
  EXPECT_FALSE(fails_on_overlaps("OMPIO", "Open MPI v4.1.10, package: x"));
  EXPECT_FALSE(fails_on_overlaps("ROMIO", "Open MPI v4.1.4, package: x"));
}

}  // namespace
}  // namespace slabmark::mpiio
