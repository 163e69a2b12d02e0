#include "accel/hdf5_connector/log/reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace slabmark::slablog {

namespace {

// Pieces that lie so near each other are read together: a call costs as much as some 30 KB.
constexpr std::uint64_t gap_bytes = 32 << 10;
// So many that a list of small ones is worth a call, and few enough for the cache.
constexpr std::size_t most_pieces = 4096;

// A request takes a bit an element: at most 2 MiB.
constexpr std::uint64_t most_elements = 16 << 20;

// Copiers hold a window of 32 KiB each.
constexpr std::size_t most_copiers = 64;
constexpr std::uint64_t copied_bytes = 256 << 10;
constexpr std::uint64_t short_bytes = 256;

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

void fill_with(const std::vector<std::byte>& element, const ReadRun& read) {
  const auto bytes = read.length * element.size();
  auto filled = std::min<std::uint64_t>(bytes, element.size());
  std::memcpy(read.target, element.data(), filled);
  while (filled < bytes) {
    const auto more = std::min(filled, bytes - filled);
    std::memcpy(read.target + filled, read.target, more);
    filled += more;
  }
}

/// Copies what an entry has of a range of the dataset, from its beginning to its end: that is one
/// piece of the segment, in the same order.
class EntryCopier {
 public:
  EntryCopier(posix::File& file, const CodedRuns& entry, std::uint64_t segment, Run wanted,
              std::size_t element_bytes)
      : file_(file),
        size_(element_bytes),
        segment_(segment),
        end_(segment + entry.segment_part(wanted).end() * element_bytes),
        runs_(entry.begin(wanted.offset)) {}

  /// The next piece.
  void copy(const ReadRun& read) {
    for (; !runs_.at_end() && runs_.run().offset < read.end(); runs_.next()) {
      const auto& run = runs_.run();
      const auto from = std::max(run.offset, read.offset);
      const auto bytes = (std::min(run.end(), read.end()) - from) * size_;
      const auto address = segment_ + run.position + (from - run.offset) * size_;
      auto* target = read.target + (from - read.offset) * size_;
      if (bytes < gap_bytes) {
        copy_piece(target, at(address, bytes), bytes);
      } else {
        file_.read_at(address, target, bytes);
      }
      if (run.end() > read.end()) return;
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

/// Copying the entries one over another takes half the time for short runs, as nothing is marked
/// or sorted, unless much is written twice, or the entries have but little each.
bool pays_to_copy(const std::vector<const CodedRuns*>& entries, Run wanted,
                  std::size_t element_bytes) {
  if (entries.empty() || entries.size() > most_copiers) return false;
  std::uint64_t bytes = 0;
  for (const auto* entry : entries) {
    if (entry->mean_length() * element_bytes > short_bytes) return false;
    bytes += entry->segment_part(wanted).length * element_bytes + gap_bytes;
  }
  return bytes <= 2 * wanted.length * element_bytes;
}

/// Copies the entries one over another; returns whether that was worth it.
bool copy_entries(posix::File& file, const LogDataset& dataset, const ReadRun& read) {
  const auto size = dataset.element_bytes();
  const Run wanted{read.offset, read.length};
  const auto entries = dataset.only_entries(wanted);
  if (!pays_to_copy(entries, wanted, size)) return false;
  std::vector<EntryCopier> copiers;
  copiers.reserve(entries.size());
  for (const auto* entry : entries) {
    const auto& segment = dataset.segments.at(entry->source());
    copiers.emplace_back(file, *entry, segment.address, wanted, size);
  }
  // Copied entries stay in the cache until all entries have been there.
  const auto most = std::max<std::uint64_t>(1, copied_bytes / size);
  for (auto rest = read; rest.length > 0;) {
    const ReadRun now{rest.offset, std::min(rest.length, most), rest.target};
    fill_with(dataset.fill(), now);
    for (auto& copier : copiers) copier.copy(now);
    rest = after(rest, now.length, size);
  }
  return true;
}

}  // namespace

void Gathering::add(const LogRun& run, std::byte* target) {
  if (run.source != source_) go_to(run.source);
  const auto bytes = run.length * size_;
  if (pieces_ == nullptr) {
    std::memcpy(target, reinterpret_cast<const std::byte*>(run.position), bytes);
    return;
  }
  pieces_->push_back({base_ + run.position, bytes, target});
  if (pieces_->size() == most_) finish();
}

void Gathering::go_to(std::uint32_t source) {
  source_ = source;
  pieces_ = source == in_memory ? nullptr : source == in_spill ? &in_spill_ : &in_file_;
  base_ = source >= in_segment ? dataset_.segments.at(source).address : 0;
}

void Gathering::end_of_list() {
  if (in_file_.size() > most_ / 16) finish();
}

void Gathering::finish() {
  read(files_.spill, in_spill_);
  read(files_.hdf5, in_file_);
}

void Gathering::read(posix::File& file, std::vector<Piece>& pieces) {
  const auto by_address = [](const Piece& a, const Piece& b) { return a.address < b.address; };
  if (!std::is_sorted(pieces.begin(), pieces.end(), by_address)) {
    std::sort(pieces.begin(), pieces.end(), by_address);
  }
  for (std::size_t first = 0; first < pieces.size();) {
    const auto begin = pieces[first].address;
    auto end = begin + pieces[first].bytes;
    auto last = first + 1;
    while (last < pieces.size() && pieces[last].address <= end + gap_bytes &&
           pieces[last].address + pieces[last].bytes <= begin + window_bytes) {
      end = std::max(end, pieces[last].address + pieces[last].bytes);
      ++last;
    }
    if (last == first + 1) {
      file.read_at(begin, pieces[first].target, pieces[first].bytes);
    } else {
      if (window_.size() < end - begin) window_.resize(end - begin);
      file.read_at(begin, window_.data(), end - begin);
      for (auto i = first; i < last; ++i) {
        copy_piece(pieces[i].target, window_.data() + (pieces[i].address - begin), pieces[i].bytes);
      }
    }
    first = last;
  }
  pieces.clear();
}

void read_log(ElementFiles& files, LogDataset& dataset, std::vector<ReadRun> reads) {
  if (reads.size() == 1 && copy_entries(files.hdf5, dataset, reads.front())) return;
  Gathering gathering(files, dataset, most_pieces);
  for_each_request(std::move(reads), dataset.element_bytes(), most_elements, [&](Request& request) {
    dataset.find(request, gathering);
    request.for_each_missing([&](const ReadRun& read) { fill_with(dataset.fill(), read); });
  });
  gathering.finish();
}

}  // namespace slabmark::slablog
