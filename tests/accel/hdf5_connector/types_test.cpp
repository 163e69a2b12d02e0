// Elements of any type, from memory of any shape.
#include <algorithm>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;

class Types : public LogFileTest {};

TEST_F(Types, VariableLengthAndScalarDatasetsAreHdf5sOwn) {
  if (rank() == 0) {  // HDF5 writes variable-length elements in serial files only
    const auto text = handle(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text.get(), H5T_VARIABLE);
    const auto alone = access("", false);
    {
      const auto file = handle(
          H5Fcreate(path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, alone.get()), H5Fclose);
      const auto d = dataset(file, "words", {2}, text.get());
      const char* words[] = {"log", "layout"};
      ASSERT_GE(H5Dwrite(d.get(), text.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, words), 0);
      const auto scalar = handle(H5Screate(H5S_SCALAR), H5Sclose);
      const auto s = handle(H5Dcreate2(file.get(), "s", H5T_NATIVE_INT, scalar.get(), H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT),
                            H5Dclose);
      const int value = 11;
      ASSERT_GE(H5Dwrite(s.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0);
    }
    EXPECT_THAT(all_plainly("a.h5", "s"), ElementsAre(11));
    const auto file = handle(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, alone.get()), H5Fclose);
    char* words[2] = {nullptr, nullptr};
    const auto d = opened(file, "words");
    ASSERT_GE(H5Dread(d.get(), text.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, words), 0);
    EXPECT_STREQ(words[1], "layout");
    H5free_memory(words[0]);
    H5free_memory(words[1]);
  }
}

TEST_F(Types, VariableLengthElementsInAParallelFileAreRefusedByHdf5AndTheRestStays) {
  const auto list = handle(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose);
  {
    const auto file = create("a.h5");
    const auto lists = dataset(file, "lists", {2}, list.get());
    const auto d = dataset(file, "d", {2});
    int numbers[] = {1, 2, 3};
    hvl_t values[] = {{3, numbers}, {1, numbers}};
    EXPECT_LT(H5Dwrite(lists.get(), list.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    ASSERT_GE(write_n(d, {{0}}, {{2}}, {4, 5}), 0);
  }
  EXPECT_THAT(all_plainly("a.h5", "d"), ElementsAre(4, 5));
}

TEST_F(Types, MembersOfACompoundMoveAloneAndTheOthersStay) {
  struct Pair {
    int a;
    double b;
  };
  const auto pair = handle(H5Tcreate(H5T_COMPOUND, sizeof(Pair)), H5Tclose);
  H5Tinsert(pair.get(), "a", HOFFSET(Pair, a), H5T_NATIVE_INT);
  H5Tinsert(pair.get(), "b", HOFFSET(Pair, b), H5T_NATIVE_DOUBLE);
  const auto only_a = handle(H5Tcreate(H5T_COMPOUND, sizeof(int)), H5Tclose);
  H5Tinsert(only_a.get(), "a", 0, H5T_NATIVE_INT);
  const auto file = create("a.h5");
  const auto d = dataset(file, "d", {2}, pair.get());
  const Pair both[] = {{1, 1.5}, {2, 2.5}};
  ASSERT_GE(H5Dwrite(d.get(), pair.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, both), 0);
  const int as[] = {7, 8};
  ASSERT_GE(H5Dwrite(d.get(), only_a.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, as), 0);
  Pair got[2] = {};
  ASSERT_GE(H5Dread(d.get(), pair.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, got), 0);
  EXPECT_EQ(got[0].a, 7);
  EXPECT_EQ(got[1].b, 2.5);
}

TEST_F(Types, ElementsAreConvertedToTheTypeOfTheFileAndBack) {
  const auto at = 2 * mine();
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {2 * static_cast<hsize_t>(ranks())}, H5T_STD_I16BE);
    const auto space = handle(H5Dget_space(d.get()), H5Sclose);
    const hsize_t two = 2;
    const auto line = handle(H5Screate_simple(1, &two, nullptr), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &two, nullptr);
    const double values[] = {rank() + 0.75, 1e9};
    ASSERT_GE(H5Dwrite(d.get(), H5T_NATIVE_DOUBLE, line.get(), space.get(), H5P_DEFAULT, values),
              0);
    float got[] = {-1, -1};
    ASSERT_GE(H5Dread(d.get(), H5T_NATIVE_FLOAT, line.get(), space.get(), H5P_DEFAULT, got), 0);
    EXPECT_THAT(got, ElementsAre(static_cast<float>(rank()), 32767.0F));
  }
  const auto values = all_plainly("a.h5", "d");
  EXPECT_EQ(values[at], rank());
  EXPECT_EQ(values[at + 1], 32767);
}

