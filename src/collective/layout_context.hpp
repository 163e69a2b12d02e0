#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collective/context.hpp"
#include "collective/plan_cache.hpp"

namespace slabmark::collective {

/// This rank's part of one array in a flush. All ranks name the same arrays in the same order.
struct Part {
  ArrayPlace place;  ///< not empty
  PiecesPtr pieces;  ///< what this rank has of all arrays that are laid out alike
  std::byte* buffer = nullptr;
  std::string_view name;  ///< of the array, for messages
};

/// Arrays that are to be moved, and how aggregators share them.
struct Layout {
  std::span<const Part> parts;
  const FileDomain& domain;  ///< of their places
  std::uint64_t alignment;   ///< of the aggregators' ranges, in bytes
  bool writes;
  Overlaps overlaps;
};

/// The parts of a layout that a plan depends on. The places of arrays count from the first one, so
/// that a plan serves the records of a time series, and other files.
class LayoutKey {
 public:
  explicit LayoutKey(const Layout& layout);
  bool operator==(const LayoutKey&) const = default;

 private:
  std::vector<PiecesPtr> pieces_;
  std::vector<std::size_t> arrays_;
  std::vector<FileDomain::Array> lie_;
  std::uint64_t alignment_;
  bool writes_;
  Overlaps overlaps_;
};

/// A context of ranks that name the same arrays, with the latest plans.
class LayoutContext {
 public:
  /// Collective over `parent`. `most_plans` are kept.
  LayoutContext(MPI_Comm parent, const RearrangerSettings& settings, std::size_t most_plans);

  /// Collective; see Context. Without plans where it was prepared anew.
  void prepare(const RearrangerSettings& settings);

  const Comm& comm() const { return context_.comm(); }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  const RearrangerSettings& settings() const { return context_.settings(); }

  /// The kept plans that this rank, for one, could use: see PlanCache::fitting().
  std::uint64_t fitting(const Layout& layout) const;

  /// Collective: the plan becomes the one in use.
  void use(std::size_t plan) { plans_.use(plan); }
  /// Collective: makes a plan, which becomes the one in use. Every rank throws InputError where
  /// elements are had twice, see Plan, and std::bad_alloc where one lacks memory for it.
  void make(const Layout& layout);

  const FlushPlan& plan() const { return plans_.latest().plan.flush(); }  ///< the one in use
  std::uint64_t plan_bytes() const;  ///< of this rank's memory, for the one in use; 0: none yet

 private:
  Context context_;
  PlanCache<LayoutKey> plans_;
};

}  // namespace slabmark::collective
