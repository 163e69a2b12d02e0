#include "accel/hdf5_connector/config.hpp"

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::array<std::pair<std::string_view, Layout>, 2> layouts = {
    {{"log", Layout::log}, {"canonical", Layout::canonical}}};

constexpr std::array<std::pair<std::string_view, View>, 3> views = {
    {{"vds", View::virtual_dataset}, {"materialise", View::materialise}, {"none", View::none}}};

constexpr std::array<std::pair<std::string_view, Writing>, 2> writings = {
    {{"independent", Writing::independent}, {"collective", Writing::collective}}};

constexpr std::array<std::pair<std::string_view, Visibility>, 2> visibilities = {
    {{"reads", Visibility::reads}, {"strict", Visibility::strict}}};

template <class Value, std::size_t count>
Value value_of(std::string_view word, const char* option,
               const std::array<std::pair<std::string_view, Value>, count>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    names.push_back(name);
  }
  throw InputError(fmt::format("The connector's {} is '{}'; it takes {}.", option, word,
                               fmt::join(names, ", ")));
}

template <class Value, std::size_t count>
std::string_view name_of(Value wanted,
                         const std::array<std::pair<std::string_view, Value>, count>& choices) {
  for (const auto& [name, value] : choices) {
    if (value == wanted) return name;
  }
  return "";
}

void set(Config& config, std::string_view name, std::string_view value) {
  if (name == "layout") {
    config.layout = value_of(value, "layout", layouts);
  } else if (name == "view") {
    config.view = value_of(value, "view", views);
  } else if (name == "write") {
    config.writing = value_of(value, "write", writings);
  } else if (name == "visibility") {
    config.visibility = value_of(value, "visibility", visibilities);
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
  set_from(config, "SLABLOG_LAYOUT", "layout");
  set_from(config, "SLABLOG_VIEW", "view");
  set_from(config, "SLABLOG_WRITE", "write");
  set_from(config, "SLABLOG_VISIBILITY", "visibility");
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
  return fmt::format("layout={};view={};write={};visibility={};buffer={};cap={}",
                     name_of(config.layout, layouts), name_of(config.view, views),
                     name_of(config.writing, writings), name_of(config.visibility, visibilities),
                     config.buffer_bytes, config.most_hyperslabs);
}

}  // namespace slabmark::slablog
