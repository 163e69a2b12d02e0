#include "convert/layout.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/dataset.hpp"

namespace slabmark::convert {

namespace {

constexpr std::uint64_t largest_default_chunk = 4u << 20;
// A record of a time axis is a number, so its chunks hold many.
constexpr std::uint64_t line_chunk_bytes = 4096;

void require_filter(Compression compression) {
  if (compression == Compression::zstd && !hdf5::has_filter(hdf5::zstd_filter)) {
    throw InputError(
        "Cannot compress with zstd: HDF5 does not find its filter (32015). Set HDF5_PLUGIN_PATH to "
        "a folder that has it, or use --compress deflate:1.");
  }
  if (compression == Compression::deflate && !hdf5::has_deflate()) {
    throw InputError(
        "Cannot compress with deflate: HDF5 was built without zlib. Use --compress zstd:3.");
  }
}

/// NC_FILL_FLOAT and the like: what netCDF-C stores where nothing was written.
std::vector<std::byte> default_fill(ElementType type) {
  return with_type(type, [&](auto value) {
    using Value = decltype(value);
    if constexpr (std::is_floating_point_v<Value>) {
      value = static_cast<Value>(9.9692099683868690e+36F);
    } else if (type == ElementType::character) {
      value = 0;
    } else if constexpr (std::is_unsigned_v<Value>) {
      value = std::numeric_limits<Value>::max() - (sizeof(Value) == sizeof(std::uint64_t) ? 1 : 0);
    } else {
      value = static_cast<Value>(std::numeric_limits<Value>::min() +
                                 (sizeof(Value) == sizeof(std::int64_t) ? 2 : 1));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    return std::vector<std::byte>(bytes, bytes + sizeof value);
  });
}

// Chunks as netCDF-C chooses them: a record each, and halved from the slowest dimension on where
// they are large.
Extent default_chunk(const FileContents& contents, const FileVariable& variable) {
  const std::uint64_t bytes = size_of(variable.type);
  Extent chunk;
  for (const std::size_t d : variable.dimensions) {
    const FileDimension& dimension = contents.dimensions[d];
    const std::uint64_t unlimited = variable.dimensions.size() > 1 ? 1 : line_chunk_bytes / bytes;
    chunk.push_back(dimension.is_unlimited ? unlimited : dimension.length);
  }
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    while (chunk[d] > 1 && element_count(chunk) * bytes > largest_default_chunk) {
      chunk[d] = (chunk[d] + 1) / 2;
    }
  }
  return chunk;
}

}  // namespace

VariableFilters filters_of(const FileVariable& variable, const VariableSettings& settings) {
  VariableFilters filters = settings.filters.value_or(variable.filters);
  filters.fletcher32 = variable.filters.fletcher32;
  return filters;
}

void require_storage(const Settings& settings, const FileContents& contents) {
  for (const FileVariable& variable : contents.variables) {
    const VariableFilters filters = filters_of(variable, settings.of(variable));
    if (filters.other == 0) {
      require_filter(filters.compression);
      continue;
    }
    throw InputError(
        fmt::format("Variable '{}' goes through filter {}, which conversions do not set; choose "
                    "its compression "
                    "with --compress.",
                    variable.name, filters.other));
  }
}

Extent chunk_of(const FileContents& contents, const FileVariable& variable,
                const VariableSettings& settings, bool always) {
  if (variable.dimensions.empty()) return {};
  const bool was_chunked = !variable.stored_chunk.empty();
  const bool has_times = variable.dimensions.size() > 1 &&
                         contents.dimensions[variable.dimensions.front()].is_unlimited;
  const Extent extent = contents.extent_of(variable);
  if (settings.chunk_for && has_times && element_count(extent) > 0) {
    return advised_chunk(*settings.chunk_for, extent, size_of(variable.type));
  }
  Extent chunk = was_chunked ? variable.stored_chunk : default_chunk(contents, variable);
  bool is_chunked = always || was_chunked || contents.is_unlimited(variable) ||
                    filters_of(variable, settings) != VariableFilters{};
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const FileDimension& dimension = contents.dimensions[variable.dimensions[i]];
    const auto rule = settings.chunk.find(dimension.name);
    if (rule == settings.chunk.end()) continue;
    is_chunked = true;
    chunk[i] = dimension.is_unlimited ? rule->second : std::min(rule->second, dimension.length);
  }
  return is_chunked ? chunk : Extent{};
}

std::vector<std::byte> fill_of(const FileVariable& variable) {
  for (const FileAttribute& attribute : variable.attributes) {
    if (attribute.name == "_FillValue" && attribute.type == variable.type &&
        attribute.count() == 1) {
      return attribute.values;
    }
  }
  return default_fill(variable.type);
}

hdf5::Handle creation_of(const FileVariable& variable, const Extent& chunk,
                         const VariableSettings& settings, const std::string& path) {
  hdf5::CreationSettings creation;
  if (chunk.empty()) {
    creation.alloc = H5D_ALLOC_TIME_EARLY;  // its elements are written to its place, all of them
  } else {
    creation.fill = H5D_FILL_TIME_IFSET;
    creation.alloc = H5D_ALLOC_TIME_INCR;
    creation.chunk = chunk;
    const VariableFilters filters = filters_of(variable, settings);
    creation.shuffle = filters.shuffle;
    creation.fletcher32 = filters.fletcher32;
    if (filters.compression == Compression::deflate) creation.deflate = filters.level;
    if (filters.compression == Compression::zstd) {
      creation.filter = {hdf5::zstd_filter, {filters.level}};
    }
  }
  hdf5::Handle list = hdf5::creation_list(creation, path);
  const std::vector<std::byte> fill = fill_of(variable);
  hdf5::check(H5Pset_fill_value(list.get(), hdf5::native_type(variable.type), fill.data()),
              "H5Pset_fill_value", path);
  hdf5::check(H5Pset_attr_creation_order(list.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
              "H5Pset_attr_creation_order", path);
  return list;
}

}  // namespace slabmark::convert
