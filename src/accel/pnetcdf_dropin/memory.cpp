#include "accel/pnetcdf_dropin/memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "accel/pnetcdf_dropin/conversion.hpp"
#include "core/base/checksum.hpp"
#include "core/geometry/strided_walk.hpp"
#include "core/parallel/type_contents.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/calls/memory_type.hpp"

namespace slabmark::dropin {

namespace {

/// A duplicate, since the caller may free a type while a request of it is pending.
std::shared_ptr<MPI_Datatype> duplicate(MPI_Datatype type) {
  const auto copy =
      std::shared_ptr<MPI_Datatype>(new MPI_Datatype(MPI_DATATYPE_NULL), [](MPI_Datatype* own) {
        if (*own != MPI_DATATYPE_NULL) MPI_Type_free(own);
        delete own;
      });
  MPI_Type_dup(type, copy.get());
  return copy;
}

/// True if `imap` says that elements stand one after another.
bool is_contiguous(std::span<const MPI_Offset> counts, const MPI_Offset* imap) {
  MPI_Offset expected = 1;
  for (std::size_t d = counts.size(); d-- > 0;) {
    if (imap[d] != expected) return false;
    expected *= counts[d];
  }
  return true;
}

// MPI_Pack counts bytes in int.
constexpr std::uint64_t most_packed = std::numeric_limits<int>::max();

/// Calls move(items, their number, where their bytes begin among all, how many) for as many items
/// of a derived type as one call packs, and so on.
template <class Move>
void for_each_packable(const MemoryArgument& argument, const Move& move) {
  MPI_Count size = 0, lower_bound = 0, extent = 0;
  MPI_Type_size_x(argument.type, &size);
  MPI_Type_get_extent_x(argument.type, &lower_bound, &extent);
  const auto bytes = static_cast<std::uint64_t>(size);
  const auto most = static_cast<MPI_Offset>(most_packed / bytes);
  for (MPI_Offset done = 0; done < argument.count; done += most) {
    const MPI_Offset count = std::min(most, argument.count - done);
    move(static_cast<std::byte*>(argument.address) + done * extent, static_cast<int>(count),
         static_cast<std::uint64_t>(done) * bytes, static_cast<int>(count * size));
  }
}

}  // namespace

std::optional<UserMemory> UserMemory::of(const MemoryArgument& argument, ElementType external,
                                         std::uint64_t elements, std::span<const MPI_Offset> counts,
                                         const MPI_Offset* imap) {
  UserMemory memory;
  memory.argument_ = argument;
  memory.external_ = memory.type_ = external;
  memory.elements_ = elements;
  const auto expected = static_cast<MPI_Offset>(elements);
  if (argument.type == MPI_DATATYPE_NULL) {
    // Without a type the count says nothing.
    memory.argument_.type = mpiio::mpi_type_of(external);
    memory.argument_.count = expected;
  } else {
    const auto type = pnetcdf::type_in_memory(argument.type);
    if (!type || argument.count < -1) return std::nullopt;
    memory.type_ = *type;
    memory.derived_ = combiner_of(argument.type) != MPI_COMBINER_NAMED;
    if (argument.count == -1) {
      if (memory.derived_) return std::nullopt;
      memory.argument_.count = expected;
    }
    MPI_Count bytes = 0;
    MPI_Type_size_x(argument.type, &bytes);
    const auto held = static_cast<std::uint64_t>(bytes) / size_of(*type);
    const auto items = static_cast<std::uint64_t>(memory.argument_.count);
    if (items > elements || held * items != elements) return std::nullopt;
    if (memory.derived_ && static_cast<std::uint64_t>(bytes) > most_packed) return std::nullopt;
    if (memory.derived_) {
      memory.own_type_ = duplicate(argument.type);
      memory.argument_.type = *memory.own_type_;
    }
  }
  // NC_BYTE takes unsigned bytes as they are in some formats, and text becomes nothing else.
  const bool bytes_of_either_sign = memory.type_ != external && external == ElementType::int8 &&
                                    memory.type_ == ElementType::uint8;
  const bool text = memory.type_ == ElementType::character || external == ElementType::character;
  if (bytes_of_either_sign || (text && memory.type_ != external)) return std::nullopt;
  if (imap && !is_contiguous(counts, imap)) {
    if (memory.derived_) return std::nullopt;
    memory.counts_.assign(counts.begin(), counts.end());
    memory.imap_.assign(imap, imap + counts.size());
  }
  memory.plain_ = memory.type_ == external && !memory.derived_ && memory.imap_.empty();
  return memory;
}

std::pair<const std::byte*, const std::byte*> UserMemory::range() const {
  auto size = static_cast<MPI_Count>(size_of(type_));
  MPI_Count low = 0, high = 0;  // where the first and the last of what follow begin
  if (derived_) {
    MPI_Count lower_bound = 0, extent = 0;
    MPI_Type_get_extent_x(argument_.type, &lower_bound, &extent);
    MPI_Count& last = extent < 0 ? low : high;
    last = extent * (argument_.count - 1);
    MPI_Type_get_true_extent_x(argument_.type, &lower_bound, &size);
    low += lower_bound;
    high += lower_bound;
  } else if (imap_.empty()) {
    high = size * (static_cast<MPI_Count>(elements_) - 1);
  } else {
    for (std::size_t d = 0; d < imap_.size(); ++d) {
      (imap_[d] < 0 ? low : high) += size * imap_[d] * (counts_[d] - 1);
    }
  }
  return {address() + low, address() + high + size};
}

std::uint64_t UserMemory::sample() const {
  constexpr std::uint64_t samples = 32;
  Checksum digest;
  const std::uint64_t last = elements_ * size_of(type_) - sizeof digest.value();
  for (std::uint64_t i = 0; i <= samples; ++i) {
    digest.add(std::span(address() + last / samples * i, sizeof digest.value()));
  }
  return digest.value();
}

/// Calls move(byte offset in the caller's memory), element after element.
template <class Move>
void UserMemory::for_each_mapped(const Move& move) const {
  const auto size = static_cast<MPI_Offset>(size_of(type_));
  StridedWalk walk;
  walk.restart(0);
  for (std::size_t d = 0; d < counts_.size(); ++d) {
    walk.add(static_cast<std::uint64_t>(counts_[d]), imap_[d]);
  }
  walk.for_each([&](MPI_Offset at) { move(at * size); });
}

bool UserMemory::pack(std::byte* packed) const {
  if (imap_.empty() && !derived_) {
    return convert(type_, argument_.address, external_, packed, elements_);
  }
  const std::uint64_t size = size_of(type_);
  std::vector<std::byte> gathered(type_ == external_ ? 0 : elements_ * size);
  std::byte* const to = type_ == external_ ? packed : gathered.data();
  if (derived_) {
    for_each_packable(argument_, [&](std::byte* items, int count, std::uint64_t at, int bytes) {
      int position = 0;
      MPI_Pack(items, count, argument_.type, to + at, bytes, &position, MPI_COMM_SELF);
    });
  } else {
    auto* next = to;
    for_each_mapped([&](MPI_Offset offset) {
      std::memcpy(next, address() + offset, size);
      next += size;
    });
  }
  return type_ == external_ || convert(type_, to, external_, packed, elements_);
}

void UserMemory::unpack(const std::byte* packed) const {
  if (imap_.empty() && !derived_) {
    convert(external_, packed, type_, argument_.address, elements_);
    return;
  }
  const std::uint64_t size = size_of(type_);
  std::vector<std::byte> converted(type_ == external_ ? 0 : elements_ * size);
  if (type_ != external_) convert(external_, packed, type_, converted.data(), elements_);
  const std::byte* from = type_ == external_ ? packed : converted.data();
  if (derived_) {
    for_each_packable(argument_, [&](std::byte* items, int count, std::uint64_t at, int bytes) {
      int position = 0;
      MPI_Unpack(from + at, bytes, &position, items, count, argument_.type, MPI_COMM_SELF);
    });
    return;
  }
  for_each_mapped([&](MPI_Offset offset) {
    std::memcpy(address() + offset, from, size);
    from += size;
  });
}

}  // namespace slabmark::dropin
