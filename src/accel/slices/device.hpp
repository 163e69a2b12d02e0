/// @file
/// Fields in the memory of a GPU, and memory that is fast to gather from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "accel/slices/gather.hpp"
#include "core/geometry/dataset.hpp"

namespace slabmark::slice {

/// A device, such as a GPU, whose memory holds the fields. It works in the order of the calls, but
/// gather() may return before the points are there: wait() for them. Failures throw IoError.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::byte* allocate(std::uint64_t bytes) = 0;  ///< memory of the device
  virtual void release(std::byte* memory) noexcept = 0;  ///< frees memory of the device
  /// Memory of the host that the device reaches without a detour.
  virtual std::byte* allocate_pinned(std::uint64_t bytes) = 0;
  virtual void release_pinned(std::byte* memory) noexcept = 0;  ///< frees that memory

  /// Gathers points of the device's memory into memory that allocate_pinned() returned.
  virtual void gather(const void* source, ElementType from, const Points& points, std::byte* target,
                      ElementType to, std::uint64_t pitch) = 0;
  /// Copies from the host to the device.
  virtual void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) = 0;

  /// Marks the work so far, and returns a number for wait().
  virtual std::uint64_t mark() = 0;
  /// Returns when the work before this mark() is done.
  virtual void wait(std::uint64_t mark) = 0;
};

/// The GPU that is current in the calling thread (cudaSetDevice), whose memory must hold the
/// fields. Throws InputError if this build lacks CUDA or the node a GPU. The device waits for the
/// work on CUDA's default stream; the caller synchronizes its other streams.
std::shared_ptr<Device> cuda_device();
/// The node's GPU of this number, modulo the number of GPUs: ranks pass their number on the node.
/// The current GPU of the thread does not change.
std::shared_ptr<Device> cuda_device(std::uint64_t number);

/// Memory of the host that frees itself.
using Buffer = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;
/// Zeroed memory of the host; pinned if it is for a device.
Buffer make_buffer(std::uint64_t bytes, const std::shared_ptr<Device>& device);

/// Zeroed memory of the host for blocks of fields. `huge` asks the kernel for pages of 2 MiB. Each
/// point of a plane normal to x lies in a page of its own, and finding a small page costs more than
/// reading the point.
Buffer make_pages(std::uint64_t bytes, bool huge);

}  // namespace slabmark::slice
