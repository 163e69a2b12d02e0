#include "accel/hdf5_connector/canonical/collective_writer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "accel/hdf5_connector/log/plain_file.hpp"
#include "collective/context_pool.hpp"
#include "collective/exchange/union_of_ranks.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark::slablog {

namespace {

/// Never destroyed but before MPI ends: later there is nothing to give anything back to.
collective::ContextPool<SharedContext>& contexts() {
  static auto& all = *new collective::ContextPool<SharedContext>;
  return all;
}

/// The places of the arrays of a flush. Chunked arrays are placed beyond the end of the file, at
/// offsets that only distinguish them.
struct Places {
  explicit Places(std::span<const ArrayName> names) {
    std::uint64_t beyond = beyond_file;
    for (const ArrayName& one : names) {
      all.push_back({one.number, one.element_bytes, one.elements, one.unit});
      if (one.chunked == 0) continue;
      all.back().offset = beyond;
      offsets[one.number] = beyond;
      beyond += all.back().bytes();
    }
  }

  std::vector<ArrayPlace> all;
  std::map<std::uint64_t, std::uint64_t> offsets;  ///< of arrays in chunks, by number
};

}  // namespace

void CollectiveWriter::forget_all() { contexts().clear(); }

void CollectiveWriter::begin() {
  if (shared_) return;
  settings_.agree(comm_);
  shared_ = contexts().common(comm_.get());
}

void CollectiveWriter::read(CanonicalDataset& dataset, Posting* mine) {
  begin();
  const LibraryContext context;  // filters are HDF5's own, on files in memory
  const ArrayName name = name_of(dataset);
  const Places places(std::span(&name, 1));
  std::vector<FilteredArray> in_chunks;
  if (dataset.in_chunks()) {
    const std::uint64_t offset = places.all.front().offset;
    agreed(comm_, [&] { in_chunks.push_back(filtered(dataset, offset)); });
    chunks_.set({{offset, &dataset}});
  }
  const FileDomain domain(places.all, 0);
  prepare(domain);
  std::byte* const memory = mine == nullptr ? nullptr : const_cast<std::byte*>(mine->data);
  const std::vector<std::byte*> buffers{memory};
  const std::vector<bool> fresh{false};
  const auto access = [&](std::uint64_t at, std::byte* window, std::uint64_t bytes) {
    chunks_.read(at, window, bytes);
  };
  auto& rearranger = shared_->context.rearranger();
  const FlushPlan& plan = plan_for(domain, std::span(&mine, 1), false);
  const Rearranger::Flush moved{domain, plan, buffers, fresh};
  agreed(comm_, [&] {
    if (in_chunks.empty()) {
      rearranger.read(moved, access);
    } else {
      FilteredFlush(comm_, chunks_).read(rearranger, moved, in_chunks, access);
    }
  });
}

