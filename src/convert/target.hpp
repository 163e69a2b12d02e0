#pragma once

#include <cstddef>
#include <span>

#include "convert/batches.hpp"

namespace slabmark::convert {

/// A file that is made, whatever its format.
class Target {
 public:
  virtual ~Target() = default;

  /// Collective. Writes the elements of a batch. `shares` are this rank's, and `memory` holds them
  /// box after box, as this machine does. Failures are agreed.
  virtual void write(const Batch& batch, std::span<const Run> shares, std::byte* memory) = 0;

  /// Collective. Afterwards the file is whole. Failures are agreed.
  virtual void close() = 0;
};

}  // namespace slabmark::convert
