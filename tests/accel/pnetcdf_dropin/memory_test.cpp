#include "accel/pnetcdf_dropin/memory.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "core/parallel/datatype.hpp"

namespace slabmark::dropin {
namespace {

using testing::ElementsAre;

std::vector<std::int32_t> counted(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

std::optional<UserMemory> memory_of(const MemoryArgument& argument, ElementType external,
                                    std::uint64_t elements) {
  return UserMemory::of(argument, external, elements, {}, nullptr);
}

TEST(UserMemory, OfTheVariablesTypeIsPlain) {
  auto values = counted(6);
  const auto memory = memory_of({values.data(), -1, MPI_INT}, ElementType::int32, 6);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(memory->is_plain());
  EXPECT_EQ(memory->range().second - memory->range().first, 24);
}

TEST(UserMemory, OfNoTypeHasTheVariables) {
  auto values = counted(6);
  const auto memory = memory_of({values.data(), 99, MPI_DATATYPE_NULL}, ElementType::int32, 6);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(memory->is_plain());
}

TEST(UserMemory, IsConvertedInBothDirections) {
  auto values = counted(3);
  const auto memory = memory_of({values.data(), -1, MPI_INT}, ElementType::float64, 3);
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->is_plain());
  std::array<double, 3> packed{};
  ASSERT_TRUE(memory->pack(reinterpret_cast<std::byte*>(packed.data())));
  EXPECT_THAT(packed, ElementsAre(0.0, 1.0, 2.0));
}

TEST(UserMemory, LeavesToPnetcdfWhatItMustJudge) {
  auto values = counted(8);
  EXPECT_FALSE(memory_of({values.data(), 5, MPI_INT}, ElementType::int32, 6)) << "other sizes";
  EXPECT_FALSE(memory_of({values.data(), -1, MPI_CHAR}, ElementType::int32, 6)) << "text";
  EXPECT_FALSE(memory_of({values.data(), -1, MPI_INT}, ElementType::character, 6)) << "text";
  EXPECT_FALSE(memory_of({values.data(), -1, MPI_UNSIGNED_CHAR}, ElementType::int8, 6));
  EXPECT_FALSE(memory_of({values.data(), 3, MPI_FLOAT_INT}, ElementType::int32, 6));
}

TEST(UserMemory, OfADerivedTypeIsGathered) {
  auto values = counted(8);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 2, MPI_INT, &made);
  std::optional<UserMemory> memory;
  {
    const Datatype every_second(made);
    memory = memory_of({values.data(), 1, every_second.get()}, ElementType::int32, 4);
    ASSERT_TRUE(memory);
  }  // the caller may free its type before the wait
  std::array<std::int32_t, 4> packed{};
  ASSERT_TRUE(memory->pack(reinterpret_cast<std::byte*>(packed.data())));
  EXPECT_THAT(packed, ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(memory->range().second - memory->range().first, 28);
  for (auto& value : packed) value += 100;
  memory->unpack(reinterpret_cast<const std::byte*>(packed.data()));
  EXPECT_THAT(values, ElementsAre(100, 1, 102, 3, 104, 5, 106, 7));
}

TEST(UserMemory, OfAMapIsWalkedInTheOrderOfTheFile) {
  auto values = counted(6);  // a transposed 2 x 3
  const MPI_Offset counts[] = {2, 3}, imap[] = {1, 2};
  const auto memory =
      UserMemory::of({values.data(), -1, MPI_INT}, ElementType::int32, 6, counts, imap);
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->is_plain());
  std::array<std::int32_t, 6> packed{};
  ASSERT_TRUE(memory->pack(reinterpret_cast<std::byte*>(packed.data())));
  EXPECT_THAT(packed, ElementsAre(0, 2, 4, 1, 3, 5));
  memory->unpack(reinterpret_cast<const std::byte*>(packed.data()));
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(UserMemory, OfAMapMayGoBackwards) {
  auto values = counted(4);
  const MPI_Offset counts[] = {4}, imap[] = {-1};
  const auto memory =
      UserMemory::of({values.data() + 3, -1, MPI_INT}, ElementType::int32, 4, counts, imap);
  ASSERT_TRUE(memory);
  std::array<std::int32_t, 4> packed{};
  ASSERT_TRUE(memory->pack(reinterpret_cast<std::byte*>(packed.data())));
  EXPECT_THAT(packed, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(memory->range().first, reinterpret_cast<const std::byte*>(values.data()));
}

TEST(UserMemory, OfAMapInOrderIsPlain) {
  auto values = counted(6);
  const MPI_Offset counts[] = {2, 3}, imap[] = {3, 1};
  EXPECT_TRUE(UserMemory::of({values.data(), -1, MPI_INT}, ElementType::int32, 6, counts, imap)
                  ->is_plain());
}

TEST(UserMemory, SampleTellsThatItWasFilledAnew) {
  std::vector<std::int32_t> values(1 << 14, 1);
  const auto memory = memory_of({values.data(), -1, MPI_INT}, ElementType::int32, values.size());
  const auto before = memory->sample();
  EXPECT_EQ(memory->sample(), before);
  std::ranges::fill(values, 2);
  EXPECT_NE(memory->sample(), before);
}

}  // namespace
}  // namespace slabmark::dropin