void CollectiveWriter::write(const Flush& flush) {
  begin();
  const LibraryContext context;  // filters are HDF5's own, on files in memory
  Names names;
  try {
    names = write_pending(flush);
  } catch (const collective::SharedElements&) {  // on all ranks, before anything was written
    flush.resolve_overlaps();
    names = write_pending(flush);
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> written;
  for (const auto& name : names) written.insert({name.chunked, name.number});
  for (const auto& [number, dataset] : flush.datasets) {
    const bool chunked = dataset->in_chunks();
    if (written.contains({chunked, chunked ? number : *dataset->address})) dataset->fresh = false;
  }
}

CollectiveWriter::Names CollectiveWriter::write_pending(const Flush& flush) {
  posix::Mapping spilled;
  std::vector<Posting> mine;
  agreed(comm_, [&] {
    if (flush.spill.is_open()) spilled = flush.spill.map(flush.spilled_bytes);
    for (const auto& [number, dataset] : flush.datasets) {
      if (dataset->has_pending()) mine.emplace_back(*dataset, spilled.data());
    }
  });
  return write(mine, flush);
}

CollectiveWriter::Names CollectiveWriter::write(std::span<Posting> mine, const Flush& flush) {
  Names names;
  std::map<ArrayName, Posting*> by_name;
  for (Posting& one : mine) {
    names.push_back(one.array);
    by_name[one.array] = &one;
  }
  names = union_of_ranks(comm_, std::move(names));
  if (names.empty()) return names;
  const Places places(names);
  const auto filtered = chunked_arrays(flush, places.offsets);
  const FileDomain domain(places.all, 0);
  prepare(domain);
  std::vector<Posting*> postings;
  std::vector<std::byte*> buffers;
  std::vector<bool> fresh;
  for (const ArrayName& name : names) {
    const auto found = by_name.find(name);
    Posting* const one = found == by_name.end() ? nullptr : found->second;
    postings.push_back(one);
    buffers.push_back(one == nullptr ? nullptr : const_cast<std::byte*>(one->data));
    fresh.push_back(one != nullptr && one->fresh);
  }
  const auto access = [&](std::uint64_t at, std::byte* memory, std::uint64_t bytes) {
    file_.write_at(at, memory, bytes);
  };
  auto& rearranger = shared_->context.rearranger();
  const Rearranger::Flush moved{domain, plan_for(domain, postings, true), buffers, fresh};
  agreed(comm_, [&] {
    if (filtered.empty()) {
      rearranger.write(moved, access);
    } else {
      FilteredFlush(comm_, chunks_).write(rearranger, moved, filtered, access);
    }
  });
  return names;
}

std::vector<FilteredArray> CollectiveWriter::chunked_arrays(
    const Flush& flush, const std::map<std::uint64_t, std::uint64_t>& offsets) {
  std::vector<FilteredArray> found;
  if (offsets.empty()) return found;
  ChunkFile::Datasets chunked;
  agreed(comm_, [&] {
    for (const auto& [number, offset] : offsets) {
      auto& dataset = flush.datasets.find(flush.file, number, flush.may_be_fresh);
      found.push_back(filtered(dataset, offset));
      chunked[offset] = &dataset;
    }
  });
  chunks_.set(std::move(chunked));
  return found;
}

FilteredArray CollectiveWriter::filtered(CanonicalDataset& dataset, std::uint64_t offset) {
  if (dataset.pipeline == nullptr) {
    dataset.pipeline = &pipelines_.of(dataset.type(), dataset.creation.get());
  }
  return {offset, &dataset.grid, dataset.pipeline};
}

// Where chunks go through filters, all cores shall do it.
void CollectiveWriter::prepare(const FileDomain& domain) {
  auto settings = settings_.exchange();
  auto& largest = shared_->largest_chunk;
  for (const FileDomain::Array& array : domain.arrays()) {
    if (array.place.unit > 0) largest = std::max(largest, array.place.unit_bytes());
  }
  if (largest > 0) {
    settings.aggregators = static_cast<std::uint64_t>(comm_.size());
    settings.unit = std::max(settings.unit, largest);
  }
  if (!shared_->context.prepare(settings)) return;
  shared_->plans.clear();
  shared_->read_plans.clear();
}

const FlushPlan& CollectiveWriter::plan_for(const FileDomain& domain, PostingKey::Mine mine,
                                            bool writes) {
  auto& plans = writes ? shared_->plans : shared_->read_plans;
  auto fitting = plans.fitting(
      [&](const auto& kept) { return kept.plan.lies_alike(domain) && kept.key.fits(mine); });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &fitting, 1, MPI_UINT64_T, MPI_BAND, comm_.get()),
            "MPI_Allreduce");
  if (const auto known = plans.chosen(fitting)) {
    auto& entry = plans.use(*known);
    entry.key.take(mine);
    return entry.plan.flush();
  }
  plans.drop_oldest_if_full();
  PostingKey key(mine);
  collective::Plan plan(
      comm_, domain, key.items(),
      {shared_->context.rearranger().aggregators(), settings_.alignment().value},
      {.writes = writes,
       .overlaps = writes ? collective::Overlaps::refused : collective::Overlaps::allowed});
  return plans.add(std::move(key), std::move(plan)).plan.flush();
}

}  // namespace slabmark::slablog
