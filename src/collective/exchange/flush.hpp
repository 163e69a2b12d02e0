#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"

namespace slabmark {

/// Where an aggregator's bytes go, or come from.
using FileAccess =
    std::function<void(std::uint64_t offset, std::byte* memory, std::uint64_t bytes)>;

/// Where the units of arrays go, or come from, that have any (see ArrayPlace): `offset` is that of
/// the array and the bytes before the unit. `missing`: its elements that no rank of this flush has,
/// which hold anything; the unit's memory is the callee's until it returns.
using UnitAccess =
    std::function<void(std::uint64_t offset, std::byte* memory, std::span<const Run> missing)>;

/// Arrays that are moved between ranks and a file.
struct ArrayFlush {
  const FileDomain& domain;
  const FlushPlan& plan;
  std::span<std::byte* const> buffers;  ///< of the plan's items
  /// By array: nothing was written to it before. Then what no rank has of it may be overwritten.
  const std::vector<bool>& fresh;
  bool swap = false;  ///< the file has the other byte order
};

/// The costs of a flush on a rank.
struct FlushTally {
  double pack = 0.0;   ///< seconds between buffers, messages and windows
  double wait = 0.0;   ///< seconds of waiting for windows that others fill, write or read
  double file = 0.0;   ///< seconds in `access`
  double units = 0.0;  ///< seconds in `units`
  std::uint64_t file_calls = 0;
  std::uint64_t messages = 0;

  FlushTally& operator+=(const FlushTally& other) {
    pack += other.pack;
    wait += other.wait;
    file += other.file;
    units += other.units;
    file_calls += other.file_calls;
    messages += other.messages;
    return *this;
  }
};

}  // namespace slabmark
