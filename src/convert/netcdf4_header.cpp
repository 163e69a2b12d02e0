#include "convert/netcdf4_header.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "convert/netcdf4_names.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "storage/hdf5/attribute.hpp"

namespace slabmark::convert {

namespace {

void require_names(const std::vector<FileAttribute>& attributes, const std::string& owner) {
  for (const FileAttribute& attribute : attributes) {
    if (!is_reserved(attribute.name)) continue;
    throw InputError(
        fmt::format("Attribute '{}' of {} cannot be in a netCDF-4 file, which has an attribute of "
                    "that name for itself; rename it with ncrename.",
                    attribute.name, owner));
  }
}

/// The name of a variable in HDF5. Where a dimension's scale has its name, it goes by another one.
std::string stored_name(const FileContents& contents, const FileVariable& variable) {
  const bool is_in_the_way =
      !coordinate_dimension(contents, variable) &&
      std::ranges::count(contents.dimensions, variable.name, &FileDimension::name) > 0;
  return std::string(is_in_the_way ? no_coordinates : "") + variable.name;
}

/// Makes the objects of a file.
class Definition {
 public:
  Definition(hdf5::File& file, const FileContents& contents,
             const std::vector<hdf5::Handle>& creations)
      : file_(file),
        contents_(contents),
        creations_(creations),
        links_(hdf5::own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate", file.path())),
        scales_(contents.dimensions.size()) {
    // The pointers to scales stay where they are.
    variables_.reserve(contents.variables.size());
    empty_scales_.reserve(contents.dimensions.size());
    hdf5::check(H5Pset_char_encoding(links_.get(), H5T_CSET_UTF8), "H5Pset_char_encoding",
                file.path());
  }

  std::vector<hdf5::Dataset> define() {
    write_properties();
    write_attributes(file_.get(), contents_.attributes);
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) define_variable(v);
    for (std::size_t d = 0; d < contents_.dimensions.size(); ++d) {
      if (scales_[d] == nullptr) define_dimension(d);
    }
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) attach(v);
    return std::move(variables_);
  }

 private:
  const std::string& path() const { return file_.path(); }

  void write_properties() {
    std::string text =
        fmt::format("version=2,slabmark={},hdf5={}", version(), hdf5::library_version());
    if (!contents_.classic_format.empty()) {
      text += fmt::format(",{}{}", classic_property, contents_.classic_format);
    }
    write_text("_NCProperties", text, file_.get());
  }

  void write_text(const std::string& name, std::string_view text, hid_t object) {
    const auto type = hdf5::text_type(std::max<std::size_t>(text.size(), 1), path());
    if (text.empty()) return hdf5::write_attribute(object, name, type.get(), nothing(), "", path());
    hdf5::write_attribute(object, name, type.get(), hdf5::Space(Extent{}), text.data(), path());
  }

  void write_strings(const std::string& name, const std::vector<std::string>& strings,
                     hid_t object) {
    const auto type = hdf5::text_type(H5T_VARIABLE, path());
    hdf5::check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset", path());
    std::vector<const char*> values;
    for (const std::string& text : strings) values.push_back(text.c_str());
    hdf5::write_attribute(object, name, type.get(), hdf5::Space(Extent{values.size()}),
                          values.data(), path());
  }

  hdf5::Space nothing() const {
    return hdf5::Space(hdf5::own(H5Screate(H5S_NULL), H5Sclose, "H5Screate", path()));
  }

  void write_attributes(hid_t object, const std::vector<FileAttribute>& attributes) {
    for (const FileAttribute& attribute : attributes) {
      if (!attribute.strings.empty()) {
        write_strings(attribute.name, attribute.strings, object);
        continue;
      }
      if (attribute.type == ElementType::character) {
        const auto* text = reinterpret_cast<const char*>(attribute.values.data());
        write_text(attribute.name, {text, attribute.values.size()}, object);
        continue;
      }
      const hdf5::Space space =
          attribute.count() == 0 ? nothing() : hdf5::Space(Extent{attribute.count()});
      const char none = 0;
      const void* const values =
          attribute.values.empty() ? static_cast<const void*>(&none) : attribute.values.data();
      hdf5::write_attribute(object, attribute.name, hdf5::native_type(attribute.type), space,
                            values, path());
    }
  }

  hdf5::Dataset create(const std::string& name, ElementType type, hid_t stored,
                       const hdf5::Space& space, hid_t creation) {
    return {hdf5::own(H5Dcreate2(file_.get(), name.c_str(), stored, space.get(), links_.get(),
                                 creation, H5P_DEFAULT),
                      H5Dclose, "H5Dcreate2", path()),
            type, path()};
  }

