#include "accel/slices/file_frame.hpp"

#include <cstring>

namespace slabmark::slice {

FileFrame::FileFrame(const Description& description, std::uint64_t written, bool keeps)
    : image_(make_image(description)) {
  if (!keeps) {
    image_.bytes.clear();
    return;
  }
  std::uint64_t at = 0;
  std::uint64_t buffer = 0;
  const auto add = [&](std::uint64_t end) {
    if (end > at) pieces_.push_back({at, buffer, end - at});
  };
  for (const auto data : image_.data) {
    add(data);
    if (at == 0) {
      front_ = data;
      buffer = front_ + written;
    } else if (data > at) {
      buffer += data - at;
    }
    at = data + description.bytes();
  }
  add(image_.bytes.size());
}

std::uint64_t FileFrame::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece.length;
  return bytes;
}

void FileFrame::store(double time, std::byte* buffer) {
  std::memcpy(&image_.bytes[image_.time], &time, sizeof time);
  for (const auto& piece : pieces_) {
    std::memcpy(buffer + piece.buffer, &image_.bytes[piece.file], piece.length);
  }
}

}  // namespace slabmark::slice
