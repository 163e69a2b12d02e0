#include "accel/hdf5_connector/log/log_share.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "collective/exchange/range_plan.hpp"

namespace slabmark::slablog {

namespace {

// Large enough for a file system, small enough for what is kept of each hyperslab in it.
Run common(Run a, Run b) {
  const auto from = std::max(a.offset, b.offset);
  return {from, std::max(from, std::min(a.end(), b.end())) - from};
}

/// The runs whose bytes are elements of `part` of the segment.
LogRuns cut(const LogRuns& runs, Run part, std::size_t element_bytes) {
  LogRuns result;
  for (const auto& run : runs) {
    const auto at = run.position / element_bytes;
    const auto kept = common({at, run.length}, part);
    if (kept.length == 0) continue;
    const auto from = run.offset + (kept.offset - at);
    result.push_back(slabmark::slablog::part_of(run, from, from + kept.length, element_bytes));
  }
  return result;
}

}  // namespace

LogShare::LogShare(const Ranks& ranks, ElementFiles& files, Journal* journal,
                   std::span<const StoredIndex> indices, std::span<LogDataset* const> datasets)
    : ranks_(ranks), files_(files), journal_(journal) {
  if (datasets.empty()) return;
  for (const auto* dataset : datasets) {
    std::uint64_t elements = 0;
    for (const auto& [source, segment] : dataset->segments) elements += segment.elements;
    shares_[dataset->number()].mine =
        equal_range(elements, static_cast<std::uint64_t>(ranks.rank()),
                    static_cast<std::uint64_t>(ranks.size()));
  }
  for (std::size_t flush = 0; flush < indices.size(); ++flush) {
    for (const auto* dataset : datasets) {
      const auto segment = dataset->segments.find(in_segment + static_cast<std::uint32_t>(flush));
      auto& share = shares_.at(dataset->number());
      share.segment_begin += share.segment_elements;
      share.segment_elements = segment == dataset->segments.end() ? 0 : segment->second.elements;
    }
    auto [bytes, entries] = read_index(files_.hdf5, indices[flush], flush);
    std::erase_if(entries,
                  [&](const IndexEntry& entry) { return !shares_.contains(entry.dataset); });
    keep(entries, flush);
  }
}

// An entry does not say how many elements it has; but its dataset's next one begins where it ends.
std::vector<std::uint64_t> LogShare::lengths_of(std::span<const IndexEntry> entries) const {
  std::vector<std::uint64_t> lengths(entries.size(), 0);
  std::map<std::uint64_t, std::uint64_t> ends;
  for (const auto& [number, share] : shares_) ends[number] = share.segment_elements;
  for (auto i = entries.size(); i-- > 0;) {
    if (entries[i].runs == 0) continue;
    auto& end = ends[entries[i].dataset];
    lengths[i] = end - std::min(end, entries[i].first);
    end = entries[i].first;
  }
  return lengths;
}

void LogShare::keep(std::span<const IndexEntry> entries, std::uint64_t flush) {
  const auto lengths = lengths_of(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    auto& share = shares_.at(entry.dataset);
    share.hyperslabs += entry.runs;
    auto part = common({share.segment_begin + entry.first, lengths[i]}, share.mine);
    if (part.length > 0) {
      part.offset -= share.segment_begin;
      share.kept.push_back({flush, entry, {entry.coded.begin(), entry.coded.end()}, part});
    } else if (entry.extent != share.extent) {
      share.kept.push_back({flush, entry, {}, {}});
    }
    share.extent = entry.extent;
  }
}

// The dataset as this part of the log alone would make it.
LogDataset LogShare::part_of(const LogDataset& dataset) const {
  LogDataset result(dataset.number(),
                    hdf5::own(H5Tcopy(dataset.type()), H5Tclose, "H5Tcopy", "the log"),
                    dataset.extent(), dataset.fill());
  result.segments = dataset.segments;
  for (const auto& kept : shares_.at(dataset.number()).kept) {
    auto entry = kept.entry;
    entry.coded = kept.coded;
    const auto size = dataset.element_bytes();
    LogRuns runs;
    if (kept.part.length > 0) {
      const CodedRuns all(entry, kept.flush, size, index_name(kept.flush));
      runs = cut(all.decoded(), kept.part, size);
    }
    result.load(std::move(runs), entry.extent);
  }
  result.finish_load();
  return result;
}

void LogShare::assemble(const LogDataset& dataset, posix::File& target, std::uint64_t address,
                        const std::function<void(std::uint64_t bytes)>& on_written) {
  std::optional<LogDataset> part;
  ranks_.agreed([&] { part.emplace(part_of(dataset)); });
  const auto& runs = part->flushed();
  const auto size = dataset.element_bytes();
  const RangePlan plan(ranks_.comm(), elements_of(runs), element_count(dataset.extent()));
  plan.move(
      dataset.fill(), window_bytes,
      [&](std::span<const Run> wanted, std::byte* packed) {
        Gathering gathering(files_, *part, std::numeric_limits<std::size_t>::max());
        for (const auto& one : parts_within(runs, wanted, size)) {
          gathering.add(one, packed);
          packed += one.length * size;
        }
        gathering.finish();
      },
      [&](Run window, const std::byte* elements) {
        const auto at = address + window.offset * size;
        if (journal_ != nullptr) journal_->protect(at, window.length * size);
        target.write_at(at, elements, window.length * size);
        if (on_written) on_written(window.length * size);
      });
}

}  // namespace slabmark::slablog
