#include "capture/replay/pnetcdf/file.hpp"

#include <utility>

#include <fmt/format.h>
#include <pnetcdf.h>

#include "core/base/error.hpp"
#include "storage/pnetcdf/file.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark {

namespace {

nc_type nc_type_named(const std::string& name) {
  if (const auto type = find_element_type(name)) return pnetcdf::nc_type_of(*type);
  throw InputError(fmt::format("NetCDF has no type {}.", name));
}

Json part_of(const Json& definition, const char* key) {
  return definition.value(key, Json::array());
}

}  // namespace

void ReplayedNetcdf::check(int code, const char* call) const {
  pnetcdf::check(code, call, path_, rank_);
}

void ReplayedNetcdf::define(const CapturedEvent& end) {
  const Json structure =
      end.details == CapturedEvent::none ? Json::object() : recorded_.definition(end.details);
  define_dimensions(part_of(structure, "dimensions"));
  put_attributes(NC_GLOBAL, part_of(structure, "attributes"));
  for (const std::uint64_t dataset : std::exchange(to_define_, {})) define_variable(dataset);
}

void ReplayedNetcdf::define_dimensions(const Json& dimensions) {
  for (const Json& dimension : dimensions) {
    const std::string name = dimension.value("name", "");
    int id = -1;
    if (ncmpi_inq_dimid(id_, name.c_str(), &id) == NC_NOERR) continue;
    const Json length = dimension.value("length", Json());
    check(ncmpi_def_dim(id_, name.c_str(),
                        length.is_null() ? NC_UNLIMITED : length.get<MPI_Offset>(), &id),
          "ncmpi_def_dim");
  }
}

void ReplayedNetcdf::define_variable(std::uint64_t dataset) {
  const Json& definition = recorded_.definition(dataset);
  std::vector<int> dimensions;
  for (const Json& dimension : part_of(definition, "dimensions")) {
    dimensions.push_back(-1);
    check(ncmpi_inq_dimid(id_, dimension.get<std::string>().c_str(), &dimensions.back()),
          "ncmpi_inq_dimid");
  }
  int variable = -1;
  check(ncmpi_def_var(id_, definition.value("name", "").c_str(),
                      nc_type_named(definition.value("type", "")),
                      static_cast<int>(dimensions.size()), dimensions.data(), &variable),
        "ncmpi_def_var");
  if (definition.value("filled", false)) {
    check(ncmpi_def_var_fill(id_, variable, 0, nullptr), "ncmpi_def_var_fill");
  }
  put_attributes(variable, part_of(definition, "attributes"));
  variables_[dataset] = variable;
}

void ReplayedNetcdf::put_attributes_of(std::uint64_t dataset) {
  put_attributes(variable(dataset), part_of(recorded_.definition(dataset), "attributes"));
}

// A pattern has no values of attributes, so they are zeros, or blanks in texts.
void ReplayedNetcdf::put_attributes(int variable, const Json& attributes) {
  for (const Json& attribute : attributes) {
    const std::string name = attribute.value("name", "");
    const std::string type = attribute.value("type", "");
    const auto count = attribute.value("count", MPI_Offset{0});
    MPI_Offset found = 0;
    if (ncmpi_inq_attlen(id_, variable, name.c_str(), &found) == NC_NOERR) continue;
    if (type == "char") {
      const std::string text(static_cast<std::size_t>(count), ' ');
      check(ncmpi_put_att_text(id_, variable, name.c_str(), count, text.c_str()),
            "ncmpi_put_att_text");
    } else {
      const std::vector<long long> zeros(static_cast<std::size_t>(count) + 1);
      check(ncmpi_put_att_longlong(id_, variable, name.c_str(), nc_type_named(type), count,
                                   zeros.data()),
            "ncmpi_put_att_longlong");
    }
  }
}

int ReplayedNetcdf::variable(std::uint64_t dataset) {
  const auto known = variables_.find(dataset);
  if (known != variables_.end()) return known->second;
  int id = -1;
  const std::string name = recorded_.definition(dataset).value("name", "");
  check(ncmpi_inq_varid(id_, name.c_str(), &id), "ncmpi_inq_varid");
  return variables_[dataset] = id;
}

MPI_Offset ReplayedNetcdf::offset_of(std::uint64_t dataset) {
  MPI_Offset offset = 0;
  check(ncmpi_inq_varoffset(id_, variable(dataset), &offset), "ncmpi_inq_varoffset");
  return offset;
}

std::vector<int> ReplayedNetcdf::take_requests(const std::vector<std::uint64_t>& numbers) {
  std::vector<int> ids;
  for (const std::uint64_t number : numbers) {
    const auto known = requests_.find(number);
    ids.push_back(known == requests_.end() ? NC_REQ_NULL : known->second);
    if (known != requests_.end()) requests_.erase(known);
  }
  return ids;
}

}  // namespace slabmark
