#include "core/base/nearest.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

const std::vector<std::string> methods = {"posix", "mpiio-independent", "pnetcdf-varn",
                                          "pnetcdf-vara", "hdf5-slab"};

TEST(Nearest, IsTheNameWithAMistypedLetter) {
  EXPECT_EQ(nearest("posics", methods), "posix");
  EXPECT_EQ(nearest("hdf-slab", methods), "hdf5-slab");
  EXPECT_EQ(nearest("mpiio-indpendent", methods), "mpiio-independent");
}

TEST(Nearest, CountsASwapOfNeighboursAsOneSlip) {
  const std::vector<std::string> options = {"ton", "nto"};
  EXPECT_EQ(nearest("not", options), "nto");
}

TEST(Nearest, TakesUpperAndLowerCaseAsEqual) { EXPECT_EQ(nearest("POSIX", methods), "posix"); }

TEST(Nearest, IsTheFirstOfEquallyNearNames) {
  EXPECT_EQ(nearest("pnetcdf-varx", methods), "pnetcdf-varn");
}

TEST(Nearest, IsEmptyIfNothingIsNear) {
  EXPECT_EQ(nearest("adios", methods), "");
  EXPECT_EQ(nearest("", methods), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearest("posix", {}), "");
}

}  // namespace
}  // namespace slabmark
