#include "bench/method/hdf5/planned.hpp"

#include <algorithm>
#include <utility>

namespace slabmark {

namespace {

/// True if the pattern hands out the same selections when it is asked again.
bool keeps_selections(const Pattern& pattern) {
  if (pattern.rounds == 0) return false;
  const auto once = pattern.transfers(0);
  const auto again = pattern.transfers(0);
  return std::equal(once.begin(), once.end(), again.begin(), again.end(),
                    [](const Transfer& a, const Transfer& b) {
                      return a.file == b.file && a.buffer == b.buffer;
                    });
}

}  // namespace

void Hdf5Planned::prepare() {
  lasting_ = keeps_selections(context_.pattern);
  if (!lasting_) return;
  for (std::uint64_t round = 0; round < context_.pattern.rounds; ++round) {
    const auto transfers = context_.pattern.transfers(round);
    const auto variant = variants(transfers);
    for (std::size_t i = 0; i < transfers.size(); ++i) plan_of(transfers[i], variant[i]);
  }
}

std::vector<std::uint64_t> Hdf5Planned::variants(const std::vector<Transfer>& transfers) const {
  std::vector<std::uint64_t> all;
  for (const auto& transfer : transfers) {
    all.push_back(sharing_ == Sharing::rounds ? transfer.dataset : 0);
  }
  return all;
}

Hdf5Plan& Hdf5Planned::plan_of(const Transfer& transfer, std::uint64_t variant) {
  return plans_.get(
      transfer.file, transfer.buffer, 2 * variant + (has_time(transfer) ? 1 : 0), [&] {
        Hdf5Plan plan;
        context_.clock.span("union", [&] { plan = make_plan_(transfer, has_time(transfer)); });
        return plan;
      });
}

void Hdf5Planned::move_round(std::uint64_t round, std::span<std::byte* const> buffers) {
  move_all(context_.pattern.transfers(round), buffers);
  if (!lasting_) plans_.next_round();
}

void Hdf5Planned::move_all(const std::vector<Transfer>& transfers,
                           std::span<std::byte* const> buffers) {
  const auto variant = variants(transfers);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto now = ready(transfers[i], variant[i], buffers[i]);
    move(transfers[i].dataset, now.plan->memory, now.plan->file, now.data());
    done(now);
  }
}

Hdf5Planned::Ready Hdf5Planned::ready(const Transfer& transfer, std::uint64_t variant,
                                      std::byte* buffer) {
  const auto& space = file_space(transfer.dataset, transfer.time);  // collective: it may grow
  Ready now{&transfer, &plan_of(transfer, variant), buffer, nullptr};
  const auto& dataset = context_.pattern.datasets[transfer.dataset];
  if (dataset.has_time && fixed_time()) {
    now.plan->file.shift(std::exchange(now.plan->time, transfer.time), transfer.time,
                         space.extent());
  } else if (dataset.has_time) {
    now.plan->file.move_to(transfer.time, space.extent());
  }
  if (now.plan->copies.empty()) return now;
  const auto size = size_of(dataset.type);
  now.dense = std::make_unique_for_overwrite<std::byte[]>(now.plan->dense_elements * size);
  if (writing()) now.plan->gather(buffer, now.dense.get(), size);
  return now;
}

void Hdf5Planned::done(const Ready& moved) const {
  if (writing() || !moved.dense) return;
  moved.plan->scatter(moved.dense.get(), moved.buffer,
                      size_of(context_.pattern.datasets[moved.transfer->dataset].type));
}

// The union is built by divide and conquer, once for all datasets and rounds that share the
// selection.
MethodInfo hdf5_union_method() {
  return hdf5_info("hdf5-union",
                   "one H5Dwrite per dataset, union of its hyperslabs by divide and conquer",
                   make_planned<plan_of_union>);
}

}  // namespace slabmark
