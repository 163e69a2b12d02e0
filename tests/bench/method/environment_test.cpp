#include "bench/method/environment.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "bench/method/format.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

TEST(Libraries, OfAllFormatsAreNamedOnceEach) {
  std::vector<std::string> names;
  for (const FileLibrary* library : file_libraries()) names.push_back(library->name);
  EXPECT_THAT(names, testing::ElementsAre("HDF5", "PnetCDF"));
}

TEST(Libraries, StandInTheEnvironmentWithTheirVersionsIfTheyAreInThisBuild) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  LibraryEnvironment environment = library_environment(comm, scratch.file(""));
  for (const FileLibrary* library : file_libraries()) {
    EXPECT_EQ(environment.libraries.at(library->name),
              library->version == nullptr ? "" : library->version());
  }
  environment.libraries["PnetCDF"] = "";
  const auto libraries = environment.to_json()["libraries"];
  EXPECT_EQ(libraries.size(), 1u);
  EXPECT_THAT(libraries["hdf5"].get<std::string>(),
              testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace slabmark
