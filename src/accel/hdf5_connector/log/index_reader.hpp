#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/varint.hpp"

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
    if (const auto value = read_varint(bytes_, at_)) return *value;
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
