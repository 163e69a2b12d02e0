#include "accel/hdf5_connector/canonical/collective_writer.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "collective/exchange/chunk_order.hpp"
#include "collective/exchange/union_of_ranks.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark::slablog {

namespace {

/// Never destroyed but before MPI ends: later there is nothing to give anything back to.
std::vector<std::shared_ptr<CollectiveWriter>>& writers() {
  static auto& all = *new std::vector<std::shared_ptr<CollectiveWriter>>;
  return all;
}

std::shared_ptr<std::vector<Piece>> pieces_of(const RunList& runs, std::uint64_t scale) {
  auto pieces = std::make_shared<std::vector<Piece>>();
  pieces->reserve(runs.size());
  std::uint64_t at = 0;
  for (const Run& run : runs) {
    pieces->push_back({run.offset * scale, at, run.length * scale});
    at += run.length * scale;
  }
  return pieces;
}

}  // namespace

InPlacePlan::InPlacePlan(const Comm& comm, const FileDomain& domain, Mine mine,
                         const Aggregation& aggregation)
    : lies_(domain.arrays().begin(), domain.arrays().end()) {
  const auto nothing = std::make_shared<std::vector<Piece>>();
  std::map<std::tuple<const RunList*, std::uint64_t, const ChunkGrid*>,
           std::shared_ptr<std::vector<Piece>>>
      shared;
  for (Posting* const one : mine) {
    Item item;
    item.pieces = nothing;
    if (one != nullptr && one->grid != nullptr) {
      item.extent = one->grid->extent();
      item.chunk = one->grid->chunk();
    }
    if (one != nullptr && one->runs) {
      auto& pieces = shared[{one->runs.get(), one->scale, one->grid}];
      if (!pieces) {
        pieces = pieces_of(*one->runs, one->scale);
        if (one->grid != nullptr) *pieces = in_chunk_order(*pieces, *one->grid);
      }
      item.runs = one->runs;
      item.scale = one->scale;
      item.pieces = pieces;
    } else if (one != nullptr) {
      item.pieces = std::make_shared<std::vector<Piece>>(std::move(one->pieces));
    }
    items_.push_back(std::move(item));
  }
  try {
    flush_ = plan(comm, domain, aggregation);
  } catch (const InputError& error) {  // on all ranks: no rank has an element twice itself
    throw ElementsOfSeveral(error.what());
  }
}

FlushPlan InPlacePlan::plan(const Comm& comm, const FileDomain& domain,
                            const Aggregation& aggregation) const {
  std::map<std::pair<const std::vector<Piece>*, std::uint64_t>, std::size_t> first_with;
  std::vector<std::size_t> first_alike;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    first_alike.push_back(
        first_with.try_emplace({items_[i].pieces.get(), lies_[i].place.elements}, i).first->second);
  }
  const auto map_of = agreed_maps(comm, first_alike);
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items.push_back({i, map_of[i]});
    if (map_of[i] < maps.size()) continue;
    maps.push_back({*items_[i].pieces, lies_[i].place.elements, ""});
  }
  return FlushPlan(comm, domain, std::move(maps), std::move(items),
                   domain.cut(aggregation.ranks.size(), aggregation.alignment), aggregation.ranks,
                   comm.size() > 1);
}

bool InPlacePlan::fits(const FileDomain& domain, Mine mine) const {
  const auto lies_alike = [](const FileDomain::Array& a, const FileDomain::Array& b) {
    return a.begin == b.begin && a.place.elements == b.place.elements &&
           a.place.element_bytes == b.place.element_bytes && a.place.unit == b.place.unit;
  };
  if (!std::equal(lies_.begin(), lies_.end(), domain.arrays().begin(), domain.arrays().end(),
                  lies_alike)) {
    return false;
  }
  // Those of another file are others that are alike.
  std::map<std::pair<const RunList*, const RunList*>, bool> alike;
  const auto are_alike = [&](const RunsPtr& a, const RunsPtr& b) {
    if (a == b) return true;
    const auto [found, is_new] = alike.try_emplace({a.get(), b.get()}, false);
    if (is_new) found->second = *a == *b;
    return found->second;
  };
  const auto lie_alike = [](const Piece& a, const Piece& b) {
    return a.file == b.file && a.length == b.length;
  };
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const Posting* const one = mine[i];
    const Extent none;
    const bool chunked = one != nullptr && one->grid != nullptr;
    if (item.extent != (chunked ? one->grid->extent() : none) ||
        item.chunk != (chunked ? one->grid->chunk() : none)) {
      return false;
    }
    if (one == nullptr || !one->runs) {
      const std::span<const Piece> pieces =
          one == nullptr ? std::span<const Piece>() : std::span<const Piece>(one->pieces);
      if (item.runs || !std::equal(item.pieces->begin(), item.pieces->end(), pieces.begin(),
                                   pieces.end(), lie_alike)) {
        return false;
      }
    } else if (!item.runs || item.scale != one->scale || !are_alike(item.runs, one->runs)) {
      return false;
    }
  }
  return true;
}

