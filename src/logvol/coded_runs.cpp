#include "logvol/coded_runs.hpp"

#include <cstring>

#include "logvol/index_reader.hpp"

namespace slabmark::logvol {

namespace {

constexpr std::uint64_t runs_in_word = 4;

/// Eight bytes as a number whose lowest byte is the first.
std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

/// Sum of the bytes 0, 2, 4 and 6.
std::uint64_t sum_of_even(std::uint64_t word) {
  return (word & 0x00ff00ff00ff00ff) * 0x0001000100010001 >> 48;
}

/// Takes runs one after another and knows where they end. Throws where they leave the extent.
class Scan {
 public:
  Scan(const IndexEntry& entry, const std::string& place)
      : reader_(entry.coded, place),
        elements_(element_count(entry.extent)),
        bytes_(entry.coded.data()) {}

  void run() {
    add(reader_.number());
    const auto length = reader_.number();
    add(length);
    length_ += length;
  }

  /// Four runs at once, if all their numbers are below 128.
  bool four_runs() {
    if (reader_.left() < 8) return false;
    const auto word = word_at(bytes_ + reader_.at());
    if ((word & 0x8080808080808080) != 0) return false;
    reader_.take(8);
    const auto length = sum_of_even(word >> 8);
    add(sum_of_even(word) + length);
    length_ += length;
    return true;
  }

  std::uint64_t offset() const { return offset_; }
  std::uint64_t length() const { return length_; }
  std::uint64_t byte() const { return reader_.at(); }

 private:
  void add(std::uint64_t elements) {
    if (elements > elements_ - offset_) reader_.broken();
    offset_ += elements;
  }

  IndexReader reader_;
  std::uint64_t elements_;
  const std::byte* bytes_;
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
  for (std::uint64_t i = 0; i < runs_;) {
    if (i % runs_a_mark == 0) {
      marks_.push_back({scan.offset(), entry.first + scan.length(), scan.byte()});
    }
    if (i % runs_in_word == 0 && runs_ - i >= runs_in_word && scan.four_runs()) {
      i += runs_in_word;
    } else {
      scan.run();
      ++i;
    }
  }
  end_ = scan.offset();
  segment_end_ = entry.first + scan.length();
}

CodedRuns::Cursor::Cursor(const CodedRuns& all) : all_(&all) {
  run_.source = all.source_;
  at_end_ = all.runs_ == 0;
  if (at_end_) return;
  go_to(all.marks_.front());
  next();
}

void CodedRuns::Cursor::go_to(const Mark& mark) {
  next_ = static_cast<std::uint64_t>(&mark - all_->marks_.data()) * runs_a_mark;
  at_ = all_->coded_.data() + mark.byte;
  run_.offset = mark.offset;
  run_.length = 0;
  run_.position = mark.element * all_->element_bytes_;
}

void CodedRuns::Cursor::seek(std::uint64_t offset) {
  if (at_end_ || run_.end() > offset) return;
  const auto& marks = all_->marks_;
  const auto ahead = (next_ + runs_a_mark - 1) / runs_a_mark;
  if (ahead < marks.size() && marks[ahead].offset <= offset) {
    const auto after =
        std::upper_bound(marks.begin() + static_cast<std::ptrdiff_t>(ahead), marks.end(), offset,
                         [](std::uint64_t at, const Mark& mark) { return at < mark.offset; });
    go_to(*std::prev(after));
    next();
  }
  while (!at_end_ && run_.end() <= offset) next();
}

LogRuns CodedRuns::decoded() const {
  LogRuns runs;
  runs.reserve(runs_);
  for (auto cursor = begin(); !cursor.at_end(); cursor.next()) runs.push_back(cursor.run());
  return runs;
}

}  // namespace slabmark::logvol
