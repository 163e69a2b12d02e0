#include "accel/pnetcdf_dropin/environment.hpp"

#include <cstdlib>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark::dropin {

std::uint64_t number_in(const std::string& text, std::uint64_t default_value) {
  try {
    return parse_size(text, "a number");
  } catch (const InputError&) {
    return default_value;
  }
}

std::uint64_t number_of_variable(const char* name, std::uint64_t default_value) {
  const char* const value = std::getenv(name);
  return value ? number_in(value, default_value) : default_value;
}

bool is_off(std::string_view word) { return word == "off" || word == "0" || word == "disable"; }

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value && !is_off(value);
}

}  // namespace slabmark::dropin
