#include "accel/pnetcdf_dropin/geometry.hpp"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace slabmark::dropin {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t no_limit = std::uint64_t{1} << 31;
const Shape with_records{{0, 4, 5}, true};
const Shape fixed{{6, 5}, false};

/// A box: start, count and stride.
struct Box {
  std::vector<MPI_Offset> start, count, stride;

  Access access() const {
    Access all{.kind = Access::Kind::vars, .start = start.data(), .count = count.data()};
    if (!stride.empty()) all.stride = stride.data();
    return all;
  }
};

/// Boxes as ncmpi_*_varn takes them.
class Boxes {
 public:
  explicit Boxes(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
    for (Box& box : boxes_) {
      starts_.push_back(box.start.data());
      counts_.push_back(box.count.data());
    }
  }
  Access access() {
    return {.kind = Access::Kind::varn,
            .boxes = static_cast<int>(starts_.size()),
            .starts = starts_.data(),
            .counts = counts_.data()};
  }
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  std::vector<Box> boxes_;
  std::vector<MPI_Offset*> starts_, counts_;
};

/// Elements of the file, as (record, element of the array), in the order of memory.
using Elements = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Elements elements_of(const Shape& shape, const std::vector<Box>& boxes) {
  Elements all;
  const std::size_t dims = shape.lengths.size();
  for (const Box& box : boxes) {
    std::vector<MPI_Offset> index(dims, 0);
    const auto advance = [&] {
      for (std::size_t d = dims; d-- > 0; index[d] = 0) {
        if (++index[d] < box.count[d]) return true;
      }
      return false;
    };
    do {
      std::uint64_t record = 0, element = 0;
      for (std::size_t d = 0; d < dims; ++d) {
        const auto at = static_cast<std::uint64_t>(
            box.start[d] + index[d] * (box.stride.empty() ? 1 : box.stride[d]));
        if (d == 0 && shape.has_records) {
          record = at;
        } else {
          element = element * static_cast<std::uint64_t>(shape.lengths[d]) + at;
        }
      }
      all.emplace_back(record, element);
    } while (advance());
  }
  return all;
}

Elements elements_of(const ResolvedAccess& resolved) {
  Elements all(resolved.geometry->elements());
  for (const Geometry::Part& part : resolved.geometry->parts()) {
    for (const Piece& piece : part.pieces) {
      for (std::uint64_t i = 0; i < piece.length; ++i) {
        all.at(piece.buffer + i) = {resolved.first_record + part.record, piece.file + i};
      }
    }
  }
  return all;
}

TEST(Geometry, OfWholeRowsIsOnePiece) {
  GeometryTable table;
  const Box box{{1, 0}, {3, 5}, {}};
  const auto resolved = table.find(fixed, box.access(), 0, false, no_limit);
  ASSERT_TRUE(resolved.valid);
  ASSERT_THAT(resolved.geometry->parts(), SizeIs(1));
  ASSERT_THAT(resolved.geometry->parts().front().pieces, SizeIs(1));
  const Piece& piece = resolved.geometry->parts().front().pieces.front();
  EXPECT_EQ(piece.file, 5U);
  EXPECT_EQ(piece.buffer, 0U);
  EXPECT_EQ(piece.length, 15U);
  EXPECT_EQ(resolved.end_record, 0U);
}

TEST(Geometry, IsSharedByRequestsThatDifferInTheRecordAlone) {
  GeometryTable table;
  const Box box{{3, 1, 0}, {2, 2, 3}, {}}, later{{7, 1, 0}, {2, 2, 3}, {}};
  const auto one = table.find(with_records, box.access(), 0, true, no_limit);
  const auto other = table.find(with_records, later.access(), 0, true, no_limit);
  ASSERT_TRUE(one.valid && other.valid);
  EXPECT_EQ(one.geometry, other.geometry);
  EXPECT_EQ(one.first_record, 3U);
  EXPECT_EQ(one.end_record, 5U);
  EXPECT_EQ(other.first_record, 7U);
  EXPECT_EQ(elements_of(other), elements_of(with_records, {later}));
}

