#include "bench/checkpoint/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/attribute.hpp"
#include "storage/hdf5/compound.hpp"
#include "storage/hdf5/subfiles.hpp"

namespace slabmark {

namespace {

using hdf5::Member;
using Type = Member::Type;
using Triple = std::array<std::uint64_t, 3>;

constexpr const char* dataset_name = "chunked";
constexpr const char* record_name = "simulation_attributes";

// The original wrote its C++ object as it lay in memory, so its readers expect this size and the
// offsets below. Its last 32 bytes were no member.
constexpr std::size_t record_bytes = 184;

/// Where a setting stands in the record, and under which name; nothing: under its own.
struct Place {
  std::size_t offset;
  Type type;
  std::size_t length = 1;
  const char* name = nullptr;
};

/// Visits the settings by the names of their plain attributes, with their places in the record,
/// which lacks some.
template <class Settings, class Visit>
void for_each_setting(Settings& s, const Visit& visit) {
  const auto at = [](Place place) { return std::optional(place); };
  visit("processor", s.grid.processor, at({8, Type::uint64, 3, "processor_dims"}));
  visit("chunk", s.grid.chunk, at({32, Type::uint64, 3, "chunk_dims"}));
  visit("domain", s.grid.domain, at({56, Type::uint64, 3, "domain_dims"}));
  visit("time", s.grid.steps, at({80, Type::uint32, 1, "simulation_time"}));
  visit("filename", s.filename, std::nullopt);
  visit("precreate", s.precreate, at({96, Type::int32}));
  visit("collective_write", s.collective_write, at({92, Type::int32}));
  visit("set_collective_metadata", s.set_collective_metadata, at({100, Type::int32}));
  visit("never_fill", s.never_fill, at({104, Type::int32}));
  visit("early_allocation", s.early_allocation, std::nullopt);
  visit("deflate", s.deflate, at({108, Type::int32}));
  visit("zfp", s.zfp, at({112, Type::int32}));
  visit("subfile", s.subfile, at({88, Type::uint32}));
  visit("n_nodes", s.n_nodes, at({84, Type::uint32}));
  visit("lfs_stripe_count", s.lfs_stripe_count, std::nullopt);
  visit("lfs_stripe_size", s.lfs_stripe_size, std::nullopt);
  visit("use_function_lib", s.use_function_lib, at({120, Type::text}));
  visit("use_function_name", s.use_function_name, at({128, Type::text}));
  visit("use_function_argc", s.use_function_argc, at({136, Type::int32}));
  visit("use_function_argv", s.use_function_argv, at({144, Type::text}));
}

/// In the order of the record.
std::vector<Member> members_of_record() {
  std::vector<Member> members = {{"name", 0, Type::text}};
  const CheckpointSettings any;
  for_each_setting(any, [&](const char* name, const auto&, std::optional<Place> place) {
    if (!place) return;
    members.push_back(
        {place->name == nullptr ? name : place->name, place->offset, place->type, place->length});
  });
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.offset < b.offset; });
  return members;
}

// Between a setting and its bytes in the record; numbers have 32 bits there.
void put(std::byte* at, const Triple& value) { std::memcpy(at, &value, sizeof value); }
void put(std::byte* at, std::uint64_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  std::memcpy(at, &number, sizeof number);
}
void put(std::byte* at, const std::string& value) {
  const char* text = value.c_str();
  std::memcpy(at, &text, sizeof text);
}
void get(const std::byte* at, Triple& value) { std::memcpy(&value, at, sizeof value); }
template <class Number>
void get(const std::byte* at, Number& value) {
  std::uint32_t number = 0;
  std::memcpy(&number, at, sizeof number);
  value = static_cast<Number>(number);
}
void get(const std::byte* at, std::string& value) {
  const char* text = nullptr;
  std::memcpy(&text, at, sizeof text);
  value = text == nullptr ? "" : text;
}

