#include "checkpoint/record.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace slabmark::checkpoint_record {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;

constexpr const char* attribute_name = "simulation_attributes";
constexpr const char* type_name = "seismCoreAttributes";

// The original wrote its C++ object as it lay in memory, so its readers expect this size and the
// offsets below. Its last 32 bytes were no member.
constexpr std::size_t record_bytes = 184;

/// The bytes of one record; texts are pointers, as HDF5 wants them of variable length.
using Bytes = std::array<std::byte, record_bytes>;

/// Walks the members of the record: `visit.member(name, offset, value)` for each, where value is a
/// reference to a triple, an int, an unsigned or a text.
template <class Values, class Visit>
void for_each_member(Values& v, Visit&& visit) {
  visit("name", 0, v.name);
  visit("processor_dims", 8, v.processor);
  visit("chunk_dims", 32, v.chunk);
  visit("domain_dims", 56, v.domain);
  visit("simulation_time", 80, v.time);
  visit("n_nodes", 84, v.n_nodes);
  visit("subfile", 88, v.subfile);
  visit("collective_write", 92, v.collective_write);
  visit("precreate", 96, v.precreate);
  visit("set_collective_metadata", 100, v.set_collective_metadata);
  visit("never_fill", 104, v.never_fill);
  visit("deflate", 108, v.deflate);
  visit("zfp", 112, v.zfp);
  visit("use_function_lib", 120, v.use_function_lib);
  visit("use_function_name", 128, v.use_function_name);
  visit("use_function_argc", 136, v.use_function_argc);
  visit("use_function_argv", 144, v.use_function_argv);
}

using Triple = std::array<std::uint64_t, 3>;

struct Values {
  const char* name = "my_attr";  // what the original always put there
  Triple processor{}, chunk{}, domain{};
  std::uint32_t time = 0, n_nodes = 0, subfile = 0;
  std::int32_t collective_write = 0, precreate = 0, set_collective_metadata = 0, never_fill = 0;
  std::int32_t deflate = 0, zfp = 0;
  const char* use_function_lib = "";
  const char* use_function_name = "";
  std::int32_t use_function_argc = 0;
  const char* use_function_argv = "";
};

Handle own_type(hid_t type, const std::string& path) { return own(type, H5Tclose, "H5T", path); }

/// The HDF5 type of one member.
template <class T>
Handle type_of(const std::string& path) {
  if constexpr (std::is_same_v<T, Triple>) {
    const hsize_t length = 3;
    return own_type(H5Tarray_create2(H5T_STD_U64LE, 1, &length), path);
  } else if constexpr (std::is_same_v<T, const char*>) {
    auto type = own_type(H5Tcopy(H5T_C_S1), path);
    check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size", path);
    return type;
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return own_type(H5Tcopy(H5T_STD_U32LE), path);
  } else {
    static_assert(std::is_same_v<T, std::int32_t>);
    return own_type(H5Tcopy(H5T_STD_I32LE), path);
  }
}

Handle record_type(const std::string& path) {
  auto type = own_type(H5Tcreate(H5T_COMPOUND, record_bytes), path);
  Values any;
  for_each_member(any, [&](const char* name, std::size_t offset, auto& value) {
    const auto member = type_of<std::remove_reference_t<decltype(value)>>(path);
    check(H5Tinsert(type.get(), name, offset, member.get()), "H5Tinsert", path);
  });
  return type;
}

Values values_of(const CheckpointSettings& settings) {
  Values values;
  values.processor = settings.grid.processor;
  values.chunk = settings.grid.chunk;
  values.domain = settings.grid.domain;
  values.time = static_cast<std::uint32_t>(settings.grid.steps);
  values.n_nodes = static_cast<std::uint32_t>(settings.n_nodes);
  values.subfile = static_cast<std::uint32_t>(settings.subfile);
  values.collective_write = settings.collective_write;
  values.precreate = settings.precreate;
  values.set_collective_metadata = settings.set_collective_metadata;
  values.never_fill = settings.never_fill;
  values.deflate = static_cast<std::int32_t>(settings.deflate);
  values.zfp = static_cast<std::int32_t>(settings.zfp);
  values.use_function_lib = settings.use_function_lib.c_str();
  values.use_function_name = settings.use_function_name.c_str();
  values.use_function_argc = static_cast<std::int32_t>(settings.use_function_argc);
  values.use_function_argv = settings.use_function_argv.c_str();
  return values;
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

CheckpointSettings settings_of(const Values& values) {
  CheckpointSettings settings;
  settings.grid = {values.processor, values.domain, values.chunk, values.time};
  settings.n_nodes = values.n_nodes;
  settings.subfile = values.subfile;
  settings.collective_write = values.collective_write != 0;
  settings.precreate = values.precreate != 0;
  settings.set_collective_metadata = values.set_collective_metadata != 0;
  settings.never_fill = values.never_fill != 0;
  settings.deflate = static_cast<std::uint64_t>(values.deflate);
  settings.zfp = static_cast<std::uint64_t>(values.zfp);
  settings.use_function_lib = text_or_empty(values.use_function_lib);
  settings.use_function_name = text_or_empty(values.use_function_name);
  settings.use_function_argc = static_cast<std::uint64_t>(values.use_function_argc);
  settings.use_function_argv = text_or_empty(values.use_function_argv);
  return settings;
}

}  // namespace

void write(hid_t file, const std::string& path, const CheckpointSettings& settings) {
  const auto type = record_type(path);
  check(H5Tcommit2(file, type_name, type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Tcommit2", path);
  const auto scalar = own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", path);
  const auto attribute =
      own(H5Acreate2(file, attribute_name, type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose, "H5Acreate2", path);
  Bytes bytes{};
  Values values = values_of(settings);
  for_each_member(values, [&](const char*, std::size_t offset, auto& value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  });
  check(H5Awrite(attribute.get(), type.get(), bytes.data()), "H5Awrite", path);
}

CheckpointSettings read(hid_t file, const std::string& path) {
  const auto attribute = own(H5Aopen(file, attribute_name, H5P_DEFAULT), H5Aclose, "H5Aopen", path);
  const auto type = record_type(path);
  const auto scalar = own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", path);
  Bytes bytes{};  // a member that the file does not have stays 0
  check(H5Aread(attribute.get(), type.get(), bytes.data()), "H5Aread", path);
  Values values;
  for_each_member(values, [&](const char*, std::size_t offset, auto& value) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  });
  CheckpointSettings settings = settings_of(values);
  check(H5Treclaim(type.get(), scalar.get(), H5P_DEFAULT, bytes.data()), "H5Treclaim", path);
  return settings;
}

}  // namespace slabmark::checkpoint_record
