#include "slablog/coded_runs.hpp"

#include <bit>
#include <cstring>

#include "slablog/index_reader.hpp"

namespace slabmark::slablog {

namespace {

/// Of the bytes 0, 2, 4 and 6 in memory, and of the others.
struct Sums {
  std::uint64_t even;
  std::uint64_t odd;
};

Sums sums_of(std::uint64_t word) {
  const auto sum = [](std::uint64_t bytes) {
    return (bytes & 0x00ff00ff00ff00ff) * 0x0001000100010001 >> 48;
  };
  if constexpr (std::endian::native == std::endian::little) return {sum(word), sum(word >> 8)};
  return {sum(word >> 8), sum(word)};
}

/// The number at `at`, which is set behind it. It is known to be in order.
std::uint64_t number(const std::byte*& at) {
  auto byte = std::to_integer<std::uint64_t>(*at++);
  auto value = byte & 0x7f;
  for (int shift = 7; byte >= 0x80; shift += 7) {
    byte = std::to_integer<std::uint64_t>(*at++);
    value |= (byte & 0x7f) << shift;
  }
  return value;
}

/// Takes runs one after another and knows where they end. Throws where they leave the extent.
class Scan {
 public:
  Scan(const IndexEntry& entry, const std::string& place)
      : reader_(entry.coded, place), elements_(element_count(entry.extent)) {}

  void take(std::uint64_t runs) {
    while (runs > 0) {
      runs -= take_small(runs);
      if (runs == 0) break;
      add(reader_.number(), 0);
      const auto length = reader_.number();
      add(length, length);
      --runs;
    }
  }

  std::uint64_t offset() const { return offset_; }
  std::uint64_t length() const { return length_; }
  std::uint64_t byte() const { return reader_.at(); }

 private:
  /// Four at a time, as long as all their numbers are below 128. Returns how many.
  std::uint64_t take_small(std::uint64_t runs) {
    const auto bytes = reader_.rest();
    std::uint64_t taken = 0;
    std::uint64_t gaps = 0;
    std::uint64_t lengths = 0;
    for (; taken + 4 <= runs && 2 * taken + 8 <= bytes.size(); taken += 4) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + 2 * taken, 8);
      if ((word & 0x8080808080808080) != 0) break;
      const auto sums = sums_of(word);
      gaps += sums.even;
      lengths += sums.odd;
    }
    reader_.take(2 * taken);
    add(gaps + lengths, lengths);
    return taken;
  }

  void add(std::uint64_t elements, std::uint64_t length) {
    if (elements > elements_ - offset_) reader_.broken();
    offset_ += elements;
    length_ += length;
  }

  IndexReader reader_;
  std::uint64_t elements_;
  std::uint64_t offset_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace

CodedRuns::CodedRuns(const IndexEntry& entry, std::uint64_t flush, std::size_t element_bytes,
                     const std::string& place)
    : coded_(entry.coded),
      runs_(entry.runs),
      element_bytes_(element_bytes),
      source_(in_segment + static_cast<std::uint32_t>(flush)) {
  Scan scan(entry, place);
  marks_.reserve(runs_ / runs_a_mark + 1);
  for (std::uint64_t i = 0; i < runs_; i += runs_a_mark) {
    marks_.push_back({scan.offset(), entry.first + scan.length(), scan.byte()});
    scan.take(std::min(runs_a_mark, runs_ - i));
  }
  end_ = scan.offset();
  segment_end_ = entry.first + scan.length();
}

bool CodedRuns::operator==(const CodedRuns& other) const {
  return source_ == other.source_ && runs_ == other.runs_ && end_ == other.end_ &&
         marks_.front().element == other.marks_.front().element &&
         std::equal(coded_.begin(), coded_.end(), other.coded_.begin(), other.coded_.end());
}

Run CodedRuns::segment_part(Run wanted) const {
  if (wanted.offset >= end_) return {segment_end_, 0};
  const auto mark_after = [&](std::uint64_t offset) {
    return std::upper_bound(marks_.begin(), marks_.end(), offset,
                            [](std::uint64_t at, const Mark& mark) { return at < mark.offset; });
  };
  const auto first = std::prev(mark_after(wanted.offset))->element;
  const auto after = mark_after(wanted.end());
  return {first, (after == marks_.end() ? segment_end_ : after->element) - first};
}

CodedRuns::Cursor::Cursor(const CodedRuns& all) : all_(&all) { go_to(all.marks_.front()); }

void CodedRuns::Cursor::go_to(const Mark& mark) {
  next_ = static_cast<std::uint64_t>(&mark - all_->marks_.data()) * runs_a_mark;
  at_ = all_->coded_.data() + mark.byte;
  before_ = {mark.offset, 0, mark.element * all_->element_bytes_, all_->source_};
  decode();
}

void CodedRuns::Cursor::decode() {
  const auto size = all_->element_bytes_;
  const auto count = std::min(decoded_.size(), all_->runs_ - next_);
  auto offset = before_.end();
  auto position = before_.position + before_.length * size;
  const auto* at = at_;
  for (std::uint64_t i = 0; i < count; ++i) {
    offset += number(at);
    const auto length = number(at);
    decoded_[i] = {offset, length, position, all_->source_};
    offset += length;
    position += length * size;
  }
  at_ = at;
  next_ += count;
  run_ = 0;
  count_ = count;
  if (count > 0) before_ = decoded_[count - 1];
  if (offset > all_->end_) cut();
}

/// Takes away what is beyond the end; nothing comes after that.
void CodedRuns::Cursor::cut() {
  next_ = all_->runs_;
  while (count_ > 0 && decoded_[count_ - 1].offset >= all_->end_) --count_;
  if (count_ == 0) return;
  auto& last = decoded_[count_ - 1];
  last.length = std::min(last.length, all_->end_ - last.offset);
}

void CodedRuns::Cursor::seek(std::uint64_t offset) {
  if (!at_end() && before_.end() <= offset) {
    const auto& marks = all_->marks_;
    const auto ahead = (next_ + runs_a_mark - 1) / runs_a_mark;
    if (ahead < marks.size() && marks[ahead].offset <= offset) {
      const auto after =
          std::upper_bound(marks.begin() + static_cast<std::ptrdiff_t>(ahead), marks.end(), offset,
                           [](std::uint64_t at, const Mark& mark) { return at < mark.offset; });
      go_to(*std::prev(after));
    } else {
      decode();
    }
    while (!at_end() && before_.end() <= offset) decode();
  }
  while (!at_end() && run().end() <= offset) ++run_;
}

LogRuns CodedRuns::decoded() const {
  LogRuns runs;
  runs.reserve(runs_);
  for (auto cursor = begin(); !cursor.at_end(); cursor.next()) runs.push_back(cursor.run());
  return runs;
}

}  // namespace slabmark::slablog
