#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

#include "core/geometry/element_type.hpp"
#include "storage/pnetcdf/calls/call.hpp"

namespace slabmark::dropin {

using pnetcdf::MemoryArgument;

/// The caller's memory of one request: how its elements get between there and one after another, in
/// the variable's type and this machine's byte order.
class UserMemory {
 public:
  /// Memory for `elements` of a variable of type `external`; `imap` (or null) as `ncmpi_*_varm`
  /// takes it, for `counts` elements in each dimension. None where it is for PnetCDF to judge: the
  /// sizes do not match, or types that only PnetCDF converts.
  static std::optional<UserMemory> of(const MemoryArgument& argument, ElementType external,
                                      std::uint64_t elements, std::span<const MPI_Offset> counts,
                                      const MPI_Offset* imap);

  ElementType type() const { return type_; }
  /// True if the elements stand there just as they are to be moved.
  bool is_plain() const { return plain_; }
  std::byte* address() const { return static_cast<std::byte*>(argument_.address); }
  /// From the first byte of the elements to behind the last one, with what lies between them.
  std::pair<const std::byte*, const std::byte*> range() const;
  /// A digest of some bytes of plain memory, which tells whether it was filled anew.
  std::uint64_t sample() const;

  /// Puts all elements at `packed`. False where a value does not fit.
  bool pack(std::byte* packed) const;
  /// Takes all elements from `packed`. Types must always fit, see always_fits().
  void unpack(const std::byte* packed) const;

  /// To say the same to PnetCDF's flexible calls.
  const MemoryArgument& argument() const { return argument_; }
  const MPI_Offset* imap() const { return imap_.empty() ? nullptr : imap_.data(); }

 private:
  template <class Move>
  void for_each_mapped(const Move& move) const;

  MemoryArgument argument_;
  ElementType type_ = ElementType::character, external_ = ElementType::character;
  std::uint64_t elements_ = 0;
  bool plain_ = false;
  bool derived_ = false;
  std::shared_ptr<MPI_Datatype> own_type_;  ///< a duplicate of a derived type
  std::vector<MPI_Offset> counts_, imap_;   ///< both empty unless memory is mapped
};

}  // namespace slabmark::dropin