TEST(Geometry, OfAnotherShapeIsAnother) {
  GeometryTable table;
  const Box box{{0, 0}, {2, 2}, {}};
  const Shape wider{{6, 7}, false};
  EXPECT_NE(table.find(fixed, box.access(), 0, false, no_limit).geometry,
            table.find(wider, box.access(), 0, false, no_limit).geometry);
}

TEST(Geometry, LeavesToPnetcdfWhatIsNotPlainlyValid) {
  GeometryTable table;
  const auto is_valid = [&](const Shape& shape, const Box& box, MPI_Offset records = 0,
                            bool grows = false) {
    return table.find(shape, box.access(), records, grows, no_limit).valid;
  };
  EXPECT_TRUE(is_valid(fixed, {{5, 4}, {1, 1}, {}}));
  EXPECT_FALSE(is_valid(fixed, {{5, 4}, {1, 2}, {}})) << "beyond the variable";
  EXPECT_FALSE(is_valid(fixed, {{-1, 0}, {1, 1}, {}}));
  EXPECT_FALSE(is_valid(fixed, {{0, 0}, {1, -1}, {}}));
  EXPECT_FALSE(is_valid(fixed, {{0, 0}, {2, 2}, {1, 0}})) << "no stride";
  EXPECT_FALSE(is_valid(fixed, {{6, 0}, {0, 1}, {}})) << "nothing, at the very end";
  EXPECT_TRUE(is_valid(with_records, {{9, 0, 0}, {1, 1, 1}, {}}, 2, true)) << "a put adds records";
  EXPECT_FALSE(is_valid(with_records, {{2, 0, 0}, {1, 1, 1}, {}}, 2, false)) << "a get does not";
}

TEST(Geometry, OfTooManyElementsIsLeftToPnetcdfUnlessItsPiecesAreFew) {
  GeometryTable table;
  constexpr std::uint64_t most = 1 << 20;
  const Shape plane{{1 << 14, 1 << 14}, false};
  const auto is_valid = [&](const Box& box) {
    return table.find(plane, box.access(), 0, false, most).valid;
  };
  EXPECT_TRUE(is_valid({{5, 0}, {1 << 13, 1 << 14}, {}})) << "one piece";
  EXPECT_TRUE(is_valid({{0, 0}, {1 << 14, 100}, {}})) << "a piece of each row";
  EXPECT_FALSE(is_valid({{0, 0}, {1 << 14, 1 << 13}, {1, 2}})) << "a piece of each element";
  EXPECT_TRUE(is_valid({{0, 0}, {1 << 7, 1 << 13}, {1, 2}})) << "as many as PnetCDF moves";
}

TEST(Geometry, OfNothingIsValidAndNull) {
  GeometryTable table;
  const Box box{{2, 1}, {0, 3}, {}};
  const auto resolved = table.find(fixed, box.access(), 0, false, no_limit);
  EXPECT_TRUE(resolved.valid);
  EXPECT_EQ(resolved.geometry, nullptr);
}

TEST(Geometry, KnowsBoxesAgainByTheirNumbers) {
  GeometryTable table;
  Boxes boxes({{{0, 0}, {1, 2}, {}}, {{2, 1}, {2, 3}, {}}});
  const auto one = table.find(fixed, boxes.access(), 0, false, no_limit);
  Boxes same({{{0, 0}, {1, 2}, {}}, {{2, 1}, {2, 3}, {}}});
  EXPECT_EQ(table.find(fixed, same.access(), 0, false, no_limit).geometry, one.geometry);
  boxes.access().starts[1][0] = 3;  // in the memory of the first call
  const auto moved = table.find(fixed, boxes.access(), 0, false, no_limit);
  EXPECT_NE(moved.geometry, one.geometry);
  EXPECT_EQ(elements_of(moved), elements_of(fixed, boxes.boxes()));
}

