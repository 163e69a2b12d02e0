#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bench/method/hdf5/method.hpp"
#include "bench/method/hdf5/plan.hpp"
#include "bench/method/shared/selection_cache.hpp"

namespace slabmark {

using MakePlan = Hdf5Plan (*)(const Transfer& transfer, bool leading_time);

/// What shares the plans of a selection.
enum class Sharing { all, rounds };

/// An HDF5 method that selects all of a transfer at once, with one call for each dataset.
class Hdf5Planned : public Hdf5Method {
 public:
  Hdf5Planned(const MethodContext& context, Hdf5Options options, MakePlan make_plan,
              Sharing sharing = Sharing::all)
      : Hdf5Method(context, std::move(options)), make_plan_(make_plan), sharing_(sharing) {}

  /// Builds the plans of all rounds. Where the pattern makes new selections each time that it is
  /// asked, there is nothing to build them for yet: they are then built in post(), as the span
  /// "union" there.
  void prepare() override;

 protected:
  /// Tells apart transfers of one round that must not share a plan even if they share a selection.
  virtual std::vector<std::uint64_t> variants(const std::vector<Transfer>& transfers) const;

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

  MakePlan make_plan_;
  Sharing sharing_;
  SelectionCache<Hdf5Plan> plans_;
  bool lasting_ = false;  ///< the pattern keeps its selections, so plans are worth keeping
};

template <MakePlan make_plan, Sharing sharing = Sharing::all>
std::unique_ptr<Method> make_planned(const MethodContext& context, Hdf5Options options) {
  return std::make_unique<Hdf5Planned>(context, std::move(options), make_plan, sharing);
}

}  // namespace slabmark
