#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "accel/slices/device.hpp"
#include "accel/slices/output.hpp"
#include "accel/slices/plan.hpp"

namespace slabmark::slice {

/// Brings the points of a plan out of the fields: to where this rank writes from, and to where it
/// sends from. Out of a device come those points only, gathered there.
class Gatherer {
 public:
  /// `device` is null for fields in the host's memory. The plan outlives it.
  Gatherer(std::shared_ptr<Device> device, const Plan& plan, std::vector<Field> fields,
           ElementType type);

  /// See Output. False if there is no such field.
  bool set_block(const std::string& field, const void* data);

  /// Begins; `written` is the buffer of what this rank writes. The fields stay as they are, and
  /// both buffers untouched, until finish() returns.
  void begin(std::byte* written, Tally& tally);
  void finish();

  /// What is sent.
  const std::byte* outgoing() const { return outgoing_.get(); }

 private:
  std::shared_ptr<Device> device_;
  const Plan& plan_;
  std::vector<Field> fields_;
  ElementType type_;
  Buffer outgoing_;
  std::uint64_t mark_ = 0;
  std::uint64_t bytes_touched_ = 0;  ///< of the fields, by an output
};

}  // namespace slabmark::slice
