#include "accel/pnetcdf_dropin/geometry.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "core/geometry/strided_walk.hpp"

namespace slabmark::dropin {

namespace {

// Variables of a model share a few decompositions, and requests of one come close together.
constexpr std::size_t most_recent = 8;

// Beyond these a request is left to PnetCDF: records are arrays of their own here.
constexpr MPI_Offset most_records_of_request = 1 << 16;
constexpr MPI_Offset largest_record = std::numeric_limits<int>::max();

// Of a request that PnetCDF refuses for its size. A piece takes 24 bytes here, so a larger number
// may be more than the machine has.
constexpr std::uint64_t most_pieces_of_large = 1 << 24;
constexpr std::uint64_t most_elements_of_large = std::uint64_t{1} << 60;

/// The same for calls that differ in the record alone.
std::uint64_t hash_of(std::span<const MPI_Offset> numbers, std::size_t per_box, MPI_Offset lowest) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const MPI_Offset number = numbers[i] - (i % per_box == 0 ? lowest : 0);
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

/// True if starts and counts of all boxes, of which there are several, stand side by side in one
/// piece of memory, as many programs have them.
bool stand_side_by_side(const Access& access, std::size_t dims) {
  const auto address = [](const MPI_Offset* numbers) {
    return reinterpret_cast<std::uintptr_t>(numbers);
  };
  const std::uintptr_t bytes = dims * sizeof(MPI_Offset);
  std::uintptr_t expected = address(access.starts[0]);
  if (address(access.counts[0]) != expected + bytes) return false;
  std::uintptr_t differs = 0;  // no early end: this way several are compared at a time
  for (int b = 0; b < access.boxes; ++b) {
    differs |= address(access.starts[b]) ^ expected;
    differs |= address(access.counts[b]) ^ (expected + bytes);
    expected += 2 * bytes;
  }
  return differs == 0;
}

template <class Number>
bool are_equal(const Number* one, const Number* other, std::size_t count) {
  return std::memcmp(one, other, count * sizeof *one) == 0;
}

/// The same for a few, each of which may be missing.
bool are_equal_few(const MPI_Offset* one, const MPI_Offset* other, std::size_t count) {
  if (!one) return false;
  MPI_Offset differs = 0;
  for (std::size_t i = 0; i < count; ++i) differs |= one[i] ^ other[i];
  return differs == 0;
}

bool is_strided(const Access& access) {
  const bool may_be = access.kind == Access::Kind::vars || access.kind == Access::Kind::varm;
  return may_be && access.stride;
}

/// True if a call says where its boxes are.
bool is_complete(const Access& access, std::size_t dims) {
  if (access.boxes < 0 || (dims == 0 && access.boxes > 1)) return false;
  if (dims == 0 || access.boxes == 0) return true;
  switch (access.kind) {
    case Access::Kind::var:
      return true;
    case Access::Kind::var1:
      return access.start;
    case Access::Kind::varn:
      return access.starts && std::all_of(access.starts, access.starts + access.boxes,
                                          [](const MPI_Offset* start) { return start; });
    default:
      return access.start && access.count;
  }
}

/// One dimension of a box, as a call states it.
struct BoxSide {
  MPI_Offset start, count, stride;

  /// Behind the last index, of a side that is_within().
  MPI_Offset end() const { return count == 0 ? start : start + (count - 1) * stride + 1; }

