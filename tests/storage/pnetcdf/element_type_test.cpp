#include "storage/pnetcdf/types/element_type.hpp"

#include <gtest/gtest.h>

namespace slabmark::pnetcdf {
namespace {

TEST(NetcdfTypes, AreOneForEachElementType) {
  for (const ElementTypeInfo& info : element_types) {
    EXPECT_EQ(element_type_of(nc_type_of(info.type)), info.type) << info.name;
  }
  EXPECT_EQ(nc_type_of(ElementType::uint8), NC_UBYTE);
  EXPECT_EQ(element_type_of(NC_NAT), std::nullopt);
  EXPECT_EQ(element_type_of(NC_STRING), std::nullopt) << "netCDF-4 alone has it";
}

}  // namespace
}  // namespace slabmark::pnetcdf