  hdf5::Space space_of(const std::vector<std::size_t>& dimensions) const {
    if (dimensions.empty()) return hdf5::Space(Extent{});
    std::vector<hsize_t> lengths, most;
    for (const std::size_t d : dimensions) {
      const FileDimension& dimension = contents_.dimensions[d];
      lengths.push_back(dimension.length);
      most.push_back(dimension.is_unlimited ? H5S_UNLIMITED : dimension.length);
    }
    return hdf5::Space(
        hdf5::own(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), most.data()),
                  H5Sclose, "H5Screate_simple", path()));
  }

  void define_variable(std::size_t v) {
    const FileVariable& variable = contents_.variables[v];
    const auto coordinate = coordinate_dimension(contents_, variable);
    variables_.push_back(create(stored_name(contents_, variable), variable.type,
                                hdf5::native_type(variable.type), space_of(variable.dimensions),
                                creations_[v].get()));
    const hdf5::Dataset& made = variables_.back();
    if (coordinate) {
      hdf5::make_scale(made, variable.name, path());
      note_scale(made, *coordinate);
      if (variable.dimensions.size() > 1) write_coordinates(made, variable);
    }
    write_attributes(made.get(), variable.attributes);
  }

  void note_scale(const hdf5::Dataset& scale, std::size_t d) {
    scales_[d] = &scale;
    const int number = static_cast<int>(d);
    hdf5::write_attribute(scale.get(), "_Netcdf4Dimid", H5T_NATIVE_INT, hdf5::Space(Extent{}),
                          &number, path());
  }

  // A scale has no scales of its own, so its dimensions are in an attribute.
  void write_coordinates(const hdf5::Dataset& made, const FileVariable& variable) {
    const std::vector<int> numbers(variable.dimensions.begin(), variable.dimensions.end());
    hdf5::write_attribute(made.get(), "_Netcdf4Coordinates", H5T_NATIVE_INT,
                          hdf5::Space(Extent{numbers.size()}), numbers.data(), path());
  }

  // Of a dimension without coordinates the scale holds nothing.
  void define_dimension(std::size_t d) {
    const FileDimension& dimension = contents_.dimensions[d];
    hdf5::CreationSettings settings;
    if (dimension.is_unlimited) settings.chunk = {1024};
    const hdf5::Handle creation = hdf5::creation_list(settings, path());
    hdf5::check(
        H5Pset_attr_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "H5Pset_attr_creation_order", path());
    empty_scales_.push_back(create(dimension.name, ElementType::float32, H5T_IEEE_F32BE,
                                   space_of({d}), creation.get()));
    hdf5::make_scale(empty_scales_.back(), fmt::format("{}{:10}", no_variable, dimension.length),
                     path());
    note_scale(empty_scales_.back(), d);
  }

  void attach(std::size_t v) {
    const FileVariable& variable = contents_.variables[v];
    if (coordinate_dimension(contents_, variable)) return;
    for (unsigned i = 0; i < variable.dimensions.size(); ++i) {
      hdf5::attach_scale(variables_[v], *scales_[variable.dimensions[i]], i, path());
    }
  }

  hdf5::File& file_;
  const FileContents& contents_;
  const std::vector<hdf5::Handle>& creations_;
  hdf5::Handle links_;
  std::vector<hdf5::Dataset> variables_;
  std::vector<hdf5::Dataset> empty_scales_;
  std::vector<const hdf5::Dataset*> scales_;  ///< by dimension
};

}  // namespace

void require_netcdf4_names(const FileContents& contents, const std::string& input) {
  require_names(contents.attributes, fmt::format("'{}'", input));
  for (const FileVariable& variable : contents.variables) {
    require_names(variable.attributes, fmt::format("variable '{}'", variable.name));
    if (variable.name.find('/') == std::string::npos) continue;
    throw InputError(fmt::format(
        "Variable '{}' of '{}' cannot be in a netCDF-4 file, where '/' separates groups; rename it "
        "with ncrename.",
        variable.name, input));
  }
}

std::vector<hdf5::Dataset> define_netcdf4(hdf5::File& file, const FileContents& contents,
                                          const std::vector<hdf5::Handle>& creations) {
  return Definition(file, contents, creations).define();
}

std::vector<hdf5::Dataset> open_netcdf4_variables(const hdf5::Handle& file,
                                                  const FileContents& contents,
                                                  const std::string& path) {
  std::vector<hdf5::Dataset> datasets;
  for (const FileVariable& variable : contents.variables) {
    const std::string name = stored_name(contents, variable);
    datasets.emplace_back(
        hdf5::own(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path),
        variable.type, path);
  }
  return datasets;
}

}  // namespace slabmark::convert
