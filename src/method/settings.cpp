#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "method/method.hpp"

namespace slabmark {

namespace {

const std::string* find(const Settings& settings, const std::string& name) {
  const auto found = settings.options.find(name);
  return found == settings.options.end() ? nullptr : &found->second;
}

bool is_one_of(std::string_view text, const std::array<std::string_view, 4>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::string ending_of(FileFormat format) {
  switch (format) {
    case FileFormat::netcdf:
      return ".nc";
    case FileFormat::hdf5:
    case FileFormat::hdf5_subfiles:
      return ".h5";
    case FileFormat::vtkhdf:
      return ".vtkhdf";
    case FileFormat::blob:
      return ".blob";
    case FileFormat::raw:
    case FileFormat::none:
      break;
  }
  return ".raw";
}

bool Settings::flag(const std::string& name, bool otherwise) const {
  const auto* value = find(*this, name);
  if (value == nullptr) return otherwise;
  if (is_one_of(*value, {"on", "true", "yes", "1"})) return true;
  if (is_one_of(*value, {"off", "false", "no", "0"})) return false;
  throw InputError(fmt::format("Option {} is '{}'; it takes on or off.", name, *value));
}

std::string Settings::text(const std::string& name, const std::string& otherwise) const {
  const auto* value = find(*this, name);
  return value == nullptr ? otherwise : *value;
}

std::uint64_t Settings::count(const std::string& name, std::uint64_t otherwise) const {
  const auto* value = find(*this, name);
  return value == nullptr ? otherwise : parse_size(*value, "option " + name);
}

double Settings::real(const std::string& name, double otherwise) const {
  const auto* value = find(*this, name);
  return value == nullptr ? otherwise : parse_real(*value, "option " + name);
}

}  // namespace slabmark
