#include "capture/datatype/runs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace slabmark::capture {
namespace {

class RandomTypes {
 public:
  explicit RandomTypes(unsigned seed) : random_(seed) {}
  ~RandomTypes() {
    for (auto& type : made_) MPI_Type_free(&type);
  }

  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  /// Constructors within constructors, `depth` deep; all offsets are at least 0.
  MPI_Datatype make(int depth) {
    const MPI_Datatype named[] = {
        MPI_INT,      MPI_DOUBLE,          MPI_CHAR, MPI_SHORT,    MPI_SHORT_INT,
        MPI_LONG_INT, MPI_LONG_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT};
    if (depth == 0) return named[number(0, 8)];
    const auto child = make(depth - 1);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_true_extent(child, &lower, &extent);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int count = number(0, 4);
    std::vector<int> lengths;
    std::vector<int> places;
    std::vector<MPI_Aint> addresses;
    for (int i = 0; i < count; ++i) {
      lengths.push_back(number(0, 3));
      places.push_back(number(0, 12));
      addresses.push_back(number(0, 40));
    }
    switch (number(0, 12)) {
      case 0:
        MPI_Type_contiguous(count, child, &type);
        break;
      case 1:
        MPI_Type_vector(count, number(0, 3), number(0, 5), child, &type);
        break;
      case 2:
        MPI_Type_create_hvector(count, number(0, 3), number(0, 50), child, &type);
        break;
      case 3:
        MPI_Type_indexed(count, lengths.data(), places.data(), child, &type);
        break;
      case 4:
        MPI_Type_create_hindexed(count, lengths.data(), addresses.data(), child, &type);
        break;
      case 5:
        MPI_Type_create_indexed_block(count, number(0, 3), places.data(), child, &type);
        break;
      case 6:
        MPI_Type_create_hindexed_block(count, number(0, 3), addresses.data(), child, &type);
        break;
      case 7: {
        std::vector<MPI_Datatype> children;
        for (int i = 0; i < count; ++i) children.push_back(make(depth - 1));
        MPI_Type_create_struct(count, lengths.data(), addresses.data(), children.data(), &type);
        break;
      }
      case 8:
        make_subarray(child, type);
        break;
      case 9:
      case 10:
        make_darray(child, type);
        break;
      case 11:
        MPI_Type_create_resized(child, 0, std::clamp<MPI_Aint>(extent, 0, 4096) + number(0, 9),
                                &type);
        break;
      default:
        MPI_Type_dup(child, &type);
    }
    // Open MPI 4.1 refuses to make some of distributed arrays.
    if (type == MPI_DATATYPE_NULL) MPI_Type_dup(child, &type);
    MPI_Type_commit(&type);
    made_.push_back(type);
    return type;
  }

 private:
  int order() { return number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  void make_subarray(MPI_Datatype child, MPI_Datatype& type) {
    const int rank = number(1, 3);
    std::vector<int> sizes, parts, starts;
    for (int d = 0; d < rank; ++d) {
      sizes.push_back(number(1, 5));
      parts.push_back(number(1, sizes.back()));
      starts.push_back(number(0, sizes.back() - parts.back()));
    }
    MPI_Type_create_subarray(rank, sizes.data(), parts.data(), starts.data(), order(), child,
                             &type);
  }

  void make_darray(MPI_Datatype child, MPI_Datatype& type) {
    const int rank = number(1, 3);
    std::vector<int> sizes, kinds, arguments, places;
    for (int d = 0; d < rank; ++d) {
      const int kind = number(0, 2);
      sizes.push_back(number(1, 6));
      places.push_back(kind == 0 ? 1 : number(1, 3));
      kinds.push_back(kind == 0   ? MPI_DISTRIBUTE_NONE
                      : kind == 1 ? MPI_DISTRIBUTE_BLOCK
                                  : MPI_DISTRIBUTE_CYCLIC);
      const int enough = (sizes.back() + places.back() - 1) / places.back();
      const bool is_default = kind == 0 || number(0, 1) == 0;
      arguments.push_back(is_default  ? MPI_DISTRIBUTE_DFLT_DARG
                          : kind == 1 ? enough + number(0, 1)
                                      : number(1, 3));
    }
    const int size = std::accumulate(places.begin(), places.end(), 1, std::multiplies<>());
    MPI_Type_create_darray(size, number(0, size - 1), rank, sizes.data(), kinds.data(),
                           arguments.data(), places.data(), order(), child, &type);
  }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

/// What MPI itself takes of a buffer, in its order.
std::vector<char> packed(const std::vector<char>& buffer, int count, MPI_Datatype type) {
  int size = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &size);
  std::vector<char> bytes(static_cast<std::size_t>(size) + 1);
  int position = 0;
  MPI_Pack(buffer.data(), count, type, bytes.data(), static_cast<int>(bytes.size()), &position,
           MPI_COMM_SELF);
  bytes.resize(static_cast<std::size_t>(position));
  return bytes;
}

TEST(Runs, RandomDatatypesHaveTheBytesThatMpiPacks) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::mt19937 random(1);
  std::vector<char> buffer(std::size_t{1} << 22);
  for (auto& byte : buffer) byte = static_cast<char>(random());
  int compared = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    RandomTypes types(seed);
    const auto type = types.make(types.number(0, 3));
    const int count = types.number(0, 3);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    const auto size = static_cast<MPI_Aint>(buffer.size());
    if (lower < 0 || extent < 0 || lower + extent * (count + 1) > size) continue;

    TypeMap map;
    ASSERT_TRUE(take_apart(type, map)) << "seed " << seed;
    std::vector<char> found;
    std::int64_t end = -1;
    for (const auto& run : repeated(map, count)) {
      EXPECT_NE(run.offset, end) << "neighbours are one run, seed " << seed;
      end = run.offset + run.bytes;
      ASSERT_LE(end, size) << "seed " << seed;
      found.insert(found.end(), buffer.begin() + run.offset, buffer.begin() + end);
    }
    EXPECT_EQ(found, packed(buffer, count, type)) << "seed " << seed;
    EXPECT_EQ(map.extent, extent) << "seed " << seed;
    ++compared;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  EXPECT_GT(compared, 300);
}

TEST(Runs, OffsetsMayBeNegative) {
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {-8, 4};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  TypeMap map;
  EXPECT_TRUE(take_apart(type, map));
  EXPECT_EQ(map.runs, (ByteRuns{{-8, 4}, {4, 8}}));
  MPI_Type_free(&type);
}

TEST(Runs, AContiguousTypeOfManyElementsIsOneRun) {
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &row);
  MPI_Type_contiguous(1 << 10, row, &plane);
  TypeMap map;
  EXPECT_TRUE(take_apart(plane, map));
  EXPECT_EQ(repeated(map, 4), (ByteRuns{{0, std::int64_t{4} << 33}}));
  MPI_Type_free(&row);
  MPI_Type_free(&plane);
}

}  // namespace
}  // namespace slabmark::capture
