#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/format/coding.hpp"

namespace slabmark {

/// True if a place or a length is one that an array can have: two such and a product of lengths
/// that are checked stay numbers.
constexpr bool is_near(std::int64_t number) {
  constexpr std::int64_t furthest = std::int64_t{1} << 61;
  return -furthest <= number && number <= furthest;
}

/// Reads the numbers of a part of a pattern file (docs/reference/pattern-file.md). All throw
/// InputError where the bytes end, or say what cannot be.
class ByteReader {
 public:
  /// `place` is what messages call the bytes: "the events of rank 3 of 'run.pattern'". It outlives
  /// the reader, as the bytes do.
  ByteReader(std::span<const std::uint8_t> bytes, const std::string& place)
      : bytes_(bytes), place_(&place) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }

  std::uint64_t varint() {
    if (at_ < bytes_.size() && bytes_[at_] < 128) return bytes_[at_++];
    return long_varint();
  }
  std::int64_t signed_varint() { return unzigzag(varint()); }
  /// One that is at most `most`; `what` is for the message.
  std::uint64_t varint_up_to(std::uint64_t most, const char* what);
  /// The next n bytes as a reader of their own.
  ByteReader part(std::uint64_t n);

  /// Calls visit(i, value) for the n numbers of a column.
  template <class Visit>
  void column(std::uint64_t n, const Visit& visit) {
    const auto form = static_cast<capture::Column>(varint_up_to(2, "form of a column"));
    std::uint64_t run = form == capture::Column::constant ? n : 1;
    std::int64_t value = 0;
    for (std::uint64_t i = 0; i < n; i += run) {
      if (form == capture::Column::runs) run = varint_up_to(n - i, "run of a column");
      if (run == 0) refuse("a run of a column is empty");
      value = signed_varint();
      for (std::uint64_t k = 0; k < run; ++k) visit(i + k, value);
    }
  }

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  std::uint64_t long_varint();

  std::span<const std::uint8_t> bytes_;
  const std::string* place_;
  std::size_t at_ = 0;
};

}  // namespace slabmark
