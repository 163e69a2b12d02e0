#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"
#include "storage/zarr/metadata.hpp"

namespace slabmark::zarr {

/// An array and its name in a store, in which slashes end the names of groups.
struct NamedArray {
  std::string name;
  ArrayMetadata array;
};

/// Why an array cannot have the name in a store, as the end of a sentence; empty: it can.
std::string unfit_name(const std::string& name);

/// Makes the directory of a store, which must not exist yet.
void create_store(const std::string& path);

/// Writes the metadata of all arrays and of the groups that they are in. That of the root has all
/// the rest in it, too (consolidated metadata), so that readers open one file.
void write_metadata(const std::string& path, std::span<const NamedArray> arrays,
                    std::span<const Attribute> attributes);

/// The same of what is JSON already, and has attributes of any kind.
struct NamedJson {
  std::string name;
  Json json;
};
void write_metadata(const std::string& path, std::span<const NamedJson> arrays,
                    const Json& attributes);

/// Waits until the metadata is durable.
void sync_metadata(const std::string& path, std::span<const NamedArray> arrays);

/// The contents of a small file. Throws IoError where it cannot be read.
std::string read_text(const std::string& path);

/// All files in a store; none where none is at `path`.
std::vector<std::string> files_of(const std::string& path);

}  // namespace slabmark::zarr
