#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::slablog {

/// Reads the numbers of an index, and never beyond its end. Throws IoError, naming `place`, which
/// must live as long, where the bytes are no index.
class IndexReader {
 public:
  IndexReader(std::span<const std::byte> bytes, const std::string& place)
      : bytes_(bytes), place_(place) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::uint64_t at() const { return at_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    broken();
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) broken();
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }

  [[noreturn]] void broken() const {
    throw IoError(fmt::format(
        "The index {} is damaged near its byte {}; restore the file from a copy.", place_, at_));
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& place_;
  std::size_t at_ = 0;
};

}  // namespace slabmark::slablog
