#include "accel/slices/device.hpp"

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace slabmark::slice {

Buffer make_buffer(std::uint64_t bytes, const std::shared_ptr<Device>& device) {
  if (!device || bytes == 0) {
    return {new std::byte[bytes](), [](const std::byte* memory) { delete[] memory; }};
  }
  auto* memory = device->allocate_pinned(bytes);
  std::memset(memory, 0, bytes);
  return {memory, [device](std::byte* pinned) { device->release_pinned(pinned); }};
}

Buffer make_pages(std::uint64_t bytes, bool huge) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // Advice only: a kernel without huge pages goes on with small ones.
  madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return {static_cast<std::byte*>(memory), [bytes](std::byte* all) { munmap(all, bytes); }};
}

}  // namespace slabmark::slice