void write_record(const hdf5::File& file, const CheckpointSettings& settings) {
  std::array<std::byte, record_bytes> bytes{};
  const std::string name = "my_attr";  // what the original always put there
  put(bytes.data(), name);
  for_each_setting(settings, [&](const char*, const auto& value, std::optional<Place> place) {
    if (place) put(bytes.data() + place->offset, value);
  });
  hdf5::put_compound(file.get(), record_name, "seismCoreAttributes", members_of_record(), bytes,
                     file.path());
}

CheckpointSettings read_record(const hdf5::File& file) {
  CheckpointSettings settings;
  const auto take = [&](const std::byte* bytes) {
    for_each_setting(settings, [&](const char*, auto& value, std::optional<Place> place) {
      if (place) get(bytes + place->offset, value);
    });
  };
  hdf5::read_compound(file.get(), record_name, members_of_record(), record_bytes, file.path(),
                      take);
  return settings;
}

bool is_subfiled(const std::string& path) { return !hdf5::subfiles_of(path).empty(); }

void write_plain(const hdf5::File& file, const std::string& name, const Json& value) {
  const auto write = [&](const auto& of) {
    hdf5::write_attribute(file.get(), name, of, file.path());
  };
  if (value.is_string()) {
    hdf5::write_variable_text(file.get(), name, value.get<std::string>(), file.path());
  } else if (value.is_array()) {
    const auto counts = value.get<std::vector<std::uint64_t>>();
    write(std::span<const std::uint64_t>(counts));
  } else if (value.is_number_float()) {
    write(value.get<double>());
  } else {
    write(value.is_boolean() ? std::uint64_t{value.get<bool>()} : value.get<std::uint64_t>());
  }
}

Json as_plain(const CheckpointSettings& settings) {
  Json plain;
  for_each_setting(settings, [&](const char* name, const auto& value, std::optional<Place>) {
    plain[name] = value;
  });
  return plain;
}

/// With MPI only where it must be: subfiles are opened by all ranks together, and then all write.
hdf5::File open_file(const Comm& comm, const std::string& path, hdf5::Access access) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(fmt::format(
        "There is {} file '{}'; name one that seism-core-slice wrote.",
        std::filesystem::exists(path, error) ? "something else than a regular" : "no", path));
  }
  if (is_subfiled(path)) {
    return hdf5::File::open(comm.get(), MPI_INFO_NULL, path, {.subfiling = true}, access);
  }
  if (!hdf5::is_hdf5(path)) {
    throw InputError(fmt::format("'{}' is no HDF5 file, or is not complete.", path));
  }
  return hdf5::File::open_serial(path, access);
}

void require_dataset(const hdf5::File& file, const CheckpointSettings& settings) {
  const auto dataset = file.open_dataset(dataset_name, ElementType::float32);
  const Extent extent = dataset.space().extent();
  Extent expected = settings.grid.extent();
  expected.insert(expected.begin(), settings.grid.steps);
  if (dataset.is_of_type() && extent == expected) return;
  throw InputError(fmt::format(
      "Dataset \"{}\" of '{}' is {} of {}, but the attributes of the file speak of {} of float32; "
      "the file is damaged or was changed.",
      dataset_name, file.path(), to_string(extent),
      dataset.is_of_type() ? "float32" : "another element type", to_string(expected)));
}

CheckpointSettings read_here(const hdf5::File& file) {
  if (!file.has_attribute(record_name) || !file.has(dataset_name)) {
    throw InputError(
        fmt::format("'{}' holds no dataset \"{}\" with the attribute {}, so it was not written by "
                    "seism-core-slice; name another file.",
                    file.path(), dataset_name, record_name));
  }
  CheckpointSettings settings = read_record(file);
  settings.filename = file.path();
  require_dataset(file, settings);
  return settings;
}

}  // namespace

void write_checkpoint_attributes(const Comm& comm, const std::string& path,
                                 const CheckpointSettings& settings, const Json& facts) {
  const bool by_all = is_subfiled(path);
  agreed(comm, [&] {
    if (!by_all && !comm.is_root()) return;
    hdf5::File file = open_file(comm, path, hdf5::Access::read_write);
    write_record(file, settings);
    for (const Json& object : {as_plain(settings), facts}) {
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

std::string method_for(const std::string& path) { return checkpoint_methods[is_subfiled(path)]; }

}  // namespace slabmark
