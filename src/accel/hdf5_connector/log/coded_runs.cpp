#include "accel/hdf5_connector/log/coded_runs.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "accel/hdf5_connector/log/index_reader.hpp"
#include "core/base/checksum.hpp"
#include "core/base/error.hpp"
#include "core/base/varint.hpp"

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
  /// The first run comes after `offset` elements of the `elements` that there are.
  Scan(std::span<const std::byte> coded, std::uint64_t elements, const std::string& place,
       std::uint64_t offset = 0)
      : reader_(coded, place), elements_(elements), offset_(offset) {}

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
  std::uint64_t offset_;
  std::uint64_t length_ = 0;
};

[[noreturn]] void do_not_fit(const std::string& place) {
  throw IoError(fmt::format(
      "The index {} is damaged: its runs are not those of its marks; restore the file from a copy.",
      place));
}

}  // namespace

/// Runs that are in a file, and come into memory in blocks.
struct CodedRuns::Stored {
  posix::File& file;
  std::uint64_t address;
  std::uint64_t elements;  ///< of the extent
  Mark end;
  std::string place;
  std::vector<std::uint64_t> checksums = {};  ///< of the blocks
  std::vector<bool> here = {};                ///< which of them are
  std::unique_ptr<std::byte[]> bytes = {};    ///< no memory but address space until they are
};

CodedRuns::CodedRuns(const IndexEntry& entry, std::uint64_t flush, std::size_t element_bytes,
                     const std::string& place)
    : coded_(entry.coded),
      runs_(entry.runs),
      element_bytes_(element_bytes),
      source_(in_segment + static_cast<std::uint32_t>(flush)) {
  if (entry.file != nullptr) {
    read_marks(entry, place);
    return;
  }
  Scan scan(entry.coded, element_count(entry.extent), place);
  marks_.reserve(runs_ / runs_a_mark + 1);
  for (std::uint64_t i = 0; i < runs_; i += runs_a_mark) {
    marks_.push_back({scan.offset(), entry.first + scan.length(), scan.byte()});
    scan.take(std::min(runs_a_mark, runs_ - i));
  }
  end_ = scan.offset();
  segment_end_ = entry.first + scan.length();
  first_ = IndexReader(coded_, place).number();
}

CodedRuns::Mark CodedRuns::end_mark() const {
  return stored_ ? stored_->end : Mark{end_, segment_end_, coded_.size()};
}

// Number of runs, bytes of the entry before them, bytes of the runs, first element; then the way
// from each mark to the next, and after those of a block the checksum of its bytes.
std::vector<std::byte> CodedRuns::coded_marks(std::uint64_t before) const {
  std::vector<std::byte> coded;
  for (const auto one : {runs_, before, coded_.size(), first_}) put_varint(coded, one);
  for (std::size_t i = 1; i <= marks_.size(); ++i) {
    const auto& next = i == marks_.size() ? end_mark() : marks_[i];
    put_varint(coded, next.offset - marks_[i - 1].offset);
    put_varint(coded, next.element - marks_[i - 1].element);
    put_varint(coded, next.byte - marks_[i - 1].byte);
    if (i % marks_a_block != 0 && i != marks_.size()) continue;
    const auto begin = marks_[(i - 1) / marks_a_block * marks_a_block].byte;
    put_varint(coded, Checksum().add(coded_.subspan(begin, next.byte - begin)).value());
  }
  return coded;
}

void CodedRuns::read_marks(const IndexEntry& entry, const std::string& place) {
  IndexReader reader(entry.coded, place);
  runs_ = reader.number();
  reader.number();
  const auto bytes = reader.number();
  first_ = reader.number();
  const auto count = (runs_ + runs_a_mark - 1) / runs_a_mark;
  if (count == 0 || count > entry.coded.size() || bytes / 2 < runs_ || bytes / 20 > runs_) {
    reader.broken();
  }
  stored_ = std::make_shared<Stored>(*entry.file, entry.address, element_count(entry.extent),
                                     Mark{0, entry.first, 0}, place);
  auto& at = stored_->end;
  while (marks_.size() < count) {
    marks_.push_back(at);
    at.offset += reader.number();
    at.element += reader.number();
    at.byte += reader.number();
    if (at.offset > stored_->elements || at.offset < marks_.back().offset ||
        at.element < marks_.back().element || at.byte > bytes || at.byte < marks_.back().byte) {
      reader.broken();
    }
    if (marks_.size() % marks_a_block == 0 || marks_.size() == count) {
      stored_->checksums.push_back(reader.number());
    }
  }
  if (at.byte != bytes || !reader.at_end()) reader.broken();
  end_ = at.offset;
  segment_end_ = at.element;
  stored_->here.resize(stored_->checksums.size());
  stored_->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
  coded_ = {stored_->bytes.get(), bytes};
}

