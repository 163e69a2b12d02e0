#include "programs/slice_eval/field.hpp"

#include <utility>

#include "accel/slices/device.hpp"
#include "core/geometry/run.hpp"

namespace slabmark::slice_eval {

double Fields::value(std::uint64_t field, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                     std::uint64_t iteration) {
  return static_cast<double>(field) * 1e12 + static_cast<double>(z) * 1e8 +
         static_cast<double>(y) * 1e4 + static_cast<double>(x) + static_cast<double>(iteration);
}

Fields::Fields(const BlockedField& grid, std::uint64_t count, std::uint64_t rank, bool huge_pages,
               std::shared_ptr<slice::Device> device)
    : device_(std::move(device)) {
  const auto shape = block_with_halo(grid, rank);
  block_bytes_ = shape[0] * shape[1] * shape[2] * sizeof(double);
  bytes_ = count * block_bytes_;
  memory_ = slice::make_pages(bytes_, huge_pages);

  std::array<std::uint64_t, 3> first{};
  auto rest = rank;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] =
        equal_range(grid.points[axis], rest % grid.processes[axis], grid.processes[axis]).offset;
    rest /= grid.processes[axis];
  }
  constexpr double in_halo = -1.0;  // never to be seen in a file
  double* at = points();
  const auto inside = [&](std::uint64_t i, std::size_t axis) {
    return i >= grid.halo && i + grid.halo < shape[axis];
  };
  for (std::uint64_t field = 0; field < count; ++field) {
    for (std::uint64_t z = 0; z < shape[2]; ++z) {
      for (std::uint64_t y = 0; y < shape[1]; ++y) {
        const bool row_inside = inside(z, 2) && inside(y, 1);
        for (std::uint64_t x = 0; x < shape[0]; ++x) {
          *at++ = row_inside && inside(x, 0)
                      ? value(field, first[0] + x - grid.halo, first[1] + y - grid.halo,
                              first[2] + z - grid.halo, 0)
                      : in_halo;
        }
      }
    }
  }
  if (device_) on_device_ = device_->allocate(bytes_);
  to_device();
}

Fields::~Fields() {
  if (on_device_ != nullptr) device_->release(on_device_);
}

void Fields::to_device() {
  if (device_) device_->copy_in(memory_.get(), bytes_, on_device_);
}

std::byte* Fields::block(std::uint64_t field) const {
  return (device_ ? on_device_ : memory_.get()) + field * block_bytes_;
}

void Fields::compute(std::uint64_t passes, std::uint64_t iteration) {
  for (std::uint64_t pass = 1; pass <= passes; ++pass) {
    const auto step = pass == passes ? static_cast<double>(iteration - iteration_) : 0.0;
    for (std::uint64_t i = 0; i < bytes_ / sizeof(double); ++i) points()[i] += step;
  }
  if (passes == 0) return;
  iteration_ = iteration;
  to_device();
}

}  // namespace slabmark::slice_eval
