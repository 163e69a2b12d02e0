#include "slice/device.hpp"

#include <cstring>

namespace slabmark::slice {

Buffer make_buffer(std::uint64_t bytes, const std::shared_ptr<Device>& device) {
  if (!device || bytes == 0) {
    return {new std::byte[bytes](), [](const std::byte* memory) { delete[] memory; }};
  }
  auto* memory = device->allocate_pinned(bytes);
  std::memset(memory, 0, bytes);
  return {memory, [device](std::byte* pinned) { device->release_pinned(pinned); }};
}

}  // namespace slabmark::slice
