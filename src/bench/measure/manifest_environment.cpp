#include "bench/measure/manifest_environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unistd.h>

namespace slabmark {

namespace {

constexpr std::array<std::string_view, 6> prefixes = {"OMPI_", "MPICH_",   "ROMIO_",
                                                      "HDF5_", "PNETCDF_", "SLURM_"};

constexpr std::array<std::string_view, 12> secret_words = {
    "KEY",  "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "COOKIE",
    "CRED", "AUTH",  "MUNGE",  "JWT",   "URI",        "PRECONDITION_TRANSPORTS"};

std::string upper_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

bool is_address_with_user(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

}  // namespace

bool is_recorded(std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_secret(std::string_view name, std::string_view value) {
  const std::string upper = upper_case(name);
  return is_address_with_user(value) ||
         std::any_of(secret_words.begin(), secret_words.end(), [&upper](std::string_view word) {
           return upper.find(word) != std::string::npos;
         });
}

RecordedEnvironment record_environment(std::span<const std::string> entries) {
  RecordedEnvironment result;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    if (!is_recorded(name)) continue;
    if (is_secret(name, value)) {
      result.withheld.push_back(name);
    } else {
      result.variables[name] = value;
    }
  }
  std::sort(result.withheld.begin(), result.withheld.end());
  return result;
}

RecordedEnvironment record_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return record_environment(entries);
}

}  // namespace slabmark
