#include "convert/zarr_source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "convert/zarr_attributes.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/zarr/array_reader.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark::convert {

namespace {

namespace fs = std::filesystem;

/// Finds the structure of a store.
class StoreStructure {
 public:
  StoreStructure(const std::string& path, const FileContents& like) : path_(path) {
    for (const FileVariable& variable : like.variables) order_.push_back(variable.name);
    contents_.dimensions = like.dimensions;
    for (FileDimension& dimension : contents_.dimensions) dimension.is_unlimited = false;
  }

  FileContents read(std::vector<zarr::ArrayReader>& readers) {
    const Json root = json_of(path_);
    if (root.value("node_type", "") != "group") {
      throw InputError(
          fmt::format("Cannot convert '{}': it is an array; name the store that it is in.", path_));
    }
    contents_.attributes =
        attributes_of_zarr(member(root, "attributes"), std::nullopt, fmt::format("'{}'", path_));
    for (const std::string& name : names()) {
      zarr::ArrayReader& reader = readers.emplace_back(path_ + '/' + name);
      contents_.variables.push_back(variable_of(name, reader.array()));
    }
    return std::move(contents_);
  }

 private:
  Json json_of(const std::string& folder) const {
    const auto json = Json::parse_if_valid(zarr::read_text(folder + "/zarr.json"));
    if (json && json->is_object()) return *json;
    throw InputError(
        fmt::format("'{}/zarr.json' is no JSON object; write the store again.", folder));
  }

  static Json member(const Json& json, const char* name) {
    const Json value = json.value(name, Json::object());
    return value.is_object() ? value : Json::object();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename();
      if (!fs::exists(entry.path() / "zarr.json")) continue;
      if (json_of(entry.path()).value("node_type", "") == "group") {
        throw InputError(fmt::format(
            "Cannot convert '{}': '{}' is a group, and conversions handle arrays outside groups. "
            "Name the group as the input.",
            path_, name));
      }
      found.push_back(name);
    }
    std::ranges::sort(found, {}, [&](const std::string& name) {
      const auto place = std::ranges::find(order_, name) - order_.begin();
      return std::pair(place, name);
    });
    return found;
  }

  FileVariable variable_of(const std::string& name, const zarr::ArrayMetadata& array) {
    const Json json = json_of(path_ + '/' + name);
    const std::string owner = fmt::format("variable '{}'", name);
    FileVariable variable{.name = name, .type = array.type};
    variable.attributes = attributes_of_zarr(member(json, "attributes"), array.type, owner);
    variable.stored_chunk = array.shard;
    variable.filters = filters_of(array);
    const Json names = json.value("dimension_names", Json::array());
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
      const bool is_named = names.is_array() && d < names.size() && names.at(d).is_string();
      const std::string dimension =
          is_named ? names.at(d).get<std::string>() : fmt::format("phony_dim_{}", array.shape[d]);
      variable.dimensions.push_back(dimension_called(dimension, array.shape[d], owner));
    }
    return variable;
  }

  std::size_t dimension_called(const std::string& name, std::uint64_t length,
                               const std::string& owner) {
    const auto found = std::ranges::find(contents_.dimensions, name, &FileDimension::name);
    if (found == contents_.dimensions.end()) {
      contents_.dimensions.push_back({name, length, false});
      return contents_.dimensions.size() - 1;
    }
    if (found->length != length) {
      throw InputError(fmt::format(
          "Cannot convert '{}': dimension '{}' of {} has the length {}, and {} in other "
          "arrays; write the store again.",
          path_, name, owner, length, found->length));
    }
    return static_cast<std::size_t>(found - contents_.dimensions.begin());
  }

  static VariableFilters filters_of(const zarr::ArrayMetadata& array) {
    VariableFilters filters;
    for (const zarr::Codec& codec : array.codecs) {
      if (codec.name == "crc32c") filters.fletcher32 = true;
      if (codec.name == "crc32c") continue;
      const bool is_zstd = codec.name == "zstd";
      filters.compression = is_zstd ? Compression::zstd : Compression::deflate;
      filters.level = static_cast<unsigned>(std::clamp(codec.level, 1, is_zstd ? 22 : 9));
    }
    return filters;
  }

  const std::string& path_;
  std::vector<std::string> order_;
  FileContents contents_;
};

class ZarrSource : public Source {
 public:
  ZarrSource(const Comm& comm, const std::string& path, const FileContents& like) {
    agreed(comm, [&] {
      try {
        contents_ = StoreStructure(path, like).read(readers_);
      } catch (const JsonError& error) {
        throw InputError(
            fmt::format("The metadata of '{}' are not those of a store: {}; write the store again.",
                        path, error.what()));
      }
    });
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    if (last_ != variable) readers_[last_].forget();
    last_ = variable;
    readers_[variable].read(box.start, box.block, memory);
  }

  bool reads_in_threads() const override { return true; }

 private:
  std::vector<zarr::ArrayReader> readers_;
  std::size_t last_ = 0;  ///< that was read, and may keep shards
};

}  // namespace

bool is_zarr(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::exists(fs::path(path) / "zarr.json", error);
}

std::unique_ptr<Source> open_zarr(const Comm& comm, const std::string& path,
                                  const FileContents& like) {
  return std::make_unique<ZarrSource>(comm, path, like);
}

}  // namespace slabmark::convert
