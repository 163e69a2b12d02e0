#include "bench/pattern/output_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/pattern/built_in_tables.hpp"
#include "core/base/error.hpp"
#include "core/base/nearest.hpp"
#include "core/base/number.hpp"
#include "core/json/json.hpp"

namespace slabmark {

namespace {

std::optional<ElementType> type_of(const std::string& word) {
  if (word == "real") return std::nullopt;
  if (const auto type = find_element_type(word)) return type;
  throw InputError(fmt::format("'{}' is no element type.", word));
}

OutputTable::Length length_of(const Json& value) {
  if (value.is_number_unsigned()) return {"", value.get<std::uint64_t>()};
  const auto text = value.get<std::string>();
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return {text, 0};
  return {text.substr(0, plus), parse_count(std::string_view(text).substr(plus + 1), text)};
}

std::vector<Attribute> attributes_of(const Json& object) {
  std::vector<Attribute> attributes;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      attributes.push_back({name, value.get<std::string>()});
      continue;
    }
    const auto count = value.at("count").get<std::size_t>();
    for (std::size_t i = 1; i <= count; ++i) {
      attributes.push_back({fmt::format("{}_{}", name, i), value.at("text").get<std::string>()});
    }
  }
  return attributes;
}

/// "a{b,c}d" as shells expand it, abd and acd; of several braces the last change fastest.
std::vector<std::string> expanded(const std::string& text) {
  const std::size_t open = text.find('{');
  if (open == std::string::npos) return {text};
  const std::size_t close = text.find('}', open);
  if (close == std::string::npos) {
    throw InputError(fmt::format("'{}' has a brace that nothing closes.", text));
  }
  const auto rests = expanded(text.substr(close + 1));
  std::vector<std::string> names;
  for (std::size_t at = open; at < close;) {
    const std::size_t end = std::min(text.find(',', at + 1), close);
    const std::string word = text.substr(at + 1, end - at - 1);
    for (const auto& rest : rests) names.push_back(text.substr(0, open) + word + rest);
    at = end;
  }
  return names;
}

/// Names of variables that groups take one after another.
using Families = std::map<std::string, std::vector<std::string>>;

/// The names of a group: a list, or the next of a family.
std::vector<std::string> names_of(const Json& names, Families& families) {
  if (names.is_array()) return names.get<std::vector<std::string>>();
  auto& left = families[names.at("of").get<std::string>()];
  const auto next = names.at("next").get<std::size_t>();
  if (next > left.size()) {
    throw InputError(fmt::format("A group takes {} names of the {} that are left of '{}'.", next,
                                 left.size(), names.at("of").get<std::string>()));
  }
  const auto end = left.begin() + static_cast<std::ptrdiff_t>(next);
  const std::vector<std::string> taken(left.begin(), end);
  left.erase(left.begin(), end);
  return taken;
}

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// True if the dimensions `names` are those of a map, or others of the same lengths.
bool fits(const std::vector<std::string>& names, const std::vector<std::string>& map,
          const OutputTable& table) {
  return std::equal(names.begin(), names.end(), map.begin(), map.end(),
                    [&](const std::string& name, const std::string& of_map) {
                      if (name == of_map) return true;
                      const auto found = table.dimensions.find(name);
                      return found != table.dimensions.end() && found->second.of == of_map &&
                             found->second.plus == 0;
                    });
}

void add_group(const Json& group, Families& families, OutputTable& table) {
  TableVariable variable;
  variable.type = type_of(group.at("type").get<std::string>());
  variable.dimensions = group.at("dimensions").get<std::vector<std::string>>();
  variable.has_time = !variable.dimensions.empty() && variable.dimensions.front() == "time";
  if (variable.has_time) variable.dimensions.erase(variable.dimensions.begin());
  if (group.contains("map")) {
    const auto map = group.at("map").get<std::size_t>();
    if (map == 0 || map > table.maps.size() ||
        !fits(variable.dimensions, table.maps[map - 1], table)) {
      throw InputError(fmt::format("A group is on map {}, whose dimensions are not {}.", map,
                                   fmt::join(variable.dimensions, " x ")));
    }
    variable.map = map - 1;
  }
  for (const auto& name : names_of(group.at("names"), families)) {
    variable.name = name;
    if (group.contains("attributes")) {
      variable.attributes = attributes_of(group.at("attributes"));
      variable.attributes.push_back({"long_name", with_blanks(variable.name)});
    }
    table.variables.push_back(variable);
  }
}

constexpr std::string_view of_e3sm = "e3sm";
constexpr std::string_view of_workloads = "workload/tables";

std::optional<OutputTable> find_built_in_table(std::string_view folder, std::string_view name) {
  for (const BuiltInTable& table : built_in_tables()) {
    if (table.folder != folder || table.name != name) continue;
    return parse_output_table(std::string(name), table.json);
  }
  return std::nullopt;
}

