#include "accel/slices/plan.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "core/geometry/run.hpp"

namespace slabmark::slice {

namespace {

/// The axes along which a slice has more than one point, the fastest first: a plane normal to x has
/// its rows along y. The others count as one.
std::array<std::optional<std::size_t>, 3> used_axes(const Slice& slice) {
  std::array<std::optional<std::size_t>, 3> axes;
  std::size_t used = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (slice.ranges[axis].count() > 1) axes[used++] = axis;
  }
  return axes;
}

/// Columns, rows and layers of one field in the file.
std::array<std::uint64_t, 3> lengths_of(const Slice& slice) {
  const auto axes = used_axes(slice);
  std::array<std::uint64_t, 3> lengths = {1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (axes[i]) lengths[i] = slice.ranges[*axes[i]].count();
  }
  return lengths;
}

std::uint64_t rank_count(const BlockedField& field) {
  return field.processes[0] * field.processes[1] * field.processes[2];
}

/// One rank's part of a slice as columns, rows and layers of the file and of its memory.
struct RankPart {
  std::array<Run, 3> file;                ///< fastest first
  std::array<std::uint64_t, 3> stride{};  ///< elements of memory
  std::uint64_t first = 0;                ///< element of memory
  bool empty = false;
};

RankPart part_of(const BlockedField& field, const Slice& slice, std::uint64_t rank) {
  const auto parts = parts_of(field, slice, rank);
  const auto block = block_with_halo(field, rank);
  const std::array<std::uint64_t, 3> apart = {1, block[0], block[0] * block[1]};
  const auto axes = used_axes(slice);
  RankPart part;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    part.first += parts[axis].memory * apart[axis];
    part.empty = part.empty || parts[axis].count == 0;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    part.file[i] = {0, 1};
    if (!axes[i]) continue;
    const auto axis = *axes[i];
    part.file[i] = {parts[axis].file, parts[axis].count};
    part.stride[i] = apart[axis] * slice.ranges[axis].stride;
  }
  return part;
}

/// Rows [first, first + count) of a layer of a field.
struct Rows {
  std::uint64_t field, layer, first, count;
};

/// Visits the rows of `part` that a writer of the file's rows `range` has, in the order of the
/// file.
void for_each_rows(const RankPart& part, const std::array<std::uint64_t, 3>& lengths,
                   std::uint64_t fields, Run range, const std::function<void(const Rows&)>& visit) {
  if (part.empty) return;
  for (std::uint64_t f = 0; f < fields; ++f) {
    for (auto layer = part.file[2].offset; layer < part.file[2].end(); ++layer) {
      const auto base = (f * lengths[2] + layer) * lengths[1];
      const auto begin = std::max(base + part.file[1].offset, range.offset);
      const auto end = std::min(base + part.file[1].end(), range.end());
      if (begin < end) visit({f, layer, begin - base, end - begin});
    }
  }
}

/// Columns, rows and layers that hold the file's rows `range`, and others where it goes on into the
/// next layer or field.
std::array<Run, 3> box_around(Run range, const std::array<std::uint64_t, 3>& lengths) {
  const auto layer = range.offset / lengths[1];
  const auto layers = (range.end() - 1) / lengths[1] - layer + 1;
  std::array<Run, 3> box = {Run{0, lengths[0]}, Run{0, lengths[1]}, Run{0, lengths[2]}};
  if (layers == 1) box[1] = {range.offset % lengths[1], range.length};
  if (layer % lengths[2] + layers <= lengths[2]) box[2] = {layer % lengths[2], layers};
  return box;
}

/// Ranks with points in `box` of the file, in rising order.
std::vector<std::uint64_t> owners_of(const BlockedField& field, const Slice& slice,
                                     const std::array<Run, 3>& box) {
  std::array<Run, 3> points = {Run{0, 1}, Run{0, 1}, Run{0, 1}};
  const auto axes = used_axes(slice);
  for (std::size_t i = 0; i < 3; ++i) {
    if (axes[i]) points[*axes[i]] = box[i];
  }
  std::vector<std::uint64_t> owners = {0};
  std::uint64_t apart = rank_count(field);
  for (std::size_t axis = 3; axis-- > 0;) {
    apart /= field.processes[axis];
    std::vector<std::uint64_t> with_axis;
    for (const auto owner : owners) {
      for (std::uint64_t p = 0; p < field.processes[axis]; ++p) {
        const auto part = parts_of(field, slice, p * apart)[axis];
        const bool meets = part.count > 0 && part.file < points[axis].end() &&
                           points[axis].offset < part.file + part.count;
        if (meets) with_axis.push_back(owner + p * apart);
      }
    }
    owners = std::move(with_axis);
  }
  return owners;
}

class PlanMaker {
 public:
  PlanMaker(const BlockedField& field, const Slice& slice, std::uint64_t fields, ElementType type,
            std::uint64_t rank)
      : field_(field),
        slice_(slice),
        fields_(fields),
        element_(size_of(type)),
        rank_(rank),
        lengths_(lengths_of(slice)) {
    row_bytes_ = lengths_[0] * element_;
  }

