#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/batches.hpp"

namespace slabmark::convert {

/// What the bytes of a file must be so that a target can go on with it, where its batches so far
/// are there: those that hold no elements.
struct TargetState {
  std::uint64_t size = 0;        ///< of the file
  std::vector<Run> ranges;       ///< bytes of the file, ascending
  std::vector<std::byte> bytes;  ///< of those
};

/// A file that is made, whatever its format.
class Target {
 public:
  virtual ~Target() = default;

  /// Collective. Writes the elements of a batch. `shares` are this rank's, and `memory` holds them
  /// box after box, as this machine does. Failures are agreed.
  virtual void write(const Batch& batch, std::span<const Run> shares, std::byte* memory) = 0;

  /// Collective. Waits until all that was written is durable. Returns on root what a later run
  /// needs to go on from here. Failures are agreed.
  virtual TargetState save() = 0;

  /// Collective. Afterwards the file is whole. Failures are agreed.
  virtual void close() = 0;
};

}  // namespace slabmark::convert
