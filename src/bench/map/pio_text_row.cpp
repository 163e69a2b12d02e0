#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "bench/map/pio_text.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

std::string read_line(const PioText& text, const PioRow& row) {
  errno = 0;
  std::string line(row.bytes, '\0');
  std::ifstream file(text.path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(row.offset));
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (!file) {
    throw InputError(
        fmt::format("Reading {} bytes at {} of \"{}\" failed: {}.", row.bytes, row.offset,
                    text.path, errno != 0 ? std::strerror(errno) : "the file has become shorter"));
  }
  return line;
}

/// Parses blank-separated whole numbers. A stream or from_chars with its own error handling takes
/// three times as long, and lists of 10^7 entries are common.
class EntryParser {
 public:
  EntryParser(const PioText& text, std::uint64_t rank)
      : text_(text), rank_(rank), elements_(element_count(text.dims)) {}

  PioEntries parse(const std::string& line) {
    PioEntries result;
    const char* at = line.data();
    const char* const end = at + line.size();
    std::uint64_t entries = 0;
    while (true) {
      while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
      if (at == end) break;
      const std::uint64_t entry = number(at, end);
      ++entries;
      if (entry == 0) continue;
      ++result.elements;
      append(result.runs, {entry - 1, 1});
    }
    if (entries != text_.rows[rank_].entries) {
      fail(
          fmt::format("has {} entries where {} are announced", entries, text_.rows[rank_].entries));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(
        fmt::format("Rank {} of the PIO decomposition \"{}\" {}.", rank_, text_.path, what));
  }

  std::uint64_t number(const char*& at, const char* end) const {
    const char* const begin = at;
    std::uint64_t value = 0;
    while (at != end && static_cast<unsigned>(*at - '0') < 10) {
      value = value * 10 + static_cast<unsigned>(*at - '0');
      ++at;
      if (value > elements_) fail_beyond(begin, end);
    }
    if (at == begin || (at != end && *at != ' ' && *at != '\t' && *at != '\r')) {
      fail_no_number(begin, end);
    }
    return value;
  }

  static std::string word_at(const char* begin, const char* end) {
    const char* last = begin;
    while (last != end && *last > ' ' && last - begin < 24) ++last;
    return {begin, last};
  }
  [[noreturn]] void fail_beyond(const char* begin, const char* end) const {
    fail(fmt::format("lists the offset {}, beyond the {} elements of its array ({})",
                     word_at(begin, end), elements_, to_string(text_.dims)));
  }
  [[noreturn]] void fail_no_number(const char* begin, const char* end) const {
    fail(fmt::format("lists \"{}\", where offsets are whole numbers from 1 to {}, or 0 for a hole",
                     word_at(begin, end), elements_));
  }

  const PioText& text_;
  const std::uint64_t rank_;
  const std::uint64_t elements_;
};

}  // namespace

PioEntries read_pio_row(const PioText& text, std::uint64_t rank) {
  const PioRow& row = text.rows.at(rank);
  if (row.entries == 0) return {};
  return EntryParser(text, rank).parse(read_line(text, row));
}

}  // namespace slabmark
