#include "method/rearranged/plan.hpp"

#include <map>

namespace slabmark {

RearrangedPlan::Key RearrangedPlan::key_of(const Layout& layout) {
  Key key;
  for (const PlacedArray& one : layout.arrays) {
    key.selections.emplace_back(one.transfer.file, one.transfer.buffer);
    key.arrays.push_back(layout.region.array_at(one.place));
  }
  for (const Region::Array& array : layout.region.arrays()) {
    key.shapes.emplace_back(array.begin, array.place.element_bytes);
  }
  key.cuts = layout.region.cut(layout.aggregators.size(), layout.alignment);
  key.refuse_overlaps = layout.refuse_overlaps;
  return key;
}

std::vector<std::size_t> RearrangedPlan::first_alike(const Key& key) {
  std::map<std::pair<const Selection*, const Selection*>, std::size_t> first_with;
  std::vector<std::size_t> first;
  for (const auto& [file, buffer] : key.selections) {
    first.push_back(first_with.try_emplace({file.get(), buffer.get()}, first.size()).first->second);
  }
  return first;
}

void RearrangedPlan::make(const Comm& comm, const Pattern& pattern, const Layout& layout) {
  made_ = false;  // until all went well
  key_ = key_of(layout);
  const std::vector<std::size_t> map_of = agreed_maps(comm, first_alike(key_));
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < layout.arrays.size(); ++i) {
    const Transfer& transfer = layout.arrays[i].transfer;
    items.push_back({key_.arrays[i], map_of[i]});
    if (map_of[i] < maps.size()) continue;
    const FilePieces& pieces =
        pieces_.get(transfer.file, transfer.buffer, 0, [&] { return file_pieces(transfer); });
    maps.push_back(
        {pieces.pieces, layout.arrays[i].place.elements, pattern.datasets[transfer.dataset].name});
  }
  pieces_.next_round();
  plan_ = FlushPlan(comm, layout.region, std::move(maps), std::move(items), key_.cuts,
                    layout.aggregators, layout.refuse_overlaps);
  made_ = true;
}

}  // namespace slabmark