  /// True if PnetCDF takes it for a dimension of this length.
  bool is_within(MPI_Offset length) const {
    return start >= 0 && count >= 0 && stride > 0 && start <= length && count <= length &&
           stride <= largest_record &&
           (count == 0 || (start < length && count - 1 <= (length - 1 - start) / stride));
  }
};

/// The most pieces that a box with these numbers falls into.
std::uint64_t pieces_of(const Shape& shape, const MPI_Offset* numbers, bool strided) {
  const std::size_t dims = shape.lengths.size();
  std::uint64_t pieces = 1;
  bool in_one = true;  // what the dimensions behind have of each index of this one
  for (std::size_t d = dims; d-- > 0;) {
    const MPI_Offset count = numbers[dims + d];
    const bool of_records = d == 0 && shape.has_records;
    const bool apart = count > 1 && strided && numbers[2 * dims + d] > 1;
    if (!in_one || apart || of_records) pieces *= static_cast<std::uint64_t>(count);
    in_one = in_one && !apart && count == shape.lengths[d];
  }
  return pieces;
}

/// A side of a box of a call, for a dimension of this length.
BoxSide side_of(const Access& access, int box, std::size_t dimension, MPI_Offset length) {
  if (access.kind == Access::Kind::var) return {0, length, 1};
  const bool several = access.kind == Access::Kind::varn;
  const MPI_Offset* const start = several ? access.starts[box] : access.start;
  const MPI_Offset* count = access.count;
  if (several) count = access.counts ? access.counts[box] : nullptr;
  return {start[dimension], count ? count[dimension] : 1,
          is_strided(access) ? access.stride[dimension] : 1};
}

}  // namespace

ResolvedAccess GeometryTable::find(const Shape& shape, const Access& access, MPI_Offset records,
                                   bool grows, std::uint64_t most_elements) {
  const std::size_t dims = shape.lengths.size();
  ResolvedAccess resolved;
  if (const Known known = find_called(shape, access)) {
    const MPI_Offset end = known->lowest_record_ + known->records_;
    if ((!shape.has_records || grows || end <= records) && known->elements() <= most_elements) {
      resolved.valid = true;
      resolved.first_record = static_cast<std::uint64_t>(known->lowest_record_);
      resolved.end_record = static_cast<std::uint64_t>(end);
      resolved.geometry = known;
      return resolved;
    }
  }
  if (!is_complete(access, dims)) return resolved;
  if (grows && access.kind != Access::Kind::var) records = largest_record;
  numbers_.clear();
  Asked asked;
  for (int box = 0; box < access.boxes; ++box) {
    if (!add_box(shape, access, box, records, asked)) return resolved;
    const bool is_large = asked.elements > most_elements;
    if (is_large &&
        (asked.pieces > most_pieces_of_large || asked.elements > most_elements_of_large)) {
      return resolved;
    }
  }
  if (asked.records > std::max(most_records_of_request, MPI_Offset{access.boxes})) return resolved;
  resolved.valid = true;
  if (access.boxes == 1) resolved.counts = std::move(asked.counts);
  if (numbers_.empty() && (dims > 0 || access.boxes == 0)) return resolved;
  const MPI_Offset lowest = shape.has_records ? asked.lowest_record : 0;
  resolved.first_record = static_cast<std::uint64_t>(lowest);
  resolved.end_record = static_cast<std::uint64_t>(asked.end_record);
  resolved.geometry = intern(shape, is_strided(access), lowest);
  return resolved;
}

/// Adds the numbers of a box unless it has no elements. False if it is for PnetCDF to judge.
bool GeometryTable::add_box(const Shape& shape, const Access& access, int box, MPI_Offset records,
                            Asked& asked) {
  const std::size_t dims = shape.lengths.size();
  const bool strided = is_strided(access);
  const std::size_t at = numbers_.size();
  numbers_.resize(at + (strided ? 3 : 2) * dims);
  MPI_Offset* const numbers = numbers_.data() + at;
  std::uint64_t elements = 1;
  bool is_huge = false;
  for (std::size_t d = 0; d < dims; ++d) {
    const bool of_records = d == 0 && shape.has_records;
    const MPI_Offset length = of_records ? records : shape.lengths[d];
    const BoxSide side = side_of(access, box, d, length);
    if (!side.is_within(length)) return false;
    // A box of nothing at the very end is for PnetCDF, which has a switch for it.
    if (side.start == length && access.kind != Access::Kind::var) return false;
    is_huge |= __builtin_mul_overflow(elements, static_cast<std::uint64_t>(side.count), &elements);
    numbers[d] = side.start;
    numbers[dims + d] = side.count;
    if (strided) numbers[2 * dims + d] = side.stride;
  }
  if (access.boxes == 1) asked.counts.assign(numbers + dims, numbers + 2 * dims);
  if (std::find(numbers + dims, numbers + 2 * dims, 0) != numbers + 2 * dims) {
    numbers_.resize(at);
    return true;
  }
  if (shape.has_records) {
    const BoxSide side = side_of(access, box, 0, records);
    asked.lowest_record = std::min(asked.lowest_record, side.start);
    asked.end_record = std::max(asked.end_record, side.end());
    asked.records += side.count;
  }
  asked.pieces += pieces_of(shape, numbers, strided);
  return !is_huge && !__builtin_add_overflow(asked.elements, elements, &asked.elements);
}

/// Looks among the latest accesses for one with the same numbers of several boxes.
GeometryTable::Known GeometryTable::find_called(const Shape& shape, const Access& access) {
  const bool several = access.kind == Access::Kind::varn && access.boxes > 1;
  if (!several || shape.lengths.empty() || !access.starts || !access.counts) return nullptr;
  for (const Known& known : recent_) {
    if (known->is_called(shape, access)) return use(known);
  }
  return nullptr;
}

/// Brings it to the front of the latest.
GeometryTable::Known GeometryTable::use(const Known& geometry) {
  const Known used = geometry;  // which may stand in the list
  const auto found = std::find(recent_.begin(), recent_.end(), used);
  if (found != recent_.end()) {
    std::rotate(recent_.begin(), found, found + 1);
  } else {
    if (recent_.size() == most_recent) recent_.pop_back();
    recent_.insert(recent_.begin(), used);
  }
  return used;
}

GeometryTable::Known GeometryTable::intern(const Shape& shape, bool strided, MPI_Offset lowest) {
  const auto is_it = [&](const Geometry& known) {
    return known.is(shape, strided, numbers_, lowest);
  };
  const auto called = [&](const Known& geometry) {
    geometry->call_from(lowest);
    return use(geometry);
  };
  for (const Known& known : recent_) {
    if (is_it(*known)) return called(known);
  }
  const auto bucket_of = [&](const Geometry& geometry) -> auto& {
    const std::uint64_t hash =
        hash_of(geometry.numbers_, geometry.per_box(), geometry.lowest_record_);
    return buckets_[hash % buckets_.size()];
  };
  if (known_ >= buckets_.size()) {
    // Geometries that are in no plan any more are forgotten.
    std::vector<Known> in_use;
    for (const auto& bucket : buckets_) {
      for (const auto& one : bucket) {
        if (auto geometry = one.lock()) in_use.push_back(std::move(geometry));
      }
    }
    buckets_.assign(2 * in_use.size() + 64, {});
    known_ = in_use.size();
    for (const Known& one : in_use) bucket_of(*one).push_back(one);
  }
  const auto made = std::make_shared<Geometry>();
  made->shape_ = shape;
  made->strided_ = strided;
  made->numbers_ = numbers_;
  made->lowest_record_ = lowest;
  auto& bucket = bucket_of(*made);
  for (const auto& one : bucket) {
    if (const auto known = one.lock(); known && is_it(*known)) return called(known);
  }
  made->make_parts();
  bucket.push_back(made);
  ++known_;
  return use(made);
}

/// True if a call of several boxes has the numbers of the latest call, all of them. Programs ask
/// for the same boxes of many variables, so most of what posting costs is this.
bool Geometry::is_called(const Shape& shape, const Access& access) {
  const std::size_t dims = shape_.lengths.size();
  const auto boxes = static_cast<std::size_t>(access.boxes);
  if (strided_ || numbers_.size() != boxes * 2 * dims || !(shape_ == shape)) return false;
  const MPI_Offset* known = numbers_.data();
  if (!are_equal_few(access.starts[0], known, dims)) return false;
  const bool known_places = starts_.size() == boxes &&
                            are_equal<const MPI_Offset*>(access.starts, starts_.data(), boxes) &&
                            are_equal<const MPI_Offset*>(access.counts, counts_.data(), boxes);
  if (known_places || stand_side_by_side(access, dims)) {
    if (!known_places) {
      starts_.clear();  // they are known when both are
      counts_.assign(access.counts, access.counts + boxes);
      starts_.assign(access.starts, access.starts + boxes);
    }
    return are_equal(starts_.front(), known, numbers_.size());
  }
  for (std::size_t b = 0; b < boxes; ++b, known += 2 * dims) {
    if (!are_equal_few(access.starts[b], known, dims) ||
        !are_equal_few(access.counts[b], known + dims, dims)) {
      return false;
    }
  }
  return true;
}

/// True if these numbers ask for the same, wherever among the records.
bool Geometry::is(const Shape& shape, bool strided, std::span<const MPI_Offset> numbers,
                  MPI_Offset lowest) const {
  if (strided_ != strided || numbers_.size() != numbers.size() || !(shape_ == shape)) return false;
  if (!shape_.has_records || lowest == lowest_record_) return std::ranges::equal(numbers_, numbers);
  std::size_t record = 0;  // where that of the box at hand stands
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool is_record = i == record;
    if (numbers_[i] - (is_record ? lowest_record_ : 0) != numbers[i] - (is_record ? lowest : 0)) {
      return false;
    }
    if (is_record) record += per_box();
  }
  return true;
}

