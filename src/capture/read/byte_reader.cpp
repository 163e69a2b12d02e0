#include "capture/read/byte_reader.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

void ByteReader::refuse(const std::string& reason) const {
  throw InputError(fmt::format("{} are damaged at byte {}: {}.", *place_, at_, reason));
}

std::uint64_t ByteReader::long_varint() {
  const std::size_t begin = at_;
  if (const auto value = read_varint(bytes_, at_)) return *value;
  const bool is_whole = at_ - begin == varint_bytes(~std::uint64_t{0});
  refuse(is_whole ? "a number has more than 64 bits" : "they end within a number");
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
