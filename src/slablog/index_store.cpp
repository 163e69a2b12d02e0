#include "slablog/index_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::slablog {

void IndexStore::load(const Location& location) {
  while (const auto index = find_line(location, index_name(flushes()))) add(*index);
}

std::uint64_t IndexStore::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& index : indices_) bytes += index.elements;
  return bytes;
}

std::uint64_t IndexStore::hyperslabs(std::uint64_t dataset) const {
  const auto found = hyperslabs_.find(dataset);
  return found == hyperslabs_.end() ? 0 : found->second;
}

void IndexStore::parse() {
  while (parsed_.size() < indices_.size()) {
    const auto flush = parsed_.size();
    const auto bytes = indices_[flush].elements;
    auto index = std::make_unique_for_overwrite<std::byte[]>(bytes);
    file_.read_at(indices_[flush].address, index.get(), bytes);
    std::vector<IndexEntry> entries;
    for_each_entry({index.get(), bytes}, index_name(flush),
                   [&](const IndexEntry& entry) { entries.push_back(entry); });
    parsed_.push_back(std::move(index));
    for (auto& entry : entries) {
      hyperslabs_[entry.dataset] += entry.runs;
      waiting_[entry.dataset].push_back({flush, std::move(entry)});
    }
  }
}

void IndexStore::find_segments(const Location& location, LogDataset& dataset) {
  // Here, not at the first read: if metadata is read collectively, no rank may do so alone.
  parse();
  for (const auto& waiting : waiting_[dataset.number()]) {
    const auto source = in_segment + static_cast<std::uint32_t>(waiting.flush);
    if (waiting.entry.runs == 0 || dataset.segments.contains(source)) continue;
    const auto name = segment_name(dataset.number(), waiting.flush);
    const auto segment = find_line(location, name);
    if (!segment) {
      throw IoError(
          fmt::format("'{}' has lost {} of its log; restore it from a copy.", file_.path(), name));
    }
    dataset.segments[source] = *segment;
  }
}

void IndexStore::update(LogDataset& dataset) {
  parse();
  const auto found = waiting_.find(dataset.number());
  if (found == waiting_.end()) return;
  for (const auto& waiting : found->second) {
    dataset.load(waiting.entry, waiting.flush, index_name(waiting.flush));
  }
  dataset.finish_load();
  waiting_.erase(found);
}

}  // namespace slabmark::slablog
