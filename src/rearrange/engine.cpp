#include "rearrange/engine.hpp"

#include <iterator>

namespace slabmark::rearrange {

Engine::Engine(const Comm& parent, const RearrangerSettings& settings, std::size_t plans)
    : comm_(parent.get()), settings_(settings), rearranger_(comm_, settings), most_plans_(plans) {}

std::vector<bool> Engine::fitting(const Layout& layout) const {
  std::vector<bool> all;
  for (const Plan& plan : plans_) all.push_back(plan.fits(layout, rearranger_.aggregators()));
  return all;
}

std::uint64_t Engine::plan_bytes() const { return plans_.empty() ? 0 : plan().memory(); }

void Engine::use(std::size_t plan) {
  plans_.splice(plans_.begin(), plans_,
                std::next(plans_.begin(), static_cast<std::ptrdiff_t>(plan)));
}

// Where that fails it does so on all ranks, which go on with the others.
void Engine::make(const Layout& layout) {
  if (plans_.size() == most_plans_) plans_.pop_back();
  plans_.emplace_front(comm_, layout, rearranger_.aggregators());
}

}  // namespace slabmark::rearrange
