#include "capture/interpose/datatype/runs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace slabmark::capture {
namespace {

using Numbers = std::vector<MPI_Count>;

template <class Number>
std::vector<Number> as(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

// By the constructor of large counts (MPI 4), if `is_large`: MPI tells how those were made apart.
#if MPI_VERSION >= 4
#define SLABMARK_MAKE(is_large, constructor, small, large) \
  ((is_large) ? constructor##_c large : constructor small)
#else
#define SLABMARK_MAKE(is_large, constructor, small, large) \
  (static_cast<void>(is_large), constructor small)
#endif

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
    Numbers lengths, places, addresses;
    for (int i = 0; i < count; ++i) {
      lengths.push_back(number(0, 3));
      places.push_back(number(0, 12));
      addresses.push_back(number(0, 40));
    }
    const int length = number(0, 3);
    const bool large = number(0, 1) == 0;
    switch (number(0, 12)) {
      case 0:
        SLABMARK_MAKE(large, MPI_Type_contiguous, (count, child, &type), (count, child, &type));
        break;
      case 1: {
        const int stride = number(0, 5);
        SLABMARK_MAKE(large, MPI_Type_vector, (count, length, stride, child, &type),
                      (count, length, stride, child, &type));
        break;
      }
      case 2: {
        const int stride = number(0, 50);
        SLABMARK_MAKE(large, MPI_Type_create_hvector, (count, length, stride, child, &type),
                      (count, length, stride, child, &type));
        break;
      }
      case 3:
        SLABMARK_MAKE(large, MPI_Type_indexed,
                      (count, as<int>(lengths).data(), as<int>(places).data(), child, &type),
                      (count, lengths.data(), places.data(), child, &type));
        break;
      case 4:
        SLABMARK_MAKE(
            large, MPI_Type_create_hindexed,
            (count, as<int>(lengths).data(), as<MPI_Aint>(addresses).data(), child, &type),
            (count, lengths.data(), addresses.data(), child, &type));
        break;
      case 5:
        SLABMARK_MAKE(large, MPI_Type_create_indexed_block,
                      (count, length, as<int>(places).data(), child, &type),
                      (count, length, places.data(), child, &type));
        break;
      case 6:
        SLABMARK_MAKE(large, MPI_Type_create_hindexed_block,
                      (count, length, as<MPI_Aint>(addresses).data(), child, &type),
                      (count, length, addresses.data(), child, &type));
        break;
      case 7: {
        std::vector<MPI_Datatype> children;
        for (int i = 0; i < count; ++i) children.push_back(make(depth - 1));
        SLABMARK_MAKE(large, MPI_Type_create_struct,
                      (count, as<int>(lengths).data(), as<MPI_Aint>(addresses).data(),
                       children.data(), &type),
                      (count, lengths.data(), addresses.data(), children.data(), &type));
        break;
      }
      case 8:
        make_subarray(child, large, type);
        break;
#ifndef I_MPI_VERSION  // packs some of them wrong: tests/mpi_faults/distributed_array.c
      case 9:
      case 10:
        make_darray(child, large, type);
        break;
#endif
      case 11: {
        const MPI_Aint longer = std::clamp<MPI_Aint>(extent, 0, 4096) + number(0, 9);
        SLABMARK_MAKE(large, MPI_Type_create_resized, (child, 0, longer, &type),
                      (child, 0, longer, &type));
        break;
      }
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

  void make_subarray(MPI_Datatype child, bool large, MPI_Datatype& type) {
    const int rank = number(1, 3);
    Numbers sizes, parts, starts;
    for (int d = 0; d < rank; ++d) {
      const int size = number(1, 5);
      const int part = number(1, size);
      sizes.push_back(size);
      parts.push_back(part);
      starts.push_back(number(0, size - part));
    }
    const int by = order();
    SLABMARK_MAKE(large, MPI_Type_create_subarray,
                  (rank, as<int>(sizes).data(), as<int>(parts).data(), as<int>(starts).data(), by,
                   child, &type),
                  (rank, sizes.data(), parts.data(), starts.data(), by, child, &type));
  }

  [[maybe_unused]] void make_darray(MPI_Datatype child, bool large, MPI_Datatype& type) {
    const int rank = number(1, 3);
    Numbers sizes;
    std::vector<int> kinds, arguments, places;
    for (int d = 0; d < rank; ++d) {
      const int kind = number(0, 2);
      const int size = number(1, 6);
      sizes.push_back(size);
      places.push_back(kind == 0 ? 1 : number(1, 3));
      kinds.push_back(kind == 0   ? MPI_DISTRIBUTE_NONE
                      : kind == 1 ? MPI_DISTRIBUTE_BLOCK
                                  : MPI_DISTRIBUTE_CYCLIC);
      const int enough = (size + places.back() - 1) / places.back();
      const bool is_default = kind == 0 || number(0, 1) == 0;
      arguments.push_back(is_default  ? MPI_DISTRIBUTE_DFLT_DARG
                          : kind == 1 ? enough + number(0, 1)
                                      : number(1, 3));
    }
    const int size = std::accumulate(places.begin(), places.end(), 1, std::multiplies<>());
    const int process = number(0, size - 1);
    const int by = order();
    SLABMARK_MAKE(large, MPI_Type_create_darray,
                  (size, process, rank, as<int>(sizes).data(), kinds.data(), arguments.data(),
                   places.data(), by, child, &type),
                  (size, process, rank, sizes.data(), kinds.data(), arguments.data(), places.data(),
                   by, child, &type));
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
