#include "storage/pnetcdf/calls/flexible.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>

namespace slabmark::pnetcdf {
namespace {

/// The function of the last call, with the number of its arguments.
std::string last_name;
std::size_t last_arguments = 0;

#define SLABMARK_NOTING(function)                                                            \
  [](auto... arguments) {                                                                    \
    last_name = #function;                                                                   \
    last_arguments = sizeof...(arguments);                                                   \
    return std::is_invocable_r_v<int, decltype(&function), decltype(arguments)...> ? 0 : -1; \
  }

constexpr FlexibleFunction functions[] = {SLABMARK_FLEXIBLE_FUNCTIONS(SLABMARK_NOTING)};

TEST(FlexibleFunctions, AreThoseOfPnetcdfByName) {
  std::set<std::string> names;
  for (const FlexibleFunction& one : functions) {
    EXPECT_EQ(one.call(0, Call{}, nullptr), 0) << "other arguments than PnetCDF's " << last_name;
    EXPECT_EQ(last_name, name_of(one.verb, one.kind, one.collective));
    names.insert(last_name);
  }
  EXPECT_EQ(names.size(), 42U);
  EXPECT_TRUE(names.contains("ncmpi_put_var1_all"));
}

TEST(FlexibleFunctions, AreFoundByWhatACallSays) {
  Call call{};
  call.access.kind = Access::Kind::varn;
  int id = 0;
  EXPECT_EQ(make_call(functions, Verb::bput, false, 0, call, &id), 0);
  EXPECT_EQ(last_name, "ncmpi_bput_varn");
  EXPECT_EQ(last_arguments, 9U);
  EXPECT_EQ(make_call(functions, Verb::bput, true, 0, call, &id), NC_ENOTSUPPORT);
}

}  // namespace
}  // namespace slabmark::pnetcdf
