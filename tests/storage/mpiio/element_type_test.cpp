#include "storage/mpiio/element_type.hpp"

#include <gtest/gtest.h>

namespace slabmark::mpiio {
namespace {

TEST(MpiTypes, AreOneOfTheSameSizeForEachElementType) {
  for (const ElementTypeInfo& info : element_types) {
    int bytes = 0;
    MPI_Type_size(mpi_type_of(info.type), &bytes);
    EXPECT_EQ(static_cast<std::size_t>(bytes), info.size) << info.name;
    EXPECT_EQ(element_type_of(mpi_type_of(info.type)), info.type) << info.name;
  }
  EXPECT_EQ(element_type_of(MPI_BYTE), std::nullopt);
}

}  // namespace
}  // namespace slabmark::mpiio
