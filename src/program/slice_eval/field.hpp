#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pattern/blocked_field.hpp"
#include "slice/device.hpp"

namespace slabmark::slice_eval {

/// This rank's blocks of all fields, halos included, with values that tell where and when they are:
/// any rank can check any element.
class Fields {
 public:
  /// With `huge_pages` the kernel is asked for 2 MiB pages: of a plane normal to x each point lies
  /// in a page of its own, and finding small pages costs more than reading the points. With a
  /// `device` its memory holds the same values.
  Fields(const BlockedField& grid, std::uint64_t count, std::uint64_t rank, bool huge_pages,
         std::shared_ptr<slice::Device> device = nullptr);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  const double* block(std::uint64_t field) const { return memory_ + field * block_points_; }
  double* block(std::uint64_t field) { return memory_ + field * block_points_; }
  std::uint64_t block_points() const { return block_points_; }

  /// Where a field is for the library: on the device, if there is one.
  const double* block_to_slice(std::uint64_t field) const;
  const std::shared_ptr<slice::Device>& device() const { return device_; }

  /// Adds 1 to every point: one iteration of a simulation.
  void compute();
  std::uint64_t iteration() const { return iteration_; }

  /// What a field holds at a point in an iteration.
  static double value(std::uint64_t field, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                      std::uint64_t iteration);

 private:
  void to_device();

  std::uint64_t count_;
  std::uint64_t block_points_ = 0;
  std::uint64_t bytes_ = 0;
  double* memory_ = nullptr;
  std::uint64_t iteration_ = 0;
  std::shared_ptr<slice::Device> device_;
  std::byte* on_device_ = nullptr;
};

}  // namespace slabmark::slice_eval
