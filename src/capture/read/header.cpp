#include "capture/read/header.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

bool is_text(const Json& value) { return value.is_string(); }
bool is_truth(const Json& value) { return value.is_boolean(); }
bool is_length(const Json& value) { return value.is_number_unsigned(); }
bool is_length_or_none(const Json& value) { return is_length(value) || value.is_null(); }
bool is_texts(const Json& value) {
  return value.is_object() &&
         std::ranges::all_of(value.items(), [](const auto& pair) { return is_text(pair.second); });
}
bool is_words(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_text);
}
bool is_type(const Json& value) {
  return is_text(value) || (value.is_object() && is_length(value.value("bytes", Json(0U))) &&
                            is_truth(value.value("addresses", Json(false))));
}
/// An attribute, or a dimension of PnetCDF.
bool is_part(const Json& value) {
  return value.is_object() && is_text(value.value("name", Json(""))) &&
         is_type(value.value("type", Json(""))) && is_length(value.value("count", Json(0U))) &&
         is_length_or_none(value.value("length", Json(0U)));
}
bool is_parts(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_part);
}

/// An object of the header, and what messages call it.
class Entry {
 public:
  Entry(const Json& object, std::string name, const std::string& path)
      : object_(object), name_(std::move(name)), path_(path) {
    if (!object.is_object()) refuse("is no object");
  }

  template <class Is>
  void has(const char* key, const Is& is) const {
    if (!object_.contains(key)) refuse(fmt::format("has no '{}'", key));
    may_have(key, is);
  }
  template <class Is>
  void may_have(const char* key, const Is& is) const {
    if (object_.contains(key) && !is(object_[key])) {
      refuse(fmt::format("has another '{}' than the format allows", key));
    }
  }
  /// A list of `size` such values.
  template <class Is>
  void may_have_list(const char* key, std::size_t size, const Is& is) const {
    may_have(key, [&](const Json& list) {
      return list.is_array() && list.size() == size && std::all_of(list.begin(), list.end(), is);
    });
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(fmt::format("'{}' is damaged: {} of its header {}.", path_, name_, reason));
  }

  const Json& object_;
  std::string name_;
  const std::string& path_;
};

void check_dataset(const Entry& entry, const Json& dataset) {
  entry.has("name", is_text);
  entry.has("type", is_type);
  entry.may_have("filled", is_truth);
  entry.has("extent", [](const Json& value) { return value.is_array(); });
  const std::size_t rank = dataset["extent"].size();
  entry.may_have_list("extent", rank, is_length);
  entry.may_have_list("maximum", rank, is_length_or_none);
  entry.may_have_list("dimensions", rank, is_text);
  entry.may_have_list("chunk", rank, is_length);
}

}  // namespace

void check_header(const Json& header, const std::string& path) {
  const Entry whole(header, "the whole", path);
  for (const char* const key : {"files", "definitions", "ranks"}) {
    whole.has(key, [](const Json& value) { return value.is_array(); });
  }
  for (std::size_t i = 0; i < header["files"].size(); ++i) {
    const Entry file(header["files"][i], fmt::format("file {}", i), path);
    for (const char* const key : {"path", "level"}) file.has(key, is_text);
    file.may_have("ranks", is_length);
    // Flags of PnetCDF, or what fopen is given.
    file.may_have("mode", [](const Json& value) { return is_length(value) || is_text(value); });
    for (const char* const key : {"hints", "hdf5", "named"}) file.may_have(key, is_texts);
    for (const char* const key : {"flags", "amode"}) file.may_have(key, is_words);
    file.may_have("unasked", is_truth);
  }
  for (std::size_t i = 0; i < header["definitions"].size(); ++i) {
    const Json& definition = header["definitions"][i];
    const Entry entry(definition, fmt::format("definition {}", i), path);
    entry.has("kind", is_text);
    for (const char* const key : {"name", "effect", "space", "base64"})
      entry.may_have(key, is_text);
    for (const char* const key : {"hdf5", "named"}) entry.may_have(key, is_texts);
    entry.may_have("type", is_type);
    entry.may_have("attributes", is_parts);
    entry.may_have("object", is_part);
    if (definition["kind"] == "dataset") check_dataset(entry, definition);
    if (definition["kind"] == "structure") entry.may_have("dimensions", is_parts);
    if (definition["kind"] == "call") {
      for (const char* const key : {"name", "effect"}) entry.has(key, is_text);
    }
  }
  for (std::size_t i = 0; i < header["ranks"].size(); ++i) {
    Entry(header["ranks"][i], fmt::format("rank {}", i), path);
  }
}

}  // namespace slabmark