TEST(Geometry, OfAScalarIsOneElement) {
  GeometryTable table;
  const auto resolved = table.find(Shape{}, Access{}, 0, false, no_limit);
  ASSERT_TRUE(resolved.valid);
  EXPECT_EQ(resolved.geometry->elements(), 1U);
  EXPECT_THAT(resolved.geometry->boxes(0).start_of, SizeIs(1));
}

/// Boxes of random places in a shape, with strides where there is one box.
std::vector<Box> random_boxes(const Shape& shape, std::mt19937& random) {
  const auto below = [&](MPI_Offset end) {
    return static_cast<MPI_Offset>(random() % static_cast<std::uint64_t>(end));
  };
  std::vector<Box> boxes(1 + random() % 4);
  for (Box& box : boxes) {
    for (std::size_t d = 0; d < shape.lengths.size(); ++d) {
      const MPI_Offset length = d == 0 && shape.has_records ? 6 : shape.lengths[d];
      const MPI_Offset start = below(length), stride = 1 + below(3);
      const MPI_Offset most =
          boxes.size() == 1 ? (length - 1 - start) / stride + 1 : length - start;
      box.start.push_back(start);
      box.count.push_back(1 + below(most));
      if (boxes.size() == 1) box.stride.push_back(stride);
    }
  }
  return boxes;
}

TEST(Geometry, HasTheElementsOfItsBoxesWhateverTheyAre) {
  std::mt19937 random(1);
  GeometryTable table;
  for (int turn = 0; turn < 300; ++turn) {
    const Shape& shape = turn % 2 ? with_records : fixed;
    Boxes boxes(random_boxes(shape, random));
    const bool single = boxes.boxes().size() == 1;
    const auto access = single ? boxes.boxes().front().access() : boxes.access();
    const auto resolved = table.find(shape, access, 0, true, no_limit);
    ASSERT_TRUE(resolved.valid);
    ASSERT_EQ(elements_of(resolved), elements_of(shape, boxes.boxes())) << "turn " << turn;
    for (const Geometry::Part& part : resolved.geometry->parts()) {
      std::map<std::uint64_t, int> times;
      for (const Piece& piece : part.pieces) {
        for (std::uint64_t i = 0; i < piece.length; ++i) ++times[piece.file + i];
      }
      const bool repeats =
          std::ranges::any_of(times, [](const auto& one) { return one.second > 1; });
      ASSERT_EQ(part.repeats, repeats) << "turn " << turn;
      ASSERT_TRUE(std::ranges::is_sorted(part.pieces, {}, &Piece::file));
    }
  }
}

TEST(Geometry, SaysItsBoxesAgainForPnetcdf) {
  std::mt19937 random(2);
  GeometryTable table;
  for (int turn = 0; turn < 100; ++turn) {
    Boxes boxes(random_boxes(with_records, random));
    const bool single = boxes.boxes().size() == 1;
    const auto access = single ? boxes.boxes().front().access() : boxes.access();
    const auto resolved = table.find(with_records, access, 0, true, no_limit);
    auto again = resolved.geometry->boxes(resolved.first_record + 4);
    std::vector<Box> said;
    for (std::size_t b = 0; b < again.start_of.size(); ++b) {
      said.push_back({{again.start_of[b], again.start_of[b] + 3},
                      {again.count_of[b], again.count_of[b] + 3},
                      again.strides});
      said.back().start[0] -= 4;
    }
    ASSERT_EQ(elements_of(with_records, said), elements_of(with_records, boxes.boxes()))
        << "turn " << turn;
    if (!single) {
      for (const Box& box : said) ASSERT_EQ(box.count[0], 1) << "PnetCDF 1.12.3 takes no more";
    }
  }
}

}  // namespace
}  // namespace slabmark::dropin