void Geometry::call_from(MPI_Offset lowest) {
  if (lowest == lowest_record_) return;
  for (std::size_t at = 0; at < numbers_.size(); at += per_box()) {
    numbers_[at] += lowest - lowest_record_;
  }
  lowest_record_ = lowest;
}

void Geometry::make_parts() {
  const std::size_t dims = shape_.lengths.size();
  if (dims == 0) {
    parts_.push_back({0, {{0, 0, 1}}, false});
    elements_ = 1;
  }
  std::unordered_map<std::uint64_t, std::size_t> part_of_record;
  for (std::size_t at = 0; at < numbers_.size(); at += per_box()) {
    add_box(numbers_.data() + at, part_of_record);
  }
  for (Part& part : parts_) {
    auto& pieces = part.pieces;
    const auto before = [](const Piece& a, const Piece& b) { return a.file < b.file; };
    if (!std::is_sorted(pieces.begin(), pieces.end(), before)) {
      std::stable_sort(pieces.begin(), pieces.end(), before);
    }
    for (std::size_t i = 1; i < pieces.size() && !part.repeats; ++i) {
      part.repeats = pieces[i - 1].file + pieces[i - 1].length > pieces[i].file;
    }
    pieces_ += pieces.size();
  }
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return a.record < b.record; });
  if (shape_.has_records) records_ = static_cast<MPI_Offset>(parts_.back().record) + 1;
}

