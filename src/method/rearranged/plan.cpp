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

// Items share a map where they share their selections on every rank. A rank says which item was the
// first with these selections; where all say the same, that item's map will do.
std::vector<std::size_t> RearrangedPlan::agreed_maps(const Comm& comm, const Key& key) {
  const std::size_t items = key.selections.size();
  std::map<std::pair<const Selection*, const Selection*>, std::int64_t> first_with;
  std::vector<std::int64_t> lowest(2 * items);
  for (std::size_t i = 0; i < items; ++i) {
    const auto& [file, buffer] = key.selections[i];
    const auto first =
        first_with.try_emplace({file.get(), buffer.get()}, static_cast<std::int64_t>(i)).first;
    lowest[i] = first->second;
    lowest[items + i] = -first->second;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, lowest.data(), static_cast<int>(lowest.size()), MPI_INT64_T,
                          MPI_MIN, comm.get()),
            "MPI_Allreduce");
  std::vector<std::size_t> map_of;
  std::size_t maps = 0;
  for (std::size_t i = 0; i < items; ++i) {
    const bool all_agree = lowest[i] == -lowest[items + i];
    const auto first = static_cast<std::size_t>(lowest[i]);
    map_of.push_back(all_agree && first < i ? map_of[first] : maps++);
  }
  return map_of;
}

void RearrangedPlan::make(const Comm& comm, const Pattern& pattern, const Layout& layout) {
  made_ = false;  // until all went well
  key_ = key_of(layout);
  const std::vector<std::size_t> map_of = agreed_maps(comm, key_);
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
