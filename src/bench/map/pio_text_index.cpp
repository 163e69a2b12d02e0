#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "bench/map/line_scanner.hpp"
#include "bench/map/pio_text.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The beginning of a line as messages quote it: what is no printable text is shown as '?'.
std::string quote(std::string_view head) {
  std::string text(head.substr(0, 40));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return fmt::format("\"{}{}\"", text, head.size() > 40 ? "..." : "");
}

/// Reads the file line by line and fills a PioText.
class Indexer {
 public:
  explicit Indexer(const std::string& path) : scanner_(path) { text_.path = path; }

  PioText run() {
    read_version();
    read_dims();
    while (found_ < text_.rows.size()) read_rank();
    return std::move(text_);
  }

 private:
  bool next() {
    if (has_pending_) {
      has_pending_ = false;
      return true;
    }
    return scanner_.next(line_);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("\"{}\" is no sound PIO decomposition: {}.", text_.path, what));
  }

  std::uint64_t number(const std::string& word, std::string_view what) const {
    try {
      return parse_count(word, what);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("\"{}\", line {}: {}", text_.path, scanner_.line_number(), error.what()));
    }
  }

  void read_version() {
    if (!next()) fail("it is empty");
    text_.version_line = line_.head;
    const std::vector<std::string> words = words_of(line_.head);
    if (words.size() != 6 || words[0] != "version" || words[2] != "npes" || words[4] != "ndims") {
      fail(fmt::format("its first line is {} instead of \"version 2001 npes <ranks> ndims <dims>\"",
                       quote(line_.head)));
    }
    if (words[1] != "2001") {
      fail(fmt::format("it is of version {}, and only version 2001 is known", quote(words[1])));
    }
    const std::uint64_t ranks = number(words[3], "npes");
    // A rank takes two lines, so a larger number is damage and must not be believed as a size.
    if (ranks == 0 || ranks > std::filesystem::file_size(text_.path)) {
      fail(fmt::format("it claims to hold {} ranks", ranks));
    }
    text_.rows.resize(ranks);
    is_found_.resize(ranks, false);
    dimensions_ = number(words[5], "ndims");
  }

  void read_dims() {
    if (!next() || !line_.is_ended) fail("it ends within its header");
    text_.dims_line = line_.head;
    const std::vector<std::string> words = words_of(line_.head);
    if (words.size() != dimensions_ || words.empty()) {
      fail(fmt::format("it announces {} dimensions and lists {}", dimensions_, words.size()));
    }
    for (const std::string& word : words) {
      text_.dims.push_back(number(word, "dimension"));
      if (text_.dims.back() == 0) fail("a dimension is 0");
    }
    std::reverse(text_.dims.begin(), text_.dims.end());
    element_count(text_.dims);
  }

  void read_rank() {
    if (!next() || line_.is_blank() || line_.head.starts_with("Obtained")) fail_missing_rank();
    const std::vector<std::string> words = words_of(line_.head);
    if (words.size() != 2) {
      fail(fmt::format("line {}, {}, should be the number of a rank and of its entries",
                       scanner_.line_number(), quote(line_.head)));
    }
    const std::uint64_t rank = number(words[0], "rank");
    const std::uint64_t entries = number(words[1], "number of entries");
    if (rank >= text_.rows.size()) {
      fail(fmt::format("it lists rank {} and announces {} ranks", rank, text_.rows.size()));
    }
    if (is_found_[rank]) fail(fmt::format("rank {} is there twice", rank));
    read_entries(rank, entries);
    is_found_[rank] = true;
    ++found_;
  }

  void read_entries(std::uint64_t rank, std::uint64_t entries) {
    text_.rows[rank].entries = entries;
    const bool has_line = next();
    if (entries == 0) {
      // PIO writes an empty line here; tolerate writers that leave it out.
      has_pending_ = has_line && !line_.is_blank();
      return;
    }
    if (!has_line || !line_.is_ended) {
      fail(fmt::format("it ends within the entries of rank {}, so it is truncated", rank));
    }
    text_.rows[rank].offset = line_.offset;
    text_.rows[rank].bytes = line_.bytes;
  }

  [[noreturn]] void fail_missing_rank() const {
    const auto missing = std::find(is_found_.begin(), is_found_.end(), false) - is_found_.begin();
    fail(fmt::format("rank {} of {} is missing", missing, text_.rows.size()));
  }

  PioText text_;
  LineScanner scanner_;
  Line line_;
  bool has_pending_ = false;
  std::uint64_t dimensions_ = 0;
  std::uint64_t found_ = 0;
  std::vector<bool> is_found_;
};

}  // namespace

PioText index_pio_text(const std::string& path) { return Indexer(path).run(); }

}  // namespace slabmark
