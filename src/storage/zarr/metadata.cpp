#include "storage/zarr/metadata.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::zarr {

namespace {

constexpr bool machine_is_little = std::endian::native == std::endian::little;

Json with_configuration(const std::string& name, const Json& configuration) {
  return Json::object({{"name", name}, {"configuration", configuration}});
}

Json bytes_codec(const ArrayMetadata& array) {
  if (size_of(array.type) == 1) return Json::object({{"name", "bytes"}});
  return with_configuration("bytes",
                            Json::object({{"endian", array.is_little_endian ? "little" : "big"}}));
}

Json chunk_codecs(const ArrayMetadata& array) {
  Json codecs = Json::array();
  codecs.push_back(bytes_codec(array));
  for (const Codec& codec : array.codecs) codecs.push_back(metadata_of(codec));
  return codecs;
}

Json codecs_of(const ArrayMetadata& array) {
  if (!array.is_sharded) return chunk_codecs(array);
  Json index = Json::array();
  index.push_back(with_configuration("bytes", Json::object({{"endian", "little"}})));
  if (array.index_has_checksum) index.push_back(Json::object({{"name", "crc32c"}}));
  Json configuration = Json::object();
  configuration["chunk_shape"] = array.chunk;
  configuration["codecs"] = chunk_codecs(array);
  configuration["index_codecs"] = index;
  configuration["index_location"] = array.index_at_end ? "end" : "start";
  Json codecs = Json::array();
  codecs.push_back(with_configuration("sharding_indexed", configuration));
  return codecs;
}

// Zarr has no characters of one byte.
std::string type_name(ElementType type) {
  return std::string(name_of(type == ElementType::character ? ElementType::uint8 : type));
}

Json fill_of(const ArrayMetadata& array) {
  return with_type(array.type, [&](auto value) {
    if (!array.fill.empty()) std::memcpy(&value, array.fill.data(), sizeof value);
    if constexpr (std::is_same_v<decltype(value), char>) {
      return Json(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_floating_point_v<decltype(value)>) {
      // JSON has no such numbers, and Zarr has these names for them.
      if (std::isnan(value)) return Json("NaN");
      if (std::isinf(value)) return Json(value > 0 ? "Infinity" : "-Infinity");
      return Json(value);
    } else {
      return Json(value);
    }
  });
}

/// Reads metadata, and says which file and member are wrong.
class MetadataParser {
 public:
  explicit MetadataParser(const std::string& path) : path_(path) {}

  ArrayMetadata parse(std::string_view text) {
    try {
      return read(Json::parse(text));
    } catch (const JsonError& error) {
      refuse(error.what());
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(fmt::format(
        "'{}' does not describe an array that Slabmark reads: {}; name a Zarr v3 array with "
        "regular chunks of numbers.",
        path_, reason));
  }

  void require(bool holds, const std::string& reason) const {
    if (!holds) refuse(reason);
  }

  ArrayMetadata read(const Json& json) {
    require(json.is_object(), "it is no JSON object");
    require(json.at("zarr_format") == 3, "its zarr_format is not 3");
    require(json.at("node_type") == "array", "its node_type is not array");
    ArrayMetadata array;
    array.shape = lengths(json.at("shape"), 0);
    const std::string type =
        json.at("data_type").is_string() ? json.at("data_type").get<std::string>() : "an extension";
    const auto found = find_element_type(type);
    require(found && *found != ElementType::character, fmt::format("its data_type is {}", type));
    array.type = *found;
    require(name(json.at("chunk_grid")) == "regular", "its chunk_grid is not regular");
    array.shard = lengths(configuration(json.at("chunk_grid")).at("chunk_shape"), 1);
    require(array.shard.size() == array.shape.size(), "its chunks have other dimensions than it");
    array.chunk = array.shard;
    read_keys(array, json.at("chunk_key_encoding"));
    read_codecs(array, json.at("codecs"));
    read_fill(array, json.at("fill_value"));
    require(!json.contains("storage_transformers") || json.at("storage_transformers").empty(),
            "it has storage transformers");
    require(element_count(array.shard) <= std::numeric_limits<std::int64_t>::max() / 8,
            "its chunks are too large");
    return array;
  }

  static Json configuration(const Json& json) {
    return json.is_object() ? json.value("configuration", Json::object()) : Json::object();
  }

  std::string name(const Json& json) const {
    return json.is_string() ? json.get<std::string>() : json.at("name").get<std::string>();
  }

  Extent lengths(const Json& json, std::uint64_t least) const {
    require(json.is_array(), "a shape is no list of numbers");
    Extent extent;
    for (const Json& length : json) {
      require(length.is_number_unsigned(), "a length is no whole number");
      extent.push_back(length.get<std::uint64_t>());
      require(extent.back() >= least, "a chunk has length 0");
    }
    return extent;
  }

  void read_keys(ArrayMetadata& array, const Json& json) const {
    const std::string kind = name(json);
    require(kind == "default" || kind == "v2", fmt::format("its chunk_key_encoding is '{}'", kind));
    const bool is_default = kind == "default";
    const auto separator = configuration(json).value("separator", is_default ? "/" : ".");
    require(separator == "/" || separator == ".", "the separator of its keys is neither / nor .");
    array.key_begin = is_default ? "c" : "";
    array.separator = separator.front();
  }

  void read_codecs(ArrayMetadata& array, const Json& codecs) const {
    require(codecs.is_array() && !codecs.empty(), "it has no codecs");
    if (name(codecs.front()) != "sharding_indexed") return read_chunk_codecs(array, codecs);
    require(codecs.size() == 1, "codecs follow that of sharding");
    const Json sharding = configuration(codecs.front());
    array.is_sharded = true;
    array.chunk = lengths(sharding.at("chunk_shape"), 1);
    require(array.chunk.size() == array.shard.size(),
            "the chunks of a shard have other dimensions than it");
    for (std::size_t d = 0; d < array.chunk.size(); ++d) {
      require(array.shard[d] % array.chunk[d] == 0, "a shard is no multiple of its chunks");
    }
    const auto location = sharding.value("index_location", "end");
    require(location == "end" || location == "start",
            "the index of its shards is at no known place");
    array.index_at_end = location == "end";
    read_index_codecs(array, sharding.at("index_codecs"));
    read_chunk_codecs(array, sharding.at("codecs"));
  }

  void read_index_codecs(ArrayMetadata& array, const Json& codecs) const {
    require(codecs.is_array() && !codecs.empty() && codecs.size() <= 2 &&
                name(codecs.front()) == "bytes" &&
                configuration(codecs.front()).value("endian", "little") == "little" &&
                (codecs.size() == 1 || name(codecs.back()) == "crc32c"),
            "the index of its shards has other codecs than bytes (little-endian) and crc32c");
    array.index_has_checksum = codecs.size() == 2;
  }

  void read_chunk_codecs(ArrayMetadata& array, const Json& codecs) const {
    require(codecs.is_array() && !codecs.empty(), "its chunks have no codecs");
    require(name(codecs.front()) == "bytes",
            fmt::format("its first codec is '{}', not bytes", name(codecs.front())));
    const auto endian =
        configuration(codecs.front()).value("endian", machine_is_little ? "little" : "big");
    require(endian == "little" || endian == "big", "its bytes are in no known order");
    array.is_little_endian = endian == "little";
    for (std::size_t i = 1; i < codecs.size(); ++i) {
      const std::string codec = name(codecs[i]);
      const std::string reason = codec_unavailable(codec);
      require(reason.empty(), fmt::format("it has the codec '{}', and {}", codec, reason));
      array.codecs.push_back({codec, configuration(codecs[i]).value("level", 0)});
    }
  }

  void read_fill(ArrayMetadata& array, const Json& json) const {
    with_type(array.type, [&](auto value) {
      using Value = decltype(value);
      array.fill.resize(sizeof value);
      if constexpr (std::is_floating_point_v<Value>) {
        value = json.is_string() ? named_fill<Value>(json.get<std::string>()) : json.get<Value>();
      } else {
        require(json.is_number_integer(), "its fill_value is no whole number");
        value = json.get<Value>();
      }
      std::memcpy(array.fill.data(), &value, sizeof value);
      return 0;
    });
  }

  template <class Value>
  Value named_fill(const std::string& text) const {
    using Limits = std::numeric_limits<Value>;
    if (text == "NaN") return Limits::quiet_NaN();
    if (text == "Infinity") return Limits::infinity();
    if (text == "-Infinity") return -Limits::infinity();
    using Bits = std::conditional_t<sizeof(Value) == 8, std::uint64_t, std::uint32_t>;
    Bits bits = 0;
    const char* const end = text.data() + text.size();
    require(text.starts_with("0x") && text.size() == 2 + 2 * sizeof(Value) &&
                std::from_chars(text.data() + 2, end, bits, 16).ptr == end,
            "its fill_value is no number");
    return std::bit_cast<Value>(bits);
  }

  const std::string& path_;
};

}  // namespace

std::string key_of(const ArrayMetadata& array, const Extent& index) {
  std::string key = array.key_begin;
  for (const std::uint64_t one : index) {
    if (!key.empty()) key += array.separator;
    key += std::to_string(one);
  }
  return key.empty() ? "0" : key;  // a scalar of Zarr v2's keys
}

Json metadata_of(const ArrayMetadata& array) {
  Json attributes = Json::object();
  for (const Attribute& attribute : array.attributes) attributes[attribute.name] = attribute.text;
  Json json = Json::object();
  json["shape"] = array.shape;
  json["data_type"] = type_name(array.type);
  json["chunk_grid"] = with_configuration("regular", Json::object({{"chunk_shape", array.shard}}));
  json["chunk_key_encoding"] =
      with_configuration("default", Json::object({{"separator", std::string(1, array.separator)}}));
  json["fill_value"] = fill_of(array);
  json["codecs"] = codecs_of(array);
  json["attributes"] = attributes;
  if (!array.dimensions.empty()) json["dimension_names"] = array.dimensions;
  json["zarr_format"] = 3;
  json["node_type"] = "array";
  json["storage_transformers"] = Json::array();
  return json;
}

ArrayMetadata parse_array(std::string_view text, const std::string& path) {
  return MetadataParser(path).parse(text);
}

}  // namespace slabmark::zarr
