#include "collective/layout_context.hpp"

#include <new>
#include <set>
#include <string>
#include <utility>

namespace slabmark::collective {

LayoutKey::LayoutKey(const Layout& layout)
    : alignment_(layout.alignment), writes_(layout.writes), overlaps_(layout.overlaps) {
  for (const Part& part : layout.parts) {
    pieces_.push_back(part.pieces);
    arrays_.push_back(layout.domain.array_at(part.place));
  }
  for (FileDomain::Array array : layout.domain.arrays()) {
    array.place.offset = 0;
    lie_.push_back(array);
  }
}

LayoutContext::LayoutContext(MPI_Comm parent, const RearrangerSettings& settings,
                             std::size_t most_plans)
    : context_(parent), plans_(most_plans) {
  prepare(settings);
}

void LayoutContext::prepare(const RearrangerSettings& settings) {
  if (context_.prepare(settings)) plans_.clear();
}

std::uint64_t LayoutContext::fitting(const Layout& layout) const {
  const LayoutKey key(layout);
  return plans_.fitting([&](const auto& entry) { return entry.key == key; });
}

std::uint64_t LayoutContext::plan_bytes() const { return plans_.empty() ? 0 : plan().memory(); }

// Where that fails it does so on all ranks, which go on with the others.
void LayoutContext::make(const Layout& layout) {
  const auto& aggregators = context_.rearranger().aggregators();
  std::set<const std::vector<Piece>*> maps;
  std::uint64_t pieces = 0;
  for (const Part& part : layout.parts) {
    if (maps.insert(part.pieces.get()).second) pieces += part.pieces->size();
  }
  if (!have_memory_to_plan(comm(), pieces, aggregators)) throw std::bad_alloc();
  plans_.drop_oldest_if_full();
  std::vector<Item> items;
  for (std::size_t i = 0; i < layout.parts.size(); ++i) {
    const Part& part = layout.parts[i];
    items.push_back(
        {layout.domain.array_at(part.place), {{i, part.pieces, false}}, std::string(part.name)});
  }
  plans_.add(LayoutKey(layout),
             Plan(comm(), layout.domain, std::move(items), {aggregators, layout.alignment},
                  {layout.writes, layout.overlaps}));
}

}  // namespace slabmark::collective
