#include "capture/read/byte_reader.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

void ByteReader::refuse(const std::string& reason) const {
  throw InputError(fmt::format("{} are damaged at byte {}: {}.", *place_, at_, reason));
}

std::uint64_t ByteReader::long_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) refuse("they end within a number");
    const std::uint64_t byte = bytes_[at_++];
    if (shift == 63 && byte > 1) refuse("a number has more than 64 bits");
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  refuse("a number has more than 64 bits");
}

std::uint64_t ByteReader::varint_up_to(std::uint64_t most, const char* what) {
  const std::uint64_t value = varint();
  if (value > most) refuse(fmt::format("{} is {}, more than {}", what, value, most));
  return value;
}

ByteReader ByteReader::part(std::uint64_t n) {
  if (n > bytes_.size() - at_)
    refuse(fmt::format("{} bytes are said to follow, more than there are", n));
  const ByteReader reader(bytes_.subspan(at_, n), *place_);
  at_ += n;
  return reader;
}

}  // namespace slabmark
