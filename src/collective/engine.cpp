#include "collective/engine.hpp"

#include <iterator>
#include <new>
#include <set>

namespace slabmark::rearrange {

Engine::Engine(const Comm& parent, const RearrangerSettings& settings, std::size_t plans)
    : comm_(parent.get()), settings_(settings), rearranger_(comm_, settings), most_plans_(plans) {}

std::vector<bool> Engine::fitting(const Layout& layout) const {
  std::vector<bool> all;
  for (const Plan& plan : plans_) all.push_back(plan.fits(layout));
  return all;
}

std::uint64_t Engine::plan_bytes() const { return plans_.empty() ? 0 : plan().memory(); }

void Engine::use(std::size_t plan) {
  plans_.splice(plans_.begin(), plans_,
                std::next(plans_.begin(), static_cast<std::ptrdiff_t>(plan)));
}

// Where that fails it does so on all ranks, which go on with the others.
void Engine::make(const Layout& layout) {
  std::set<const std::vector<Piece>*> maps;
  std::uint64_t pieces = 0;
  for (const Part& part : layout.parts) {
    if (maps.insert(part.pieces.get()).second) pieces += part.pieces->size();
  }
  if (!have_memory_to_plan(comm_, pieces, rearranger_.aggregators())) throw std::bad_alloc();
  if (plans_.size() == most_plans_) plans_.pop_back();
  plans_.emplace_front(comm_, layout, rearranger_.aggregators());
}

}  // namespace slabmark::rearrange