/// Reads the block of a mark, and checks it.
void CodedRuns::fetch(std::uint64_t mark) const {
  const auto block = mark / marks_a_block;
  if (!stored_ || stored_->here[block]) return;
  const auto first = block * marks_a_block;
  const auto stop = std::min<std::uint64_t>(first + marks_a_block, marks_.size());
  const auto mark_at = [&](std::uint64_t i) { return i == marks_.size() ? end_mark() : marks_[i]; };
  const auto begin = marks_[first].byte;
  const std::span<std::byte> bytes(stored_->bytes.get() + begin, mark_at(stop).byte - begin);
  stored_->file.read_at(stored_->address + begin, bytes.data(), bytes.size());
  if (Checksum().add(bytes).value() != stored_->checksums[block]) do_not_fit(stored_->place);
  Scan scan(bytes, stored_->elements, stored_->place, marks_[first].offset);
  for (auto i = first; i < stop; ++i) {
    scan.take(std::min(runs_a_mark, runs_ - i * runs_a_mark));
    const auto next = mark_at(i + 1);
    if (scan.offset() != next.offset || marks_[first].element + scan.length() != next.element ||
        begin + scan.byte() != next.byte) {
      do_not_fit(stored_->place);
    }
  }
  stored_->here[block] = true;
}

void CodedRuns::fetch_all() const {
  for (std::uint64_t mark = 0; mark < marks_.size(); mark += marks_a_block) fetch(mark);
}

bool CodedRuns::operator==(const CodedRuns& other) const {
  if (source_ != other.source_ || runs_ != other.runs_ || end_ != other.end_ ||
      coded_.size() != other.coded_.size() ||
      marks_.front().element != other.marks_.front().element) {
    return false;
  }
  fetch_all();
  other.fetch_all();
  return std::equal(coded_.begin(), coded_.end(), other.coded_.begin(), other.coded_.end());
}

const CodedRuns::Mark& CodedRuns::mark_before(std::uint64_t offset) const {
  return *std::prev(
      std::upper_bound(marks_.begin(), marks_.end(), offset,
                       [](std::uint64_t at, const Mark& mark) { return at < mark.offset; }));
}

Run CodedRuns::segment_part(Run wanted) const {
  if (wanted.offset >= end_ || wanted.end() <= first_) return {segment_end_, 0};
  const auto mark_after = [&](std::uint64_t offset) {
    return std::upper_bound(marks_.begin(), marks_.end(), offset,
                            [](std::uint64_t at, const Mark& mark) { return at < mark.offset; });
  };
  const auto first = mark_before(wanted.offset).element;
  const auto after = mark_after(wanted.end());
  return {first, (after == marks_.end() ? segment_end_ : after->element) - first};
}

CodedRuns::Cursor::Cursor(const CodedRuns& all, std::uint64_t offset) : all_(&all) {
  go_to(all.mark_before(offset));
  seek(offset);
}

void CodedRuns::Cursor::go_to(const Mark& mark) {
  next_ = static_cast<std::uint64_t>(&mark - all_->marks_.data()) * runs_a_mark;
  at_ = all_->coded_.data() + mark.byte;
  before_ = {mark.offset, 0, mark.element * all_->element_bytes_, all_->source_};
  decode();
}

void CodedRuns::Cursor::decode() {
  if (next_ < all_->runs_ && next_ % runs_a_mark == 0) all_->fetch(next_ / runs_a_mark);
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
