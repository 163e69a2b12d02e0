#include "accel/hdf5_connector/canonical/posting_key.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "collective/exchange/chunk_order.hpp"

namespace slabmark::slablog {

namespace {

std::shared_ptr<std::vector<Piece>> pieces_of(const Posting& posting) {
  auto pieces = std::make_shared<std::vector<Piece>>();
  pieces->reserve(posting.runs->size());
  std::uint64_t at = 0;
  for (const Run& run : *posting.runs) {
    pieces->push_back({run.offset * posting.scale, at, run.length * posting.scale});
    at += run.length * posting.scale;
  }
  if (posting.grid != nullptr) *pieces = in_chunk_order(*pieces, *posting.grid);
  return pieces;
}

bool lie_alike(const Piece& a, const Piece& b) { return a.file == b.file && a.length == b.length; }

}  // namespace

PostingKey::PostingKey(Mine mine) {
  std::map<std::tuple<const RunList*, std::uint64_t, const ChunkGrid*>,
           std::shared_ptr<std::vector<Piece>>>
      shared;
  for (Posting* const one : mine) {
    auto& part = parts_.emplace_back();
    if (one == nullptr) continue;
    if (one->grid != nullptr) {
      part.extent = one->grid->extent();
      part.chunk = one->grid->chunk();
    }
    if (one->runs) {
      auto& pieces = shared[{one->runs.get(), one->scale, one->grid}];
      if (!pieces) pieces = pieces_of(*one);
      part.runs = one->runs;
      part.scale = one->scale;
      part.pieces = pieces;
    } else {
      part.pieces = std::make_shared<std::vector<Piece>>(std::move(one->pieces));
    }
  }
}

std::vector<collective::Item> PostingKey::items() const {
  std::vector<collective::Item> items;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto& item = items.emplace_back();
    item.array = i;
    if (parts_[i].pieces) item.sources.push_back({.request = i, .pieces = parts_[i].pieces});
  }
  return items;
}

// Runs but for their address were compared before.
bool PostingKey::Part::fits(const Posting* posting) const {
  const Extent none;
  const auto* grid = posting == nullptr ? nullptr : posting->grid;
  if (extent != (grid != nullptr ? grid->extent() : none) ||
      chunk != (grid != nullptr ? grid->chunk() : none)) {
    return false;
  }
  if (posting == nullptr || !pieces) return posting == nullptr && !pieces;
  if (runs || posting->runs) return runs && posting->runs && scale == posting->scale;
  return std::equal(pieces->begin(), pieces->end(), posting->pieces.begin(), posting->pieces.end(),
                    lie_alike);
}

bool PostingKey::fits(Mine mine) const {
  if (parts_.size() != mine.size()) return false;
  // Datasets share their runs, and those of another file are others that are alike.
  std::map<std::pair<const RunList*, const RunList*>, bool> alike;
  const auto are_alike = [&](const RunsPtr& a, const RunsPtr& b) {
    if (a == b) return true;
    const auto [found, is_new] = alike.try_emplace({a.get(), b.get()}, false);
    if (is_new) found->second = *a == *b;
    return found->second;
  };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].fits(mine[i])) return false;
    if (parts_[i].runs && !are_alike(parts_[i].runs, mine[i]->runs)) return false;
  }
  return true;
}

void PostingKey::take(Mine mine) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (mine[i] == nullptr || mine[i]->runs) continue;
    for (std::size_t p = 0; p < parts_[i].pieces->size(); ++p) {
      (*parts_[i].pieces)[p].buffer = mine[i]->pieces[p].buffer;
    }
  }
}

}  // namespace slabmark::slablog
