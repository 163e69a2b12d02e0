// What slabmark log canonical makes, where Python cannot make the log file.
#include "accel/hdf5_connector/to_canonical/canonical.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;

class Canonical : public LogFileTest {
 protected:
  static hdf5::Handle reference_attribute(const hdf5::Handle& object, const char* name,
                                          H5R_ref_t reference) {
    const auto scalar = handle(H5Screate(H5S_SCALAR), H5Sclose);
    auto made =
        handle(H5Acreate2(object.get(), name, H5T_STD_REF, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
               H5Aclose);
    EXPECT_GE(H5Awrite(made.get(), H5T_STD_REF, &reference), 0);
    H5Rdestroy(&reference);
    return made;
  }

  static H5R_ref_t read_reference(const hdf5::Handle& file, const char* name) {
    H5R_ref_t reference;
    const auto attribute = handle(H5Aopen(file.get(), name, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(H5Aread(attribute.get(), H5T_STD_REF, &reference), 0);
    return reference;
  }
};

TEST_F(Canonical, ReferencesOfTheNewKindLeadToObjectsRegionsAndAttributesOfTheCopy) {
  if (rank() == 0) {  // HDF5 writes them in serial files only
    const auto alone = access("", false);
    const auto file =
        handle(H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, alone.get()), H5Fclose);
    const auto d = dataset(file, "d", {4});
    ASSERT_GE(write_n(d, {{1}}, {{3}}, {5, 6, 7}), 0);
    const auto scalar = handle(H5Screate(H5S_SCALAR), H5Sclose);
    const auto unit =
        handle(H5Acreate2(d.get(), "unit", H5T_NATIVE_INT, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
               H5Aclose);
    const int value = 3;
    ASSERT_GE(H5Awrite(unit.get(), H5T_NATIVE_INT, &value), 0);
    const auto space = handle(H5Dget_space(d.get()), H5Sclose);
    const hsize_t start = 2;
    const hsize_t count = 2;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    H5R_ref_t reference;
    ASSERT_GE(H5Rcreate_object(file.get(), "d", H5P_DEFAULT, &reference), 0);
    reference_attribute(file, "object", reference);
    ASSERT_GE(H5Rcreate_region(file.get(), "d", space.get(), H5P_DEFAULT, &reference), 0);
    reference_attribute(file, "region", reference);
    ASSERT_GE(H5Rcreate_attr(file.get(), "d", "unit", H5P_DEFAULT, &reference), 0);
    reference_attribute(file, "attribute", reference);
  }
  world_.barrier();
  write_canonical(world_, path("a.h5"), path("b.h5"));

  const auto file = open_plainly("b.h5");
  auto object = read_reference(file, "object");
  const auto d = handle(H5Ropen_object(&object, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  EXPECT_THAT(all(d), ElementsAre(0, 5, 6, 7));
  auto region = read_reference(file, "region");
  const auto selected = handle(H5Ropen_region(&region, H5P_DEFAULT, H5P_DEFAULT), H5Sclose);
  EXPECT_EQ(H5Sget_select_npoints(selected.get()), 2);
  auto attribute = read_reference(file, "attribute");
  const auto unit = handle(H5Ropen_attr(&attribute, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  int value = 0;
  EXPECT_GE(H5Aread(unit.get(), H5T_NATIVE_INT, &value), 0);
  EXPECT_EQ(value, 3);
  for (auto* one : {&object, &region, &attribute}) H5Rdestroy(one);
}

TEST_F(Canonical, ADatasetThatCouldGrowIsAsLongAsItIsAndKeepsItsFillValue) {
  {
    const auto file = create("a.h5");
    const auto list = handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = 2;
    const int fill = 42;
    H5Pset_chunk(list.get(), 1, &chunk);
    H5Pset_fill_value(list.get(), H5T_NATIVE_INT, &fill);
    const auto d = dataset(file, "d", {1}, H5T_NATIVE_INT, list.get(), {H5S_UNLIMITED});
    const hsize_t longer = 4;
    ASSERT_GE(H5Dset_extent(d.get(), &longer), 0);
    if (rank() == ranks() - 1) {
      ASSERT_GE(write_n(d, {{2}}, {{1}}, {7}), 0);
    }
  }
  EXPECT_EQ(write_canonical(world_, path("a.h5"), path("b.h5")).datasets, 1u);
  const auto file = open_plainly("b.h5");
  const auto d = opened(file, "d");
  EXPECT_THAT(all(d), ElementsAre(42, 42, 7, 42));
  const auto list = handle(H5Dget_create_plist(d.get()), H5Pclose);
  EXPECT_EQ(H5Pget_layout(list.get()), H5D_CONTIGUOUS);
  int fill = 0;
  H5Pget_fill_value(list.get(), H5T_NATIVE_INT, &fill);
  EXPECT_EQ(fill, 42);
}

TEST_F(Canonical, WhatStandsInTheUserBlockIsKept) {
  const auto creation = handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation.get(), 512);
  {
    const auto list = access("");
    const auto file = handle(
        H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, creation.get(), list.get()), H5Fclose);
    const auto d = dataset(file, "d", {3});
    ASSERT_GE(write_n(d, {{0}}, {{3}}, {1, 2, 3}), 0);
  }
  if (rank() == 0) std::fstream(path("a.h5"), std::ios::in | std::ios::out) << "mine";
  world_.barrier();
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(1, 2, 3));
  write_canonical(world_, path("a.h5"), path("b.h5"));
  EXPECT_THAT(all_plainly("b.h5", "d"), ElementsAre(1, 2, 3));
  std::string text(4, ' ');
  std::ifstream(path("b.h5")).read(text.data(), 4);
  EXPECT_EQ(text, "mine");
}

}  // namespace
}  // namespace slabmark::slablog
