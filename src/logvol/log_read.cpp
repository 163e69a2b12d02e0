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

// Painters hold a window of 32 KiB each.
constexpr std::size_t most_painters = 64;
constexpr std::uint64_t painted_bytes = 256 << 10;
constexpr std::uint64_t short_bytes = 256;

struct Fetch {
  std::uint64_t address;
  std::uint64_t bytes;
  std::byte* target;
};

/// A call of memcpy takes longer than the few bytes that most pieces have.
void copy_piece(std::byte* target, const std::byte* from, std::uint64_t bytes) {
  const auto both_ends = [&]<class Word>(Word first, Word last) {
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&last, from + bytes - sizeof(Word), sizeof(Word));
    std::memcpy(target, &first, sizeof(Word));
    std::memcpy(target + bytes - sizeof(Word), &last, sizeof(Word));
  };
  if (bytes < 4 || bytes > 16) {
    std::memcpy(target, from, bytes);
  } else if (bytes < 8) {
    both_ends(std::uint32_t{}, std::uint32_t{});
  } else {
    both_ends(std::uint64_t{}, std::uint64_t{});
  }
}

/// `window` is memory to be used again.
void fetch_from(posix::File& file, std::vector<Fetch>& all, std::vector<std::byte>& window) {
  const auto by_address = [](const Fetch& a, const Fetch& b) { return a.address < b.address; };
  if (!std::is_sorted(all.begin(), all.end(), by_address)) {
    std::sort(all.begin(), all.end(), by_address);
  }
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
      if (window.size() < end - begin) window.resize(end - begin);
      file.read_at(begin, window.data(), end - begin);
      for (auto i = first; i < last; ++i) {
        copy_piece(all[i].target, window.data() + (all[i].address - begin), all[i].bytes);
      }
    }
    first = last;
  }
}

void fill_with(const std::vector<std::byte>& element, const Wish& wish) {
  const auto bytes = wish.length * element.size();
  auto filled = std::min<std::uint64_t>(bytes, element.size());
  std::memcpy(wish.target, element.data(), filled);
  while (filled < bytes) {
    const auto more = std::min(filled, bytes - filled);
    std::memcpy(wish.target + filled, wish.target, more);
    filled += more;
  }
}

/// Copies what an entry has of a range of the dataset, from its beginning to its end: that is one
/// piece of the segment, in the same order.
class EntryPainter {
 public:
  EntryPainter(posix::File& file, const CodedRuns& entry, std::uint64_t segment, Run wanted,
               std::size_t element_bytes)
      : file_(file),
        size_(element_bytes),
        segment_(segment),
        end_(segment + entry.segment_part(wanted).end() * element_bytes),
        runs_(entry.begin()) {
    runs_.seek(wanted.offset);
  }

  /// What comes next.
  void paint(const Wish& wish) {
    for (; !runs_.at_end() && runs_.run().offset < wish.end(); runs_.next()) {
      const auto& run = runs_.run();
      const auto from = std::max(run.offset, wish.offset);
      const auto bytes = (std::min(run.end(), wish.end()) - from) * size_;
      const auto address = segment_ + run.position + (from - run.offset) * size_;
      auto* target = wish.target + (from - wish.offset) * size_;
      if (bytes < gap_bytes) {
        copy_piece(target, at(address, bytes), bytes);
      } else {
        file_.read_at(address, target, bytes);
      }
      if (run.end() > wish.end()) return;
    }
  }

 private:
  const std::byte* at(std::uint64_t address, std::uint64_t bytes) {
    if (address + bytes > begin_ + window_.size()) {
      window_.resize(std::min(gap_bytes, end_ - address));
      file_.read_at(address, window_.data(), window_.size());
      begin_ = address;
    }
    return window_.data() + (address - begin_);
  }

  posix::File& file_;
  std::size_t size_;
  std::uint64_t segment_;  ///< address of its first byte
  std::uint64_t end_;      ///< of the piece
  CodedRuns::Cursor runs_;
  std::uint64_t begin_ = 0;  ///< address of the first byte in the window
  std::vector<std::byte> window_;
};

