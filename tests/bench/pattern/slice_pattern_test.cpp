#include "bench/pattern/slice_pattern.hpp"

#include <functional>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/transfer_pieces.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;
using Coordinates = std::array<std::uint64_t, 3>;  // x y z

std::uint64_t ranks_of(const BlockedField& field) {
  return field.processes[0] * field.processes[1] * field.processes[2];
}

Pattern pattern_of(const BlockedField& field, const Slice& slice, std::uint64_t rank) {
  return make_slice_pattern({field, {slice}, 1, ElementType::float32}, 1, rank, ranks_of(field));
}

/// First point of a rank's block, found by handing out points one by one.
Coordinates block_begin(const BlockedField& field, std::uint64_t rank) {
  Coordinates begin{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto place = rank % field.processes[axis];
    rank /= field.processes[axis];
    const auto most = field.points[axis] % field.processes[axis];
    begin[axis] = place * (field.points[axis] / field.processes[axis]) + std::min(place, most);
  }
  return begin;
}

/// The field's point at an element of a rank's memory, whose shape includes the halos.
Coordinates point_in_memory(const BlockedField& field, std::uint64_t rank, const Extent& shape,
                            std::uint64_t element) {
  const auto begin = block_begin(field, rank);
  Coordinates point{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    point[axis] = begin[axis] + element % shape[2 - axis] - field.halo;
    element /= shape[2 - axis];
  }
  return point;
}

/// The field's points that a slice keeps, in the order of the file: by definition, point by point.
std::vector<Coordinates> kept_points(const BlockedField& field, const Slice& slice) {
  std::vector<Coordinates> points;
  const auto keeps = [&](std::size_t axis, std::uint64_t at) {
    const auto& range = slice.ranges[axis];
    return at >= range.begin && at < range.end && (at - range.begin) % range.stride == 0;
  };
  const auto before = slice.with_halos ? field.halo : 0;
  for (std::uint64_t z = 0; z < field.points[2] + 2 * before; ++z) {
    for (std::uint64_t y = 0; y < field.points[1] + 2 * before; ++y) {
      for (std::uint64_t x = 0; x < field.points[0] + 2 * before; ++x) {
        const bool kept = keeps(0, x) && keeps(1, y) && keeps(2, z);
        if (kept) points.push_back({x - before, y - before, z - before});
      }
    }
  }
  return points;
}

/// Every element of the file must come from the point of the field that stands there, once.
void expect_all_points(const BlockedField& field, const Slice& slice) {
  const auto expected = kept_points(field, slice);
  std::map<std::uint64_t, Coordinates> found;
  for (std::uint64_t rank = 0; rank < ranks_of(field); ++rank) {
    const auto pattern = pattern_of(field, slice, rank);
    ASSERT_EQ(element_count(pattern.datasets.at(0).extent()), expected.size());
    for_each_piece(pattern.transfers(0).at(0), [&](const Piece& piece) {
      const auto& shape = pattern.transfers(0).at(0).buffer->extent();
      for (std::uint64_t i = 0; i < piece.length; ++i) {
        const auto point = point_in_memory(field, rank, shape, piece.buffer + i);
        EXPECT_TRUE(found.emplace(piece.file + i, point).second) << "written twice";
      }
    });
  }
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [place, point] : found) ASSERT_EQ(point, expected.at(place)) << "at " << place;
}

Slice plane(const BlockedField& field, std::size_t normal, std::uint64_t position,
            std::uint64_t stride) {
  auto slice = whole_field(field);
  for (auto& range : slice.ranges) range.stride = stride;
  slice.ranges[normal] = {position, position + 1, 1};
  slice.normal = normal;
  slice.name = "_plane";
  return slice;
}

TEST(SlicePattern, RangesKeepTheLastPointWhereTheStrideDoesNotDivide) {
  EXPECT_EQ((PointRange{0, 10, 5}.count()), 2u);
  EXPECT_EQ((PointRange{0, 11, 5}.count()), 3u);
  EXPECT_EQ((PointRange{3, 4, 1}.count()), 1u);
}

TEST(SlicePattern, EveryPointOfAnySliceOfAnyFieldIsWrittenOnceInItsPlace) {
  std::mt19937 random(11);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int i = 0; i < 150; ++i) {
    BlockedField field;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      field.points[axis] = 1 + below(9);
      field.processes[axis] = 1 + below(std::min<std::uint64_t>(3, field.points[axis]));
    }
    field.halo = below(3);
    auto slice = i % 3 == 0 ? whole_field_with_halos(field) : whole_field(field);
    for (auto& range : slice.ranges) {
      range.begin = below(range.end);
      range.end -= below(range.end - range.begin);
      range.stride = 1 + below(range.end - range.begin);
    }
    if (i % 2 == 0) {
      const auto normal = below(3);
      slice.ranges[normal] = {slice.ranges[normal].begin, slice.ranges[normal].begin + 1, 1};
      slice.normal = normal;
    }
    SCOPED_TRACE(i);
    expect_all_points(field, slice);
  }
}

