#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace slabmark {

/// One bit for each element of a range, all 0 at first.
class Bitmap {
 public:
  explicit Bitmap(std::uint64_t bits) : words_(bits / word_bits + 2) {}

  /// False if the bit was 1 before.
  bool set(std::uint64_t bit) {
    return set_in_word(bit / word_bits, std::uint64_t{1} << (bit % word_bits));
  }

  /// Sets the bits [begin, end), as long as all were 0 before; else it stops, some may be set then,
  /// and the result is false.
  bool set(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const auto part = word_part(begin, end);
      if (!set_in_word(begin / word_bits, part.ones)) return false;
      begin += part.length;
    }
    return true;
  }

  /// Sets `count` bits (1 to 64) from `begin` on, or none and returns false if any was 1 before.
  bool set_few(std::uint64_t begin, std::uint64_t count) {
    const std::uint64_t shift = begin % word_bits;
    const std::uint64_t ones = ~std::uint64_t{0} >> (word_bits - count);
    auto* words = words_.data() + begin / word_bits;
    const std::uint64_t low = ones << shift;
    const std::uint64_t high = ones >> 1 >> (word_bits - 1 - shift);  // what goes into the next
    if (((words[0] & low) | (words[1] & high)) != 0) return false;
    words[0] |= low;
    words[1] |= high;
    return true;
  }

  /// Sets the bits [begin, end), and calls `visit(from, to)` for each stretch of them that was 0.
  template <class Visit>
  void set_rest(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
    for (auto from = find(false, begin, end); from < end;) {
      const auto to = find(true, from, end);
      visit(from, to);
      from = find(false, to, end);
    }
    while (begin < end) {
      const auto part = word_part(begin, end);
      words_[begin / word_bits] |= part.ones;
      begin += part.length;
    }
  }

  /// Position of the first bit of [from, end) that equals `value`, or `end`.
  std::uint64_t find(bool value, std::uint64_t from, std::uint64_t end) const {
    if (from >= end) return end;
    const std::uint64_t flip = value ? 0 : ~std::uint64_t{0};
    std::uint64_t index = from / word_bits;
    std::uint64_t word = (words_[index] ^ flip) & (~std::uint64_t{0} << (from % word_bits));
    while (word == 0) {
      if (++index * word_bits >= end) return end;
      word = words_[index] ^ flip;
    }
    return std::min(end, index * word_bits + static_cast<std::uint64_t>(std::countr_zero(word)));
  }

  std::uint64_t size() const { return words_.size() * word_bits; }

 private:
  static constexpr std::uint64_t word_bits = 64;

  struct WordPart {
    std::uint64_t length;
    std::uint64_t ones;
  };

  /// The part of [begin, end) that is in the word of `begin`.
  static WordPart word_part(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t shift = begin % word_bits;
    const std::uint64_t length = std::min(end - begin, word_bits - shift);
    return {length, (~std::uint64_t{0} >> (word_bits - length)) << shift};
  }

  bool set_in_word(std::uint64_t index, std::uint64_t ones) {
    if ((words_[index] & ones) != 0) return false;
    words_[index] |= ones;
    return true;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace slabmark
