#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/geometry/extent.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// One rank's hyperslabs in one array shape, in the order in which their elements lie in the
/// buffer. Immutable and shared: datasets that use the same map hold the same Selection object, so
/// that what a method derives from it (union, datatype, exchange plan) is built once. The object's
/// address is its identity.
class Selection {
 public:
  virtual ~Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  const Extent& extent() const { return extent_; }
  std::uint64_t hyperslab_count() const { return hyperslab_count_; }
  std::uint64_t element_count() const { return element_count_; }

  /// True if the elements are visited in strictly ascending row-major order, which also means that
  /// no element is selected twice.
  bool ascending() const { return ascending_; }

  /// Stores the i-th hyperslab in `slab`, whose storage is reused.
  virtual void hyperslab(std::uint64_t i, Hyperslab& slab) const = 0;

  /// Visits the row-major runs of all hyperslabs in order. Runs of different hyperslabs are not
  /// merged.
  virtual void for_each_run(const std::function<void(Run)>& visit) const = 0;

  /// Memory that this object holds, in bytes.
  virtual std::uint64_t memory() const = 0;

 protected:
  explicit Selection(Extent extent) : extent_(std::move(extent)) {}

  Extent extent_;
  std::uint64_t hyperslab_count_ = 0;
  std::uint64_t element_count_ = 0;
  bool ascending_ = true;
};

using SelectionPtr = std::shared_ptr<const Selection>;

/// Requests of a decomposition: each run is one hyperslab with count 1 and must not cross a row of
/// the fastest dimension (see split_at_rows). 16 bytes a request. Throws InputError where a run is
/// empty, crosses a row or leaves the extent. Spare capacity of `runs` is given back.
SelectionPtr select_row_runs(Extent extent, RunList runs);

/// An explicit list of hyperslabs. Throws InputError where one leaves the extent.
SelectionPtr select_hyperslabs(Extent extent, std::vector<Hyperslab> slabs);

/// A closed form: hyperslab i is computed when asked for, nothing is stored. `generate` is called
/// for every i once at once, to count and check, and must always give the same hyperslabs. Throws
/// InputError where one leaves the extent.
SelectionPtr select_generated(Extent extent, std::uint64_t hyperslab_count,
                              std::function<void(std::uint64_t i, Hyperslab& slab)> generate);

/// The whole array as one hyperslab.
SelectionPtr select_all(Extent extent);

/// No element of an array of that shape: what a rank without data brings to a collective call.
SelectionPtr select_none(Extent extent);

}  // namespace slabmark