// Row after row, as the elements of a box stand in memory.
void Geometry::add_box(const MPI_Offset* numbers,
                       std::unordered_map<std::uint64_t, std::size_t>& part_of_record) {
  const std::size_t dims = shape_.lengths.size();
  const MPI_Offset* const start = numbers;
  const MPI_Offset* const count = numbers + dims;
  const auto stride = [&](std::size_t d) { return strided_ ? numbers[2 * dims + d] : 1; };
  const std::size_t first = shape_.has_records ? 1 : 0;
  const auto part_of = [&](std::uint64_t record) -> Part& {
    const auto [found, is_new] = part_of_record.try_emplace(record, parts_.size());
    if (is_new) parts_.push_back({record, {}, false});
    return parts_[found->second];
  };
  MPI_Offset origin = 0;  // in the array of a record
  MPI_Offset step = 1;
  std::vector<MPI_Offset> steps(dims);
  for (std::size_t d = dims; d-- > first; step *= shape_.lengths[d]) {
    origin += start[d] * step;
    steps[d] = stride(d) * step;
  }
  const bool in_rows = dims > first && stride(dims - 1) == 1;
  const std::size_t walked = in_rows ? dims - 1 : dims;
  const auto row = static_cast<std::uint64_t>(in_rows ? count[dims - 1] : 1);
  StridedWalk walk;
  const MPI_Offset records = first == 1 ? count[0] : 1;
  for (MPI_Offset r = 0; r < records; ++r) {
    Part& part = part_of(
        first == 1 ? static_cast<std::uint64_t>(start[0] - lowest_record_ + r * stride(0)) : 0);
    walk.restart(origin);
    for (std::size_t d = first; d < walked; ++d) {
      walk.add(static_cast<std::uint64_t>(count[d]), steps[d]);
    }
    walk.for_each([&](std::int64_t file) {
      append(part.pieces, {static_cast<std::uint64_t>(file), elements_, row});
      elements_ += row;
    });
  }
}

// PnetCDF 1.12.3 spoils its memory where one box of ncmpi_*_varn has several records.
Geometry::Boxes Geometry::boxes(std::uint64_t first_record) const {
  const std::size_t dims = shape_.lengths.size();
  const bool several = numbers_.size() > per_box();
  Boxes all;
  for (std::size_t at = 0; dims > 0 && at < numbers_.size(); at += per_box()) {
    const auto from = numbers_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = static_cast<std::ptrdiff_t>(dims);
    const MPI_Offset parts = several && shape_.has_records ? *(from + to) : 1;
    for (MPI_Offset part = 0; part < parts; ++part) {
      all.starts.insert(all.starts.end(), from, from + to);
      all.counts.insert(all.counts.end(), from + to, from + 2 * to);
      if (parts > 1) all.counts[all.counts.size() - dims] = 1;
      if (shape_.has_records) {
        all.starts[all.starts.size() - dims] +=
            static_cast<MPI_Offset>(first_record) - lowest_record_ + part;
      }
    }
    if (strided_) all.strides.insert(all.strides.end(), from + 2 * to, from + 3 * to);
  }
  for (std::size_t at = 0; at < all.starts.size(); at += dims) {
    all.start_of.push_back(all.starts.data() + at);
    all.count_of.push_back(all.counts.data() + at);
  }
  if (dims == 0) {
    // A scalar: PnetCDF takes no starts, but one box.
    all.starts = {0};
    all.counts = {1};
    all.start_of = {all.starts.data()};
    all.count_of = {all.counts.data()};
  }
  return all;
}

}  // namespace slabmark::dropin
