#include "storage/pnetcdf/calls/memory_type.hpp"

#include <gtest/gtest.h>

#include "core/parallel/datatype.hpp"

namespace slabmark::pnetcdf {
namespace {

TEST(TypeInMemory, IsThatOfCAndFortran) {
  EXPECT_EQ(type_in_memory(MPI_CHAR), ElementType::character);
  EXPECT_EQ(type_in_memory(MPI_SIGNED_CHAR), ElementType::int8);
  EXPECT_EQ(type_in_memory(MPI_UNSIGNED_LONG_LONG), ElementType::uint64);
  EXPECT_EQ(type_in_memory(MPI_LONG), sizeof(long) == 8 ? ElementType::int64 : ElementType::int32);
  EXPECT_EQ(type_in_memory(MPI_REAL8), ElementType::float64);
  EXPECT_EQ(type_in_memory(MPI_INTEGER), ElementType::int32);
  EXPECT_FALSE(type_in_memory(MPI_LONG_DOUBLE));
}

TEST(TypeInMemory, OfADerivedTypeIsTheOneThatItConsistsOf) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 4, MPI_FLOAT, &made);
  EXPECT_EQ(type_in_memory(Datatype(made).get()), ElementType::float32);
  const int lengths[] = {1, 1};
  const MPI_Aint offsets[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
  MPI_Type_create_struct(2, lengths, offsets, types, &made);
  EXPECT_FALSE(type_in_memory(Datatype(made).get())) << "it has two";
}

}  // namespace
}  // namespace slabmark::pnetcdf
