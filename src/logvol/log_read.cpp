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

// So many that a list of small ones is worth a call, and few enough for the cache.
constexpr std::size_t most_pieces = 4096;

// A request takes a bit an element: at most 2 MiB.
constexpr std::uint64_t most_elements = 16 << 20;

struct Fetch {
  std::uint64_t address;
  std::uint64_t bytes;
  std::byte* target;
};

void fetch_from(posix::File& file, std::vector<Fetch>& all) {
  const auto by_address = [](const Fetch& a, const Fetch& b) { return a.address < b.address; };
  if (!std::is_sorted(all.begin(), all.end(), by_address)) {
    std::sort(all.begin(), all.end(), by_address);
  }
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

/// Pieces on their way into the memory of a caller.
class LogFile::Gathering {
 public:
  /// Fetches them as soon as there are `most`.
  Gathering(LogFile& log, const LogDataset& dataset, std::size_t most)
      : log_(log), dataset_(dataset), size_(dataset.element_bytes()), most_(most) {}

  void add(const LogRun& run, std::byte* target) {
    const auto bytes = run.length * size_;
    if (run.source == in_memory) {
      std::memcpy(target, reinterpret_cast<const std::byte*>(run.position), bytes);
      return;
    }
    if (run.source != source_) go_to(run.source);
    auto& pieces = run.source == in_spill ? in_spill_ : in_file_;
    pieces.push_back({base_ + run.position, bytes, target});
    if (pieces.size() == most_) finish();
  }

  /// What follows lies elsewhere. Fetching now spares sorting, unless there is little yet.
  void end_of_list() {
    if (in_file_.size() > most_ / 16) finish();
  }

  void finish() {
    fetch_from(log_.spilled_, in_spill_);
    fetch_from(log_.raw_, in_file_);
    in_spill_.clear();
    in_file_.clear();
  }

 private:
  void go_to(std::uint32_t source) {
    source_ = source;
    base_ = source == in_spill ? 0 : dataset_.segments.at(source).address;
  }

  LogFile& log_;
  const LogDataset& dataset_;
  std::size_t size_;
  std::size_t most_;
  std::uint32_t source_ = in_memory;
  std::uint64_t base_ = 0;  ///< address of the first byte of that source
  std::vector<Fetch> in_spill_;
  std::vector<Fetch> in_file_;
};

void LogFile::parse_indices() {
  while (parsed_.size() < indices_.size()) {
    const auto flush = parsed_.size();
    const auto bytes = indices_[flush].elements;
    auto index = std::make_unique_for_overwrite<std::byte[]>(bytes);
    raw_.read_at(indices_[flush].address, index.get(), bytes);
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

void LogFile::update(LogDataset& dataset) {
  parse_indices();
  const auto found = waiting_.find(dataset.number());
  if (found == waiting_.end()) return;
  for (const auto& waiting : found->second) {
    dataset.load(waiting.entry, waiting.flush, index_name(waiting.flush));
  }
  dataset.finish_load();
  waiting_.erase(found);
}

void LogFile::fetch(const LogRuns& runs, std::span<std::byte* const> targets,
                    const LogDataset& dataset) {
  Gathering gathering(*this, dataset, runs.size() + 1);
  for (std::size_t i = 0; i < runs.size(); ++i) gathering.add(runs[i], targets[i]);
  gathering.finish();
}

void LogFile::read(LogDataset& dataset, std::vector<Wish> wishes) {
  update(dataset);
  const auto size = dataset.element_bytes();
  Gathering gathering(*this, dataset, most_pieces);
  for_each_request(std::move(wishes), size, most_elements, [&](Request& request) {
    dataset.find(request, gathering);
    request.for_each_missing([&](const Wish& wish) { fill_with(dataset.fill(), wish); });
  });
  gathering.finish();
}

}  // namespace slabmark::logvol
