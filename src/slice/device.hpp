#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pattern/dataset.hpp"
#include "slice/gather.hpp"

namespace slabmark::slice {

/// A device, such as a GPU, whose memory holds the fields. It does what it is asked in that order,
/// but gathers and copies maybe after the call has returned: only wait() is sure. Failures throw
/// IoError.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::byte* allocate(std::uint64_t bytes) = 0;  ///< memory of the device
  virtual void release(std::byte* memory) noexcept = 0;
  /// Memory of the host that the device reaches without a detour.
  virtual std::byte* allocate_pinned(std::uint64_t bytes) = 0;
  virtual void release_pinned(std::byte* memory) noexcept = 0;

  /// gather() on the device: source and target are its memory, and the rows of the target are
  /// dense.
  virtual void gather(const void* source, ElementType from, const Points& points, std::byte* target,
                      ElementType to) = 0;
  /// Copies dense rows of the device to rows of the host that begin `pitch` bytes apart.
  virtual void copy_out(const std::byte* from, std::uint64_t row_bytes, std::uint64_t rows,
                        std::byte* to, std::uint64_t pitch) = 0;
  /// Copies from the host to the device.
  virtual void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) = 0;

  /// A number for all that was asked so far, to wait for.
  virtual std::uint64_t mark() = 0;
  /// Returns when all that was asked before mark() gave this number is done.
  virtual void wait(std::uint64_t mark) = 0;
};

/// The GPU that this rank uses: the ranks of a node take those there in turns. Throws InputError
/// where this build has no CUDA or the node no GPU. What the caller has begun on CUDA's default
/// stream is waited for; of its other streams it must know that the fields are complete.
std::shared_ptr<Device> cuda_device();

/// Memory of the host, zeroed; pinned if it is for a device.
using Buffer = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;
Buffer make_buffer(std::uint64_t bytes, const std::shared_ptr<Device>& device);

/// Memory of the host for blocks of fields, zeroed. With `huge` the kernel is asked for pages of
/// 2 MiB: of a plane normal to x each point lies in a page of its own, and finding small pages
/// costs more than reading the points.
Buffer make_pages(std::uint64_t bytes, bool huge);

}  // namespace slabmark::slice