TEST(SlicePattern, OuterHalosMakeTheFieldLargerByOneHaloOnEachSide) {
  const BlockedField field{{8, 6, 4}, {2, 1, 1}, 3};
  const auto slice = whole_field_with_halos(field);
  const auto first = pattern_of(field, slice, 0);
  EXPECT_EQ(first.datasets[0].extent(), (Extent{10, 12, 14}));
  EXPECT_EQ(first.transfers(0)[0].file->element_count(), 10u * 12u * 7u);
  EXPECT_EQ(first.settings.at("halos_kept"), "outer");
  expect_all_points(field, slice);
}

TEST(SlicePattern, SettingsTellWhatIsKept) {
  const BlockedField field{{8, 6, 4}, {1, 1, 1}, 0};
  auto slice = plane(field, 2, 3, 2);
  slice.ranges[0].begin = 1;
  const auto settings = pattern_of(field, slice, 0).settings;
  EXPECT_EQ(settings.at("planes"), "z=3");
  EXPECT_EQ(settings.at("ranges"), "x=1:8");
  EXPECT_EQ(settings.at("stride"), "2,2,1");
  EXPECT_EQ(settings.at("halos_kept"), "none");
}

TEST(SlicePattern, APlaneHasTwoDimensionsAndOwnersOnOneLayerOfProcessesOnly) {
  const BlockedField field{{8, 6, 4}, {1, 1, 2}, 1};
  const auto slice = plane(field, 2, 3, 2);
  const auto first = pattern_of(field, slice, 0);
  const auto second = pattern_of(field, slice, 1);
  EXPECT_EQ(first.datasets[0].extent(), (Extent{3, 4}));
  EXPECT_EQ(first.transfers(0)[0].file->element_count(), 0u);
  EXPECT_EQ(second.transfers(0)[0].file->element_count(), 12u);
  EXPECT_EQ(second.transfers(0)[0].buffer->extent(), (Extent{4, 8, 10}));
}

TEST(SlicePattern, EachOutputIsOneTimeAndAllFieldsOfASliceShareItsSelections) {
  const BlockedField field{{4, 4, 4}, {1, 1, 1}, 0};
  const auto pattern = make_slice_pattern(
      {field, {plane(field, 0, 1, 1), whole_field(field)}, 2, ElementType::float64}, 3, 0, 1);
  ASSERT_EQ(pattern.rounds, 3u);
  std::vector<std::string> names;
  for (const auto& dataset : pattern.datasets) {
    names.push_back(dataset.name);
    EXPECT_TRUE(dataset.has_time);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"f0_plane", "f1_plane", "f0", "f1"}));
  const auto transfers = pattern.transfers(2);
  for (const auto& transfer : transfers) EXPECT_EQ(transfer.time, 2u);
  EXPECT_EQ(transfers[0].file, transfers[1].file);
  EXPECT_EQ(transfers[0].file, pattern.transfers(0)[0].file);
}

std::string refusal(const BlockedField& field, const Slice& slice, std::uint64_t ranks) {
  try {
    make_slice_pattern({field, {slice}, 1, ElementType::float64}, 1, 0, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SlicePattern, WhatLeavesTheFieldIsRefusedWithTheAxis) {
  const BlockedField field{{8, 6, 4}, {1, 1, 1}, 0};
  auto outside = whole_field(field);
  outside.ranges[1].end = 7;
  EXPECT_THAT(refusal(field, outside, 1), HasSubstr("along y"));
  auto empty = whole_field(field);
  empty.ranges[0].begin = 8;
  EXPECT_THAT(refusal(field, empty, 1), HasSubstr("along x"));
  auto none = whole_field(field);
  none.ranges[2].stride = 0;
  EXPECT_THAT(refusal(field, none, 1), HasSubstr("stride 0 along z"));
  auto long_stride = whole_field(field);
  long_stride.ranges[2].stride = 5;
  EXPECT_THAT(refusal(field, long_stride, 1), HasSubstr("stride 5 along z"));
}

TEST(SlicePattern, ProcessesThatDoNotMatchTheRanksOrThePointsAreRefused) {
  const BlockedField field{{8, 6, 4}, {2, 1, 2}, 0};
  EXPECT_THAT(refusal(field, whole_field(field), 3), HasSubstr("2 x 1 x 2"));
  const BlockedField thin{{8, 6, 4}, {1, 1, 5}, 0};
  EXPECT_THAT(refusal(thin, whole_field(thin), 5), HasSubstr("5 processes along z"));
}

}  // namespace
}  // namespace slabmark
