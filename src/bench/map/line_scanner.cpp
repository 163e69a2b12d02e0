#include "bench/map/line_scanner.hpp"

#include <algorithm>
#include <cstring>

namespace slabmark {

namespace {
constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t head_bytes = 4096;
}  // namespace

LineScanner::LineScanner(const std::string& path)
    : file_(path, std::ios::binary), block_(block_bytes) {}

bool LineScanner::refill() {
  block_offset_ += filled_;
  file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
  filled_ = static_cast<std::size_t>(file_.gcount());
  position_ = 0;
  return filled_ > 0;
}

bool LineScanner::next(Line& line) {
  if (position_ == filled_ && !refill()) return false;
  line = Line{.offset = block_offset_ + position_, .bytes = 0, .head = {}, .is_ended = false};
  ++line_number_;
  do {
    const char* begin = block_.data() + position_;
    const void* newline = std::memchr(begin, '\n', filled_ - position_);
    line.is_ended = newline != nullptr;
    const std::size_t length =
        line.is_ended ? static_cast<const char*>(newline) - begin : filled_ - position_;
    line.head.append(begin, std::min(length, head_bytes - line.head.size()));
    line.bytes += length;
    position_ += length + (line.is_ended ? 1 : 0);
  } while (!line.is_ended && refill());
  return true;
}

}  // namespace slabmark
