#include "core/parallel/program.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(MpiVersions, AreTrimmed) {
  const std::string version = mpi_library_version();
  ASSERT_FALSE(version.empty());
  EXPECT_GT(static_cast<unsigned char>(version.front()), ' ');
  EXPECT_GT(static_cast<unsigned char>(version.back()), ' ');
}

}  // namespace
}  // namespace slabmark
