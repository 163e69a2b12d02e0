#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/method/pnetcdf/info.hpp"
#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Dimensions defined so far, by name. `File` is one of netCDF: def_dim(name, length) returns an
/// identifier, and the length 0 stands for unlimited.
template <class File>
class DimensionTable {
 public:
  explicit DimensionTable(File& file) : file_(file) {}

  int get(std::string name, std::uint64_t length) {
    if (name.empty()) name = "dim";
    if (clashes(name, length)) name += fmt::format("_{}", length);
    while (clashes(name, length)) name += '_';
    const auto [entry, is_new] = known_.try_emplace(name, Known{length, -1});
    if (is_new) entry->second.id = file_.def_dim(name, length);
    return entry->second.id;
  }

 private:
  struct Known {
    std::uint64_t length;
    int id;
  };

  bool clashes(const std::string& name, std::uint64_t length) const {
    const auto found = known_.find(name);
    return found != known_.end() && found->second.length != length;
  }

  File& file_;
  std::map<std::string, Known> known_;
};

template <class File>
void put_netcdf_attributes(File& file, int variable, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    file.put_att_text(variable, attribute.name, attribute.text);
  }
}

/// Defines the pattern's datasets as variables of `file`, in order, and returns their identifiers.
/// Dimensions of the same name and length are shared; one that meets an earlier one of another
/// length gets its length appended ("ncol_48602"). The unlimited dimension is called "time".
/// `define(name, dataset, dimensions)` defines one variable.
template <class File, class Define>
std::vector<int> define_netcdf(File& file, const Pattern& pattern, const Define& define) {
  constexpr int of_the_file = -1;
  DimensionTable table(file);
  // Defined first, so that a dataset's own dimension of that name is the one that gives way.
  int time = -1;
  for (const auto& dataset : pattern.datasets) {
    if (dataset.has_time && time < 0) time = table.get("time", 0);
  }
  const std::vector<std::string> names = netcdf_names(pattern);
  std::vector<int> variables;
  for (const auto& dataset : pattern.datasets) {
    std::vector<int> dims;
    if (dataset.has_time) dims.push_back(time);
    for (const auto& dimension : dataset.dimensions) {
      dims.push_back(table.get(without_slashes(dimension.name), dimension.length));
    }
    variables.push_back(define(names[variables.size()], dataset, dims));
    put_netcdf_attributes(file, variables.back(), dataset.attributes);
  }
  put_netcdf_attributes(file, of_the_file, pattern.attributes);
  return variables;
}

}  // namespace slabmark
