#include "checkpoint/attributes.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "checkpoint/record.hpp"
#include "parallel/agree.hpp"
#include "storage/hdf5/subfiles.hpp"

namespace slabmark {

namespace {

using hdf5::check;
using hdf5::own;

constexpr const char* dataset_name = "chunked";

bool is_subfiled(const std::string& path) { return !hdf5::subfiles_of(path).empty(); }

void write_attribute(const hdf5::File& file, const std::string& name, hid_t type, hid_t space,
                     const void* value) {
  const auto attribute =
      own(H5Acreate2(file.get(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          "H5Acreate2", file.path());
  check(H5Awrite(attribute.get(), type, value), "H5Awrite", file.path());
}

void write_text(const hdf5::File& file, const std::string& name, const std::string& text,
                hid_t space) {
  const auto type = own(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", file.path());
  check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size", file.path());
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset", file.path());
  const char* value = text.c_str();
  write_attribute(file, name, type.get(), space, &value);
}

void write_plain(const hdf5::File& file, const std::string& name, const nlohmann::json& value) {
  const auto scalar = own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", file.path());
  if (value.is_string()) {
    write_text(file, name, value.get<std::string>(), scalar.get());
  } else if (value.is_array()) {
    const auto counts = value.get<std::vector<std::uint64_t>>();
    const hsize_t length = counts.size();
    const auto line =
        own(H5Screate_simple(1, &length, nullptr), H5Sclose, "H5Screate_simple", file.path());
    write_attribute(file, name, H5T_NATIVE_UINT64, line.get(), counts.data());
  } else if (value.is_number_float()) {
    const auto number = value.get<double>();
    write_attribute(file, name, H5T_NATIVE_DOUBLE, scalar.get(), &number);
  } else {
    const auto count =
        value.is_boolean() ? std::uint64_t{value.get<bool>()} : value.get<std::uint64_t>();
    write_attribute(file, name, H5T_NATIVE_UINT64, scalar.get(), &count);
  }
}

nlohmann::json as_plain(const CheckpointSettings& settings) {
  return {{"processor", settings.grid.processor},
          {"chunk", settings.grid.chunk},
          {"domain", settings.grid.domain},
          {"time", settings.grid.steps},
          {"filename", settings.filename},
          {"precreate", settings.precreate},
          {"collective_write", settings.collective_write},
          {"set_collective_metadata", settings.set_collective_metadata},
          {"never_fill", settings.never_fill},
          {"early_allocation", settings.early_allocation},
          {"deflate", settings.deflate},
          {"zfp", settings.zfp},
          {"subfile", settings.subfile},
          {"n_nodes", settings.n_nodes},
          {"lfs_stripe_count", settings.lfs_stripe_count},
          {"lfs_stripe_size", settings.lfs_stripe_size},
          {"use_function_lib", settings.use_function_lib},
          {"use_function_name", settings.use_function_name},
          {"use_function_argc", settings.use_function_argc},
          {"use_function_argv", settings.use_function_argv}};
}

/// With MPI only where it must be: subfiles are opened by all ranks together, and then all write.
hdf5::File open_file(const Comm& comm, const std::string& path, hdf5::Access access) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(
        fmt::format("There is no file '{}'; name one that seism-core-slice wrote.", path));
  }
  hdf5::silence();
  if (!is_subfiled(path) && H5Fis_accessible(path.c_str(), H5P_DEFAULT) <= 0) {
    throw InputError(fmt::format("'{}' is no HDF5 file, or is not complete.", path));
  }
  if (!is_subfiled(path)) return hdf5::File::open_serial(path, access);
  return hdf5::File::open(comm.get(), MPI_INFO_NULL, path, {.subfiling = true}, access);
}

void require_dataset(const hdf5::File& file, const CheckpointSettings& settings) {
  const auto dataset =
      own(H5Dopen2(file.get(), dataset_name, H5P_DEFAULT), H5Dclose, "H5Dopen2", file.path());
  const auto type = own(H5Dget_type(dataset.get()), H5Tclose, "H5Dget_type", file.path());
  const hdf5::Space space(own(H5Dget_space(dataset.get()), H5Sclose, "H5Dget_space", file.path()));
  Extent expected = settings.grid.extent();
  expected.insert(expected.begin(), settings.grid.steps);
  const bool is_float = H5Tget_class(type.get()) == H5T_FLOAT && H5Tget_size(type.get()) == 4;
  if (is_float && space.extent() == expected) return;
  throw InputError(fmt::format(
      "Dataset \"{}\" of '{}' is {} of {}, but the attributes of the file speak of {} of float32; "
      "the file is damaged or was changed.",
      dataset_name, file.path(), to_string(space.extent()),
      is_float ? "float32" : "another element type", to_string(expected)));
}

CheckpointSettings read_here(const hdf5::File& file) {
  const bool is_ours = H5Aexists(file.get(), "simulation_attributes") > 0 &&
                       H5Lexists(file.get(), dataset_name, H5P_DEFAULT) > 0;
  if (!is_ours) {
    throw InputError(fmt::format(
        "'{}' holds no dataset \"{}\" with the attribute simulation_attributes, so it was not "
        "written by seism-core-slice; name another file.",
        file.path(), dataset_name));
  }
  CheckpointSettings settings = checkpoint_record::read(file.get(), file.path());
  settings.filename = file.path();
  require_dataset(file, settings);
  return settings;
}

}  // namespace

void write_checkpoint_attributes(const Comm& comm, const std::string& path,
                                 const CheckpointSettings& settings, const nlohmann::json& facts) {
  const bool by_all = is_subfiled(path);
  agreed(comm, [&] {
    if (!by_all && !comm.is_root()) return;
    hdf5::File file = open_file(comm, path, hdf5::Access::read_write);
    checkpoint_record::write(file.get(), path, settings);
    for (const nlohmann::json& object : {as_plain(settings), facts}) {
      for (const auto& [name, value] : object.items()) write_plain(file, name, value);
    }
    file.close();
  });
}

CheckpointSettings read_checkpoint_attributes(const Comm& comm, const std::string& path) {
  CheckpointSettings settings;
  agreed(comm, [&] {
    const hdf5::File file = open_file(comm, path, hdf5::Access::read);
    settings = read_here(file);
  });
  return settings;
}

std::string method_for(const std::string& path) {
  return is_subfiled(path) ? "hdf5-subfiling" : "hdf5-slab";
}

}  // namespace slabmark
