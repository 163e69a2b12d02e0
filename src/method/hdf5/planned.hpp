#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "method/hdf5/method.hpp"
#include "method/hdf5/plan.hpp"
#include "method/shared/selection_cache.hpp"

namespace slabmark {

/// An HDF5 method that selects all of a transfer at once. A new one says how it selects, in
/// make_plan().
class Hdf5Planned : public Hdf5Method {
 public:
  /// Builds the plans of all rounds. Where the pattern makes new selections each time that it is
  /// asked, there is nothing to build them for yet: they are then built in post(), as the span
  /// "union" there.
  void prepare() override;

 protected:
  explicit Hdf5Planned(const MethodContext& context) : Hdf5Method(context) {}

  virtual Hdf5Plan make_plan(const Transfer& transfer) = 0;

  /// Tells apart transfers of one round that must not share a plan even if they share a selection.
  virtual std::vector<std::uint64_t> variants(const std::vector<Transfer>& transfers) const {
    return std::vector<std::uint64_t>(transfers.size(), 0);
  }

  bool has_time(const Transfer& transfer) const {
    return context_.pattern.datasets[transfer.dataset].has_time;
  }

  /// A transfer with its plan, ready to be moved: the dataset grown and the plan's file space at
  /// the right time.
  struct Ready {
    const Transfer* transfer;
    Hdf5Plan* plan;
    std::byte* buffer;
    std::unique_ptr<std::byte[]> dense;  ///< where elements are permuted

    std::byte* data() const { return dense ? dense.get() : buffer; }
  };
  Ready ready(const Transfer& transfer, std::uint64_t variant, std::byte* buffer);
  /// To be called when it was moved.
  void done(const Ready& moved) const;

  /// Moves the transfers of a round: here with one call each.
  virtual void move_all(const std::vector<Transfer>& transfers,
                        std::span<std::byte* const> buffers);

 private:
  void move_round(std::uint64_t round, std::span<std::byte* const> buffers) override;
  Hdf5Plan& plan_of(const Transfer& transfer, std::uint64_t variant);

  SelectionCache<Hdf5Plan> plans_;
  bool lasting_ = false;  ///< the pattern keeps its selections, so plans are worth keeping
};

}  // namespace slabmark
