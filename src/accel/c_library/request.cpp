#include "accel/c_library/request.hpp"

#include <cstring>

#include "accel/c_library/element_type.hpp"

namespace slabmark::rearrange {

namespace {

std::uint64_t buffer_bytes(const Decomposition& decomposition) {
  return decomposition.count() * size_of(decomposition.type());
}

}  // namespace

void Request::prepare_copy(Copies& copies) {
  if (!copy) copy = copies.memory(buffer_bytes(*decomposition));
}

void Request::copy_to(Copies& copies) {
  prepare_copy(copies);
  const std::uint64_t bytes = buffer_bytes(*decomposition);
  if (data != copy.get() && bytes > 0) std::memcpy(copy.get(), data, bytes);
  data = copy.get();
}

int Rounds::round_of(const Request& request) {
  const std::pair array(request.variable, request.frame);
  if (request.place.elements > 0 && !arrays_.insert(array).second) {
    ++round_;
    arrays_ = {array};
  }
  return round_;
}

}  // namespace slabmark::rearrange
