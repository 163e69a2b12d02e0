#include "accel/c_library/raw_format.hpp"

#include <vector>

#include "accel/c_library/element_type.hpp"

namespace slabmark::rearrange {

namespace {

struct RawVariable {
  slabmark_array first;  ///< its first record, if it has records
  std::int64_t record_bytes;
};
using RawVariables = std::vector<RawVariable>;

int inq_array(void* context, int variable, int64_t frame, int, slabmark_array* array) {
  const auto& variables = *static_cast<RawVariables*>(context);
  if (variable < 0 || static_cast<std::size_t>(variable) >= variables.size()) {
    return slabmark_fail(SLABMARK_EVARIABLE, "Variable %d was not defined.", variable);
  }
  const RawVariable& its = variables[static_cast<std::size_t>(variable)];
  *array = its.first;
  array->offset += frame * its.record_bytes;
  return SLABMARK_OK;
}

int close(void* context) {
  delete static_cast<RawVariables*>(context);
  return SLABMARK_OK;
}

}  // namespace

slabmark_format raw_format() {
  slabmark_format format{};
  format.fresh_from = -1;
  format.inq_array = inq_array;
  format.close = close;
  return format;
}

void* new_raw_context() { return new RawVariables; }

int define_raw(void* context, const slabmark_array& array, int64_t record_bytes, int* variable) {
  const auto bytes = static_cast<std::int64_t>(size_of(array.type));
  if (bytes == 0 || array.elements < 0 || array.offset < 0 || record_bytes < 0) {
    return slabmark_fail(
        SLABMARK_EARGUMENT,
        "A raw variable has a type of the library, and no negative size or place.");
  }
  if (record_bytes > 0 && array.elements > record_bytes / bytes) {
    return slabmark_fail(SLABMARK_EARGUMENT, "Records of %lld bytes do not hold %lld elements.",
                         static_cast<long long>(record_bytes),
                         static_cast<long long>(array.elements));
  }
  auto& variables = *static_cast<RawVariables*>(context);
  *variable = static_cast<int>(variables.size());
  variables.push_back({array, record_bytes});
  return SLABMARK_OK;
}

}  // namespace slabmark::rearrange
