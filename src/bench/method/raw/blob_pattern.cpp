#include "bench/method/raw/blob_pattern.hpp"

#include <set>

namespace slabmark {

namespace {

constexpr std::uint64_t no_map = ~std::uint64_t{0};

}  // namespace

BlobPattern::BlobPattern(const Comm& comm, const std::string& path)
    : file_(path), pattern_(file_.description()) {
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto size = static_cast<std::uint64_t>(comm.size());
  const Run mine = equal_range(file_.ranks(), rank, size);
  slots_ = (file_.ranks() + size - 1) / size;
  // Rank 0 of the recorded run may have what no other has, so nobody's own list is complete.
  std::map<std::uint64_t, std::set<Target>> seen;
  for (std::uint64_t r = 0; r < file_.ranks(); ++r) {
    BlobIndex index = file_.index(r);
    for (const auto& entry : index.entries) seen[entry.round].insert({entry.dataset, entry.time});
    if (r >= mine.offset && r < mine.end()) parts_.push_back(std::move(index));
  }
  for (const auto& [round, targets] : seen) {
    rounds_.push_back({round, {targets.begin(), targets.end()}});
  }
  pattern_.rounds = rounds_.size();
  pattern_.transfers = [this](std::uint64_t round) { return transfers(round); };
}

std::vector<Transfer> BlobPattern::transfers(std::uint64_t round) {
  std::vector<Transfer> all;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    for (const Target& target : rounds_[round].targets) {
      all.push_back(transfer(slot, rounds_[round].recorded, target));
    }
  }
  return all;
}

void BlobPattern::read(std::uint64_t round, std::span<std::byte* const> buffers) {
  std::size_t i = 0;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    for (const Target& target : rounds_[round].targets) {
      const auto* entry = find(slot, rounds_[round].recorded, target);
      const auto bytes = size_of(pattern_.datasets[target.first].type);
      if (entry != nullptr) {
        file_.read(entry->offset, buffers[i], total_length(parts_[slot].maps[entry->map]) * bytes);
      }
      ++i;
    }
  }
}

const BlobIndex::Entry* BlobPattern::find(std::uint64_t slot, std::uint64_t round,
                                          const Target& target) {
  if (slot >= parts_.size()) return nullptr;
  auto& known = entry_of_[{slot, round}];
  if (known.empty()) {
    for (const auto& entry : parts_[slot].entries) {
      if (entry.round == round) known[{entry.dataset, entry.time}] = &entry;
    }
  }
  const auto found = known.find(target);
  return found == known.end() ? nullptr : found->second;
}

Transfer BlobPattern::transfer(std::uint64_t slot, std::uint64_t round, const Target& target) {
  const Extent extent = pattern_.datasets[target.first].extent();
  const auto* entry = find(slot, round, target);
  auto& selection = selections_[{slot, entry == nullptr ? no_map : entry->map, extent}];
  if (selection) return {target.first, target.second, selection, nullptr};
  if (entry == nullptr) {
    selection = select_none(extent);
  } else if (extent.empty()) {
    selection = select_all(extent);
  } else {
    selection =
        select_row_runs(extent, split_at_rows(parts_[slot].maps[entry->map], extent.back()));
  }
  return {target.first, target.second, selection, nullptr};
}

}  // namespace slabmark