  Plan make(std::vector<int> writers) {
    for (std::size_t axis = 0; axis < 3; ++axis) plan_.shape[axis] = slice_.ranges[axis].count();
    const auto rows = fields_ * lengths_[2] * lengths_[1];
    const auto mine = part_of(field_, slice_, rank_);
    for (std::size_t w = 0; w < writers.size(); ++w) {
      const auto range = equal_range(rows, w, writers.size());
      const auto writer = static_cast<std::uint64_t>(writers[w]);
      add_gatherings(mine, range, writer);
      if (writer != rank_) continue;
      add_stretches(range);
      add_received(range);
    }
    plan_.writers = std::move(writers);
    return std::move(plan_);
  }

 private:
  std::uint64_t place(const Rows& rows, std::uint64_t column, Run range) const {
    const auto row = (rows.field * lengths_[2] + rows.layer) * lengths_[1] + rows.first;
    return (row - range.offset) * row_bytes_ + column * element_;
  }

  void add_gatherings(const RankPart& mine, Run range, std::uint64_t writer) {
    const auto& columns = mine.file[0];
    SentRows sent{static_cast<int>(writer), plan_.send_bytes, 0, columns.length * element_};
    for_each_rows(mine, lengths_, fields_, range, [&](const Rows& rows) {
      Gathering one;
      one.field = rows.field;
      one.points = {mine.first + (rows.layer - mine.file[2].offset) * mine.stride[2] +
                        (rows.first - mine.file[1].offset) * mine.stride[1],
                    rows.count, mine.stride[1], columns.length, mine.stride[0]};
      one.to_own_part = writer == rank_;
      if (one.to_own_part) {
        one.offset = place(rows, columns.offset, range);
        one.pitch = row_bytes_;
      } else {
        one.offset = plan_.send_bytes;
        one.pitch = sent.row_bytes;
        sent.rows += rows.count;
        plan_.send_bytes += rows.count * sent.row_bytes;
      }
      plan_.gatherings.push_back(one);
    });
    if (sent.rows > 0) plan_.sent.push_back(sent);
  }

  void add_stretches(Run range) {
    const auto in_field = lengths_[2] * lengths_[1];
    for (std::uint64_t f = 0; f < fields_; ++f) {
      const auto begin = std::max(f * in_field, range.offset);
      const auto end = std::min((f + 1) * in_field, range.end());
      if (begin >= end) continue;
      plan_.stretches.push_back({f, (begin - range.offset) * row_bytes_,
                                 (begin - f * in_field) * row_bytes_, (end - begin) * row_bytes_});
    }
    plan_.write_bytes = range.length * row_bytes_;
  }

  void add_received(Run range) {
    for (std::uint64_t other = 0; other < rank_count(field_); ++other) {
      if (other == rank_) continue;
      const auto theirs = part_of(field_, slice_, other);
      ReceivedRows received{static_cast<int>(other), theirs.file[0].length * element_, {}};
      for_each_rows(theirs, lengths_, fields_, range, [&](const Rows& rows) {
        const auto first = place(rows, theirs.file[0].offset, range);
        for (std::uint64_t i = 0; i < rows.count; ++i) {
          received.offsets.push_back(first + i * row_bytes_);
        }
      });
      if (!received.offsets.empty()) plan_.received.push_back(std::move(received));
    }
  }

  const BlockedField& field_;
  const Slice& slice_;
  std::uint64_t fields_;
  std::uint64_t element_;
  std::uint64_t rank_;
  std::array<std::uint64_t, 3> lengths_;  ///< of the file, fastest first
  std::uint64_t row_bytes_ = 0;
  Plan plan_;
};

}  // namespace

std::vector<int> choose_writers(const BlockedField& field, const Slice& slice, std::uint64_t fields,
                                std::uint64_t writers, std::uint64_t first) {
  const auto lengths = lengths_of(slice);
  const auto rows = fields * lengths[2] * lengths[1];
  std::set<std::uint64_t> free;
  for (std::uint64_t rank = 0; rank < rank_count(field); ++rank) free.insert(rank);
  std::vector<int> chosen;
  for (std::uint64_t w = 0; w < writers; ++w) {
    auto range = equal_range(rows, w, writers);
    range = {std::min(range.offset, rows - 1), std::max<std::uint64_t>(range.length, 1)};
    const auto owners = owners_of(field, slice, box_around(range, lengths));
    const auto preferred = owners[(first + w * owners.size() / writers) % owners.size()];
    auto next = free.lower_bound(preferred);
    if (next == free.end()) next = free.begin();
    chosen.push_back(static_cast<int>(*next));
    free.erase(next);
  }
  return chosen;
}

Plan make_plan(const BlockedField& field, const Slice& slice, std::uint64_t fields,
               ElementType type, std::vector<int> writers, std::uint64_t rank) {
  return PlanMaker(field, slice, fields, type, rank).make(std::move(writers));
}

}  // namespace slabmark::slice
