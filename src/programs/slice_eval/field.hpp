#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "accel/slices/device.hpp"
#include "core/geometry/blocked_field.hpp"

namespace slabmark::slice_eval {

/// This rank's blocks of all fields, halos included, with values that tell where and when they are:
/// any rank can check any element.
class Fields {
 public:
  /// `huge_pages`: see slice::make_pages(). With a `device` its memory holds the same values.
  Fields(const BlockedField& grid, std::uint64_t count, std::uint64_t rank, bool huge_pages,
         std::shared_ptr<slice::Device> device = nullptr);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  /// Where a field's block is: on the device, if there is one.
  std::byte* block(std::uint64_t field) const;
  const std::shared_ptr<slice::Device>& device() const { return device_; }

  /// `passes` over all points, as a simulation computes; afterwards they hold what they do in
  /// `iteration`. No pass leaves them as they are.
  void compute(std::uint64_t passes, std::uint64_t iteration);

  /// The value of a field at a point in an iteration.
  static double value(std::uint64_t field, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                      std::uint64_t iteration);

 private:
  void to_device();

  double* points() const { return reinterpret_cast<double*>(memory_.get()); }

  std::uint64_t block_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  slice::Buffer memory_;
  std::uint64_t iteration_ = 0;
  std::shared_ptr<slice::Device> device_;
  std::byte* on_device_ = nullptr;
};

}  // namespace slabmark::slice_eval