void InPlacePlan::take(Mine mine) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (mine[i] == nullptr || mine[i]->runs) continue;
    for (std::size_t p = 0; p < items_[i].pieces->size(); ++p) {
      (*items_[i].pieces)[p].buffer = mine[i]->pieces[p].buffer;
    }
  }
}

// All ranks of a group have it or none, since they make it together.
std::shared_ptr<CollectiveWriter> CollectiveWriter::of(MPI_Comm comm) {
  for (const auto& known : writers()) {
    int same = MPI_UNEQUAL;
    MPI_Comm_compare(known->comm_.get(), comm, &same);
    if (same == MPI_IDENT || same == MPI_CONGRUENT) return known;
  }
  return writers().emplace_back(std::make_shared<CollectiveWriter>(comm));
}

void CollectiveWriter::forget_all() { writers().clear(); }

// Where chunks go through filters, all cores shall do it.
void CollectiveWriter::prepare(RearrangerSettings settings, const FileDomain& domain) {
  for (const FileDomain::Array& array : domain.arrays()) {
    if (array.place.unit > 0) largest_chunk_ = std::max(largest_chunk_, array.place.unit_bytes());
  }
  if (largest_chunk_ > 0) {
    settings.aggregators = static_cast<std::uint64_t>(comm_.size());
    settings.unit = std::max(settings.unit, largest_chunk_);
  }
  if (rearranger_ && settings == settings_) return;
  plans_.clear();
  rearranger_.reset();
  settings_ = settings;
  rearranger_ = std::make_unique<Rearranger>(comm_, settings);
}

InPlacePlan& CollectiveWriter::plan_for(const FileDomain& domain, InPlacePlan::Mine mine,
                                     std::uint64_t alignment) {
  std::uint64_t fitting = 0;
  std::uint64_t bit = 1;
  for (const auto& plan : plans_) {
    if (plan->fits(domain, mine)) fitting |= bit;
    bit *= 2;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fitting, 1, MPI_UINT64_T, MPI_BAND, comm_.get()),
            "MPI_Allreduce");
  for (auto plan = plans_.begin(); plan != plans_.end(); ++plan, fitting /= 2) {
    if (fitting % 2 == 0) continue;
    plans_.splice(plans_.begin(), plans_, plan);
    plans_.front()->take(mine);
    return *plans_.front();
  }
  auto made = std::make_unique<InPlacePlan>(
      comm_, domain, mine, InPlacePlan::Aggregation{rearranger_->aggregators(), alignment});
  if (plans_.size() == most_plans) plans_.pop_back();
  plans_.push_front(std::move(made));
  return *plans_.front();
}

std::vector<ArrayName> CollectiveWriter::write(std::span<Posting> mine, RearrangerSettings settings,
                                            std::uint64_t alignment,
                                            const Rearranger::FileAccess& access,
                                            ChunkedDatasets& chunked) {
  std::vector<ArrayName> names;
  std::map<ArrayName, Posting*> by_name;
  for (Posting& one : mine) {
    names.push_back(one.array);
    by_name[one.array] = &one;
  }
  names = union_of_ranks(comm_, std::move(names));
  if (names.empty()) return names;
  std::vector<ArrayPlace> places;
  std::map<std::uint64_t, std::uint64_t> offsets;  // of those in chunks, by number
  std::uint64_t beyond = beyond_file;
  for (const ArrayName& one : names) {
    places.push_back({one.number, one.element_bytes, one.elements, one.unit});
    if (one.chunked == 0) continue;
    places.back().offset = beyond;
    offsets[one.number] = beyond;
    beyond += places.back().bytes();
  }
  const auto arrays = chunked.arrays(offsets);
  const FileDomain domain(places, 0);
  prepare(settings, domain);
  std::vector<Posting*> postings;
  std::vector<std::byte*> buffers;
  std::vector<bool> fresh;
  for (const ArrayName& name : names) {
    const auto found = by_name.find(name);
    postings.push_back(found == by_name.end() ? nullptr : found->second);
    const Posting* const one = postings.back();
    buffers.push_back(one == nullptr ? nullptr : const_cast<std::byte*>(one->data));
    fresh.push_back(one != nullptr && one->fresh);
  }
  InPlacePlan& plan = plan_for(domain, postings, alignment);
  const Rearranger::Flush flush{domain, plan.flush(), buffers, fresh};
  if (arrays.empty()) {
    agreed(comm_, [&] { rearranger_->write(flush, access); });
  } else {
    FilteredFlush filters(comm_, chunked.store());
    agreed(comm_, [&] { filters.write(*rearranger_, flush, arrays, access); });
  }
  return names;
}

}  // namespace slabmark::slablog