/// Painting the entries one over another takes half the time for short runs, as nothing is marked
/// or sorted, unless much is written twice, or the entries have but little each.
bool pays_to_paint(const std::vector<const CodedRuns*>& entries, Run wanted,
                   std::size_t element_bytes) {
  if (entries.empty() || entries.size() > most_painters) return false;
  std::uint64_t bytes = 0;
  for (const auto* entry : entries) {
    if (entry->mean_length() * element_bytes > short_bytes) return false;
    bytes += entry->segment_part(wanted).length * element_bytes + gap_bytes;
  }
  return bytes <= 2 * wanted.length * element_bytes;
}

}  // namespace

/// Pieces on their way into the memory of a caller.
class LogFile::Gathering {
 public:
  /// Fetches them as soon as there are `most`.
  Gathering(LogFile& log, const LogDataset& dataset, std::size_t most)
      : log_(log), dataset_(dataset), size_(dataset.element_bytes()), most_(most) {}

  void add(const LogRun& run, std::byte* target) {
    if (run.source != source_) go_to(run.source);
    const auto bytes = run.length * size_;
    if (pieces_ == nullptr) {
      std::memcpy(target, reinterpret_cast<const std::byte*>(run.position), bytes);
      return;
    }
    pieces_->push_back({base_ + run.position, bytes, target});
    if (pieces_->size() == most_) finish();
  }

  /// What follows lies elsewhere. Fetching now spares sorting, unless there is little yet.
  void end_of_list() {
    if (in_file_.size() > most_ / 16) finish();
  }

  void finish() {
    fetch_from(log_.spilled_, in_spill_, window_);
    fetch_from(log_.raw_, in_file_, window_);
    in_spill_.clear();
    in_file_.clear();
  }

 private:
  void go_to(std::uint32_t source) {
    source_ = source;
    pieces_ = source == in_memory ? nullptr : source == in_spill ? &in_spill_ : &in_file_;
    base_ = source >= in_segment ? dataset_.segments.at(source).address : 0;
  }

  LogFile& log_;
  const LogDataset& dataset_;
  std::size_t size_;
  std::size_t most_;
  std::uint32_t source_ = in_memory;      ///< of the last run
  std::vector<Fetch>* pieces_ = nullptr;  ///< that come from there
  std::uint64_t base_ = 0;                ///< address of the first byte there
  std::vector<Fetch> in_spill_;
  std::vector<Fetch> in_file_;
  std::vector<std::byte> window_;
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

bool LogFile::paint(LogDataset& dataset, const Wish& wish) {
  const auto size = dataset.element_bytes();
  const Run wanted{wish.offset, wish.length};
  const auto entries = dataset.only_entries(wanted);
  if (!pays_to_paint(entries, wanted, size)) return false;
  std::vector<EntryPainter> painters;
  painters.reserve(entries.size());
  for (const auto* entry : entries) {
    const auto& segment = dataset.segments.at(entry->source());
    painters.emplace_back(raw_, *entry, segment.address, wanted, size);
  }
  // What is painted stays in the cache until all entries have been there.
  const auto most = std::max<std::uint64_t>(1, painted_bytes / size);
  for (auto rest = wish; rest.length > 0;) {
    const Wish now{rest.offset, std::min(rest.length, most), rest.target};
    fill_with(dataset.fill(), now);
    for (auto& painter : painters) painter.paint(now);
    rest = after(rest, now.length, size);
  }
  return true;
}

void LogFile::read(LogDataset& dataset, std::vector<Wish> wishes) {
  update(dataset);
  if (wishes.size() == 1 && paint(dataset, wishes.front())) return;
  Gathering gathering(*this, dataset, most_pieces);
  for_each_request(
      std::move(wishes), dataset.element_bytes(), most_elements, [&](Request& request) {
        dataset.find(request, gathering);
        request.for_each_missing([&](const Wish& wish) { fill_with(dataset.fill(), wish); });
      });
  gathering.finish();
}

}  // namespace slabmark::logvol
