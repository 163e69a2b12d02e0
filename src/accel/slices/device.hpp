#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "accel/slices/gather.hpp"
#include "core/geometry/dataset.hpp"

namespace slabmark::slice {

/// A device, such as a GPU, whose memory holds the fields. It does what it is asked in that order,
/// but gathers maybe after the call has returned: only wait() is sure. Failures throw IoError.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::byte* allocate(std::uint64_t bytes) = 0;  ///< memory of the device
  virtual void release(std::byte* memory) noexcept = 0;
  /// Memory of the host that the device reaches without a detour.
  virtual std::byte* allocate_pinned(std::uint64_t bytes) = 0;
  virtual void release_pinned(std::byte* memory) noexcept = 0;

  /// gather() of what is in the device's memory into the host's, which allocate_pinned() gave.
  virtual void gather(const void* source, ElementType from, const Points& points, std::byte* target,
                      ElementType to, std::uint64_t pitch) = 0;
  /// Copies from the host to the device.
  virtual void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) = 0;

  /// A number for all that was asked so far, to wait for.
  virtual std::uint64_t mark() = 0;
  /// Returns when all that was asked before mark() gave this number is done.
  virtual void wait(std::uint64_t mark) = 0;
};

/// The GPU that is current in the calling thread (cudaSetDevice), where the fields must be. Throws
/// InputError where this build has no CUDA or the node no GPU. What the caller has begun on CUDA's
/// default stream is waited for; of its other streams it must know that the fields are complete.
std::shared_ptr<Device> cuda_device();
/// The node's GPU of this number, counted round: ranks that take turns give theirs on the node.
/// The current one stays so.
std::shared_ptr<Device> cuda_device(std::uint64_t number);

/// Memory of the host, zeroed; pinned if it is for a device.
using Buffer = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;
Buffer make_buffer(std::uint64_t bytes, const std::shared_ptr<Device>& device);

/// Memory of the host for blocks of fields, zeroed. With `huge` the kernel is asked for pages of
/// 2 MiB: of a plane normal to x each point lies in a page of its own, and finding small pages
/// costs more than reading the points.
Buffer make_pages(std::uint64_t bytes, bool huge);

}  // namespace slabmark::slice
