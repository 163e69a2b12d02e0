#include "logvol/config.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"

namespace slabmark::logvol {

namespace {

constexpr std::array<std::pair<std::string_view, View>, 3> views = {
    {{"vds", View::virtual_dataset}, {"materialise", View::materialise}, {"none", View::none}}};

View view_of(std::string_view word) {
  for (const auto& [name, view] : views) {
    if (name == word) return view;
  }
  throw InputError(
      fmt::format("The connector's view is '{}'; it takes vds, materialise or none.", word));
}

void set(Config& config, std::string_view name, std::string_view value) {
  if (name == "view") {
    config.view = view_of(value);
  } else if (name == "buffer") {
    config.buffer_bytes = parse_size(std::string(value), "The connector's buffer");
  } else if (name == "cap") {
    config.most_hyperslabs =
        parse_count(std::string(value), "The connector's cap", 0, std::uint64_t{1} << 62);
  }
}

void set_from(Config& config, const char* variable, std::string_view name) {
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') set(config, name, value);
}

}  // namespace

Config parse_config(std::string_view text) {
  Config config;
  set_from(config, "SLABLOG_VIEW", "view");
  set_from(config, "SLABLOG_BUFFER", "buffer");
  set_from(config, "SLABLOG_CAP", "cap");
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto equals = word.find('=');
    if (equals != std::string_view::npos) {
      set(config, word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return config;
}

std::string to_string(const Config& config) {
  std::string_view view;
  for (const auto& [name, value] : views) {
    if (value == config.view) view = name;
  }
  return fmt::format("view={};buffer={};cap={}", view, config.buffer_bytes, config.most_hyperslabs);
}

}  // namespace slabmark::logvol