/// Lengths of all dimensions of a table on given maps.
class Lengths {
 public:
  Lengths(const OutputTable& table, const std::vector<SelectionPtr>& maps) : table_(table) {
    if (maps.size() != table.maps.size()) {
      throw InputError(fmt::format("The output file {} is laid out by {} maps, not by {}.",
                                   table.name, table.maps.size(), maps.size()));
    }
    for (std::size_t m = 0; m < maps.size(); ++m) enter(m, maps[m]->extent());
  }

  std::uint64_t of(const std::string& name) const { return length_of(table_, name, of_maps_); }

 private:
  void enter(std::size_t map, const Extent& extent) {
    const auto& names = table_.maps[map];
    if (extent.size() != names.size()) {
      throw InputError(fmt::format("Map {} of the output file {} is of {}, but this one is {}.",
                                   map + 1, table_.name, fmt::join(names, " x "),
                                   to_string(extent)));
    }
    for (std::size_t d = 0; d < names.size(); ++d) {
      const auto known = of_maps_.try_emplace(names[d], extent[d]).first;
      if (known->second == extent[d]) continue;
      throw InputError(
          fmt::format("The maps do not fit together: {} is {} in map {}, but {} in one "
                      "before it.",
                      names[d], extent[d], map + 1, known->second));
    }
  }

  const OutputTable& table_;
  std::map<std::string, std::uint64_t> of_maps_;
};

}  // namespace

OutputTable parse_output_table(const std::string& name, std::string_view text) {
  try {
    const Json all = Json::parse(text);
    OutputTable table;
    table.name = name;
    table.summary = all.at("summary").get<std::string>();
    table.maps = all.at("maps").get<std::vector<std::vector<std::string>>>();
    for (const auto& [dimension, length] : all.at("dimensions").items()) {
      table.dimensions[dimension] = length_of(length);
    }
    table.attributes = attributes_of(all.at("attributes"));
    Families families;
    const Json of_words = all.value("families", Json::object());
    for (const auto& [family, names] : of_words.items()) {
      families[family] = expanded(names);
    }
    for (const auto& group : all.at("groups")) add_group(group, families, table);
    return table;
  } catch (const JsonError& error) {
    throw InputError(
        fmt::format("The output table {} is not well formed: {}.", name, error.what()));
  }
}

std::uint64_t length_of(const OutputTable& table, const std::string& dimension,
                        const std::map<std::string, std::uint64_t>& known) {
  if (const auto found = known.find(dimension); found != known.end()) return found->second;
  const auto found = table.dimensions.find(dimension);
  if (found == table.dimensions.end()) {
    throw InputError(
        fmt::format("The table {} says nothing of the dimension {}.", table.name, dimension));
  }
  const OutputTable::Length& length = found->second;
  return (length.of.empty() ? 0 : length_of(table, length.of, known)) + length.plus;
}

std::vector<std::string> output_table_names() {
  std::vector<std::string> names;
  for (const BuiltInTable& table : built_in_tables()) {
    if (table.folder == of_e3sm) names.emplace_back(table.name);
  }
  return names;
}

OutputTable find_workload_table(std::string_view name) {
  return *find_built_in_table(of_workloads, name);
}

OutputTable find_output_table(std::string_view name) {
  if (auto table = find_built_in_table(of_e3sm, name)) return *std::move(table);
  const auto known = output_table_names();
  const auto near = nearest(name, known);
  throw InputError(fmt::format("There is no output file '{}'; {}", name,
                               near.empty() ? fmt::format("known are {}.", fmt::join(known, ", "))
                                            : fmt::format("did you mean {}?", near)));
}

Pattern make_output_pattern(const OutputTable& table, const OutputShare& share) {
  if (share.records == 0) {
    throw InputError("An output file of 0 records moves nothing; ask for 1 or more.");
  }
  const Lengths lengths(table, share.maps);
  Pattern pattern;
  pattern.name = "e3sm";
  pattern.settings = {{"case", table.name},
                      {"real", std::string(name_of(share.real))},
                      {"records", fmt::to_string(share.records)}};
  pattern.attributes = table.attributes;
  pattern.rounds = share.records;
  std::vector<Transfer> all;
  std::map<Extent, SelectionPtr> of_first;  // shared, as those of maps are
  for (const TableVariable& variable : table.variables) {
    Dataset dataset;
    dataset.name = variable.name;
    dataset.type = variable.type.value_or(share.real);
    dataset.has_time = variable.has_time;
    dataset.attributes = variable.attributes;
    for (const auto& name : variable.dimensions) {
      dataset.dimensions.push_back({name, lengths.of(name)});
    }
    const Extent extent = dataset.extent();
    auto& whole = of_first[extent];
    if (!whole) whole = share.is_first ? select_all(extent) : select_none(extent);
    all.push_back(
        {pattern.datasets.size(), 0, variable.map ? share.maps[*variable.map] : whole, nullptr});
    pattern.datasets.push_back(std::move(dataset));
  }
  pattern.transfers = record_a_round(std::move(all), pattern.datasets);
  return pattern;
}

}  // namespace slabmark
