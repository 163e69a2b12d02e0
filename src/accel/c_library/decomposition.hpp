#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "accel/c_library/api/rearrange.h"
#include "collective/plan.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

using collective::PiecesPtr;

/// How arrays of one extent and type are laid out over the ranks.
class Decomposition {
 public:
  /// A run of the caller's buffer. Runs follow each other; `start` tells where one begins in the
  /// array (negative: nowhere).
  struct BufferRun {
    std::int64_t start, length;
  };

  /// Collective over `comm`, which outlives it; `number` is the same on all ranks. Throws the same
  /// Failure on all of them.
  Decomposition(const Comm& comm, std::int64_t number, slabmark_type type,
                std::span<const std::int64_t> extents, std::span<const BufferRun> runs);

  std::int64_t number() const { return number_; }

  slabmark_type type() const { return type_; }
  std::uint64_t elements() const { return elements_; }      ///< of the whole array
  std::uint64_t count() const { return count_; }            ///< of this rank's buffer
  std::uint64_t most_bytes() const { return most_bytes_; }  ///< of any rank's buffer
  const PiecesPtr& pieces() const { return pieces_; }

  /// Collective. Throws a Failure on all ranks where two of them have the same element of the array
  /// of this name.
  void refuse_shared(const std::string& name) const;

  /// Elements that no rank has: each rank's share of them, as pieces of a buffer of nothing but
  /// fill values, most_fill of them. Collective when first called.
  const PiecesPtr& holes();
  static constexpr std::uint64_t most_fill = 8192;

 private:
  void take(std::span<const std::int64_t> extents, std::span<const BufferRun> runs);
  RunList of_all_in_my_range() const;

  const Comm& comm_;
  std::int64_t number_;
  slabmark_type type_;
  std::uint64_t elements_ = 1;
  std::uint64_t count_ = 0;
  std::uint64_t most_bytes_ = 0;
  PiecesPtr pieces_;
  PiecesPtr holes_;
};

}  // namespace slabmark::rearrange
