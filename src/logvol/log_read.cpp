#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "logvol/log_file.hpp"

namespace slabmark::logvol {

namespace {

// Pieces that lie so near each other are read together: a call costs as much as some 30 KB.
constexpr std::uint64_t gap_bytes = 32 << 10;
constexpr std::uint64_t window_bytes = 4 << 20;

struct Fetch {
  std::uint64_t address;
  std::uint64_t bytes;
  std::byte* target;
};

void fetch_from(posix::File& file, std::vector<Fetch>& all) {
  std::sort(all.begin(), all.end(),
            [](const Fetch& a, const Fetch& b) { return a.address < b.address; });
  std::vector<std::byte> window;
  for (std::size_t first = 0; first < all.size();) {
    const auto begin = all[first].address;
    auto end = begin + all[first].bytes;
    auto last = first + 1;
    while (last < all.size() && all[last].address <= end + gap_bytes &&
           all[last].address + all[last].bytes <= begin + window_bytes) {
      end = std::max(end, all[last].address + all[last].bytes);
      ++last;
    }
    if (last == first + 1) {
      file.read_at(begin, all[first].target, all[first].bytes);
    } else {
      window.resize(end - begin);
      file.read_at(begin, window.data(), window.size());
      for (auto i = first; i < last; ++i) {
        std::memcpy(all[i].target, window.data() + (all[i].address - begin), all[i].bytes);
      }
    }
    first = last;
  }
}

void fill_with(const std::vector<std::byte>& element, const Wish& wish) {
  auto* target = wish.target;
  for (std::uint64_t i = 0; i < wish.length; ++i, target += element.size()) {
    std::memcpy(target, element.data(), element.size());
  }
}

}  // namespace

void LogFile::parse_indices() {
  for (; parsed_ < indices_.size(); ++parsed_) {
    std::vector<std::byte> bytes(indices_[parsed_].elements);
    raw_.read_at(indices_[parsed_].address, bytes.data(), bytes.size());
    for_each_entry(bytes, index_name(parsed_), [&](const IndexEntry& entry) {
      hyperslabs_[entry.dataset] += entry.runs;
      waiting_[entry.dataset].push_back({parsed_, entry, {entry.coded.begin(), entry.coded.end()}});
    });
  }
}

void LogFile::update(LogDataset& dataset) {
  parse_indices();
  const auto found = waiting_.find(dataset.number());
  if (found == waiting_.end()) return;
  for (auto& waiting : found->second) {
    waiting.entry.coded = waiting.coded;
    dataset.load(waiting.entry, waiting.flush);
  }
  dataset.finish_load();
  waiting_.erase(found);
}

void LogFile::fetch(const LogRuns& runs, std::span<std::byte* const> targets,
                    const LogDataset& dataset) {
  std::vector<Fetch> from_spill;
  std::vector<Fetch> from_file;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    const auto bytes = run.length * dataset.element_bytes();
    if (run.source == in_memory) {
      std::memcpy(targets[i], reinterpret_cast<const std::byte*>(run.position), bytes);
    } else if (run.source == in_spill) {
      from_spill.push_back({run.position, bytes, targets[i]});
    } else {
      from_file.push_back(
          {dataset.segments.at(run.source).address + run.position, bytes, targets[i]});
    }
  }
  fetch_from(spilled_, from_spill);
  fetch_from(raw_, from_file);
}

void LogFile::read(LogDataset& dataset, std::vector<Wish> wishes) {
  update(dataset);
  LogRuns granted;
  std::vector<std::byte*> targets;
  dataset.find(wishes, granted, targets);
  fetch(granted, targets, dataset);
  for (const auto& wish : wishes) fill_with(dataset.fill(), wish);
}

}  // namespace slabmark::logvol
