#include "collective/locator/netcdf_locator.hpp"

#include <gmock/gmock.h>

namespace slabmark::collective {
namespace {

using testing::ElementsAre;

/// A file of two dimensions, of which the first is that of records, and of three variables.
struct Stub {
  MPI_Offset records = 2, columns = 5, record_bytes = 24;
  MPI_Offset first = 100;  ///< byte of the first variable
  int calls = 0;
  int failing_dimension = -1;
};
Stub stub;

const NetcdfFunctions functions = {
    .inq =
        [](int, int* dimensions, int* variables, int*, int* unlimited) {
          ++stub.calls;
          *dimensions = 2;
          *variables = 3;
          *unlimited = 0;
          return NC_NOERR;
        },
    .inq_recsize =
        [](int, MPI_Offset* bytes) {
          *bytes = stub.record_bytes;
          return NC_NOERR;
        },
    .inq_dimlen =
        [](int, int dimension, MPI_Offset* length) {
          if (dimension == stub.failing_dimension) return NC_EBADDIM;
          *length = dimension == 0 ? stub.records : stub.columns;
          return NC_NOERR;
        },
    .inq_varndims =
        [](int, int variable, int* dimensions) {
          *dimensions = variable;  // a number, a record of one, a record of columns
          return NC_NOERR;
        },
    .inq_vardimid =
        [](int, int variable, int* ids) {
          for (int d = 0; d < variable; ++d) ids[d] = d;
          return NC_NOERR;
        },
    .inq_vartype =
        [](int, int, nc_type* type) {
          *type = NC_INT;
          return NC_NOERR;
        },
    .inq_varoffset =
        [](int, int variable, MPI_Offset* offset) {
          *offset = stub.first + 4 * variable;
          return NC_NOERR;
        }};

class CollectiveNetcdfLocator : public testing::Test {
 protected:
  CollectiveNetcdfLocator() { stub = {}; }
  NetcdfLocator locator{functions, 7};
};

TEST_F(CollectiveNetcdfLocator, TellsWhereARecordOfAVariableLies) {
  const auto* const columns = locator.variable(2);
  ASSERT_NE(columns, nullptr);
  EXPECT_TRUE(columns->shape.has_records);
  EXPECT_THAT(columns->shape.lengths, ElementsAre(0, 5));
  EXPECT_EQ(columns->shape.elements(), 5u);
  EXPECT_EQ(locator.offset(*columns, 3), 108u + 3 * 24);
  const auto* const number = locator.variable(0);
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number->shape.elements(), 1u);
  EXPECT_EQ(locator.offset(*number, 0), 100u);
  EXPECT_EQ(locator.records(), 2u);
  EXPECT_EQ(locator.padding(), 3u);
}

TEST_F(CollectiveNetcdfLocator, AsksAgainOnlyWhenItForgot) {
  locator.variable(2);
  locator.variable(1);
  EXPECT_EQ(stub.calls, 1);
  stub.first = 500;
  stub.columns = 6;
  EXPECT_EQ(locator.variable(2)->offset, 108u);
  locator.forget();
  EXPECT_EQ(locator.variable(2)->offset, 508u);
  EXPECT_EQ(locator.variable(2)->shape.elements(), 6u);
  EXPECT_EQ(stub.calls, 2);
}

TEST_F(CollectiveNetcdfLocator, RecordsOfASingleVariableStandCloseTogether) {
  stub.record_bytes = 6;
  EXPECT_EQ(locator.padding(), 0u);
}

TEST_F(CollectiveNetcdfLocator, SaysWhatFailedAndAsksAgain) {
  EXPECT_EQ(locator.variable(3), nullptr);
  EXPECT_EQ(locator.error(), NC_ENOTVAR);
  stub.failing_dimension = 1;
  EXPECT_EQ(locator.shape(2), nullptr);
  EXPECT_EQ(locator.error(), NC_EBADDIM);
  EXPECT_NE(locator.shape(1), nullptr);
  EXPECT_EQ(locator.error(), NC_NOERR);
  stub.failing_dimension = -1;
  EXPECT_NE(locator.shape(2), nullptr);
}

}  // namespace
}  // namespace slabmark::collective
