#include "collective/plan.hpp"

#include <map>
#include <string>

namespace slabmark::rearrange {

Plan::Key::Key(const Layout& layout)
    : alignment(layout.alignment), refuse_overlaps(layout.refuse_overlaps) {
  for (const Part& part : layout.parts) {
    pieces.push_back(part.pieces);
    arrays.push_back(layout.domain.array_at(part.place));
  }
  for (FileDomain::Array array : layout.domain.arrays()) {
    array.place.offset = 0;
    lie.push_back(array);
  }
}

std::vector<std::size_t> Plan::first_alike(const Key& key) {
  std::map<const std::vector<Piece>*, std::size_t> first_with;
  std::vector<std::size_t> first;
  for (const PiecesPtr& pieces : key.pieces) {
    first.push_back(first_with.try_emplace(pieces.get(), first.size()).first->second);
  }
  return first;
}

Plan::Plan(const Comm& comm, const Layout& layout, std::span<const int> aggregators)
    : key_(layout) {
  const std::vector<std::size_t> map_of = agreed_maps(comm, first_alike(key_));
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < layout.parts.size(); ++i) {
    const Part& part = layout.parts[i];
    items.push_back({key_.arrays[i], map_of[i]});
    if (map_of[i] < maps.size()) continue;
    maps.push_back({*part.pieces, part.place.elements, std::string(part.name)});
  }
  flush_ = FlushPlan(comm, layout.domain, std::move(maps), std::move(items),
                     layout.domain.cut(aggregators.size(), layout.alignment), aggregators,
                     layout.refuse_overlaps);
}

}  // namespace slabmark::rearrange
