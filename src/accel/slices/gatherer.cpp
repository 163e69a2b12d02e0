#include "accel/slices/gatherer.hpp"

#include <algorithm>

#include "accel/slices/gather.hpp"
#include "accel/slices/lines.hpp"

namespace slabmark::slice {

Gatherer::Gatherer(std::shared_ptr<Device> device, const Plan& plan, std::vector<Field> fields,
                   ElementType type)
    : device_(std::move(device)),
      plan_(plan),
      fields_(std::move(fields)),
      type_(type),
      outgoing_(make_buffer(plan.send_bytes, device_)) {
  for (const auto& one : plan.gatherings) {
    const auto& field = fields_[one.field];
    bytes_touched_ += bytes_touched(field.data, one.points, field.type);
  }
}

bool Gatherer::set_block(const std::string& name, const void* data) {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found == fields_.end()) return false;
  found->data = data;
  return true;
}

void Gatherer::begin(std::byte* written, Tally& tally) {
  tally.bytes_touched += bytes_touched_;
  for (const auto& one : plan_.gatherings) {
    const auto& field = fields_[one.field];
    auto* target = (one.to_own_part ? written : outgoing_.get()) + one.offset;
    if (device_) {
      device_->gather(field.data, field.type, one.points, target, type_, one.pitch);
      tally.bytes_from_device += one.points.rows * one.points.columns * size_of(type_);
    } else {
      gather(field.data, field.type, one.points, target, type_, one.pitch);
    }
  }
  if (device_) mark_ = device_->mark();
}

void Gatherer::finish() {
  if (device_) device_->wait(mark_);
}

}  // namespace slabmark::slice