TEST_F(Types, MemoryMayBeStridedAndOfAnotherRank) {
  const auto count = static_cast<hsize_t>(ranks());
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {count, 4});
    const auto space = handle(H5Dget_space(d.get()), H5Sclose);
    const Dims row = {mine(), 0};
    const Dims row_size = {1, 4};
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, row.data(), nullptr, row_size.data(), nullptr);
    // Every second element of every third row of a matrix.
    const Dims matrix = {6, 4};
    const auto memory = handle(H5Screate_simple(2, matrix.data(), nullptr), H5Sclose);
    const Dims start = {1, 0};
    const Dims stride = {3, 2};
    const Dims each = {2, 2};
    H5Sselect_hyperslab(memory.get(), H5S_SELECT_SET, start.data(), stride.data(), each.data(),
                        nullptr);
    std::vector<int> values(24);
    std::iota(values.begin(), values.end(), 100 * rank());
    ASSERT_GE(
        H5Dwrite(d.get(), H5T_NATIVE_INT, memory.get(), space.get(), H5P_DEFAULT, values.data()),
        0);
    std::vector<int> back(24, -1);
    ASSERT_GE(H5Dread(d.get(), H5T_NATIVE_INT, memory.get(), space.get(), H5P_DEFAULT, back.data()),
              0);
    EXPECT_EQ(back[4], values[4]);
    EXPECT_EQ(back[18], values[18]);
    EXPECT_EQ(std::count(back.begin(), back.end(), -1), 20);
  }
  const auto values = all_plainly("a.h5", "d");
  const auto mine_of = values.begin() + 4 * rank();
  const auto base = 100 * rank();
  EXPECT_THAT(std::vector<int>(mine_of, mine_of + 4),
              ElementsAre(base + 4, base + 6, base + 16, base + 18));
}

TEST_F(Types, BoxesInThreeDimensionsAreWrittenAndReadInTheOrderOfTheirElements) {
  const auto count = static_cast<hsize_t>(ranks());
  {
    const auto file = create("a.h5");
    const auto d = dataset(file, "d", {2, 2 * count, 3});
    std::vector<int> values(10);
    std::iota(values.begin(), values.end(), 10 * rank());
    ASSERT_GE(
        write_n(d, {{0, 2 * mine(), 1}, {1, 2 * mine() + 1, 0}}, {{2, 2, 2}, {1, 1, 2}}, values),
        0);
    // The second box takes the place of an element of the first.
    values[6] = values[9];
    values.pop_back();
    EXPECT_EQ(read_n(d, {{0, 2 * mine(), 1}}, {{2, 2, 2}}, 8),
              std::vector<int>(values.begin(), values.begin() + 8));
  }
  const auto values = all_plainly("a.h5", "d");
  const auto at = [&](hsize_t z, hsize_t y, hsize_t x) {
    return values[(z * 2 * count + 2 * mine() + y) * 3 + x] - 10 * rank();
  };
  EXPECT_EQ(at(0, 0, 1), 0);
  EXPECT_EQ(at(0, 1, 2), 3);
  EXPECT_EQ(at(1, 0, 1), 4);
  EXPECT_EQ(at(1, 1, 0), 8);
  EXPECT_EQ(at(1, 1, 1), 9);
  EXPECT_EQ(at(1, 1, 2), 7);
}

}  // namespace
}  // namespace slabmark::slablog
