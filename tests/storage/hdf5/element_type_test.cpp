#include "storage/hdf5/element_type.hpp"

#include <gtest/gtest.h>

namespace slabmark::hdf5 {
namespace {

TEST(NativeTypes, AreOneOfTheSameSizeForEachElementType) {
  for (const ElementTypeInfo& info : element_types) {
    EXPECT_EQ(H5Tget_size(native_type(info.type)), info.size) << info.name;
    EXPECT_EQ(element_type_of(native_type(info.type)), info.type) << info.name;
  }
  EXPECT_EQ(element_type_of(H5T_STD_I32BE), std::nullopt) << "it needs conversion";
}

}  // namespace
}  // namespace slabmark::hdf5
