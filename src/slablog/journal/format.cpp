#include "slablog/journal/format.hpp"

#include <filesystem>

namespace slabmark::slablog {

namespace {

/// FNV-1a of 64 bits, eight bytes at a time: it finds what a writer left half-written.
class Checksum {
 public:
  Checksum& add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x100000001b3;
    state_ ^= state_ >> 32;  // else the high bits of a value stay among the high bits
    return *this;
  }
  Checksum& add(std::span<const std::byte> bytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      word |= std::to_integer<std::uint64_t>(bytes[i]) << i % 8 * 8;
      if (i % 8 != 7) continue;
      add(word);
      word = 0;
    }
    return add(word);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t JournalHeader::right_checksum() const {
  return Checksum().add(magic).add(epoch).add(mark).add(end).value();
}

std::uint64_t JournalRecord::right_checksum(std::uint64_t epoch,
                                            std::span<const std::byte> content) const {
  return Checksum().add(epoch).add(offset).add(bytes).add(rank).add(number).add(content).value();
}

std::string journal_path(const std::string& path) {
  // What is not there yet stays relative otherwise.
  const auto whole = std::filesystem::absolute(path);
  return std::filesystem::weakly_canonical(whole).string() + ".slablog-journal";
}

}  // namespace slabmark::slablog
