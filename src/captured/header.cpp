#include "captured/header.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

namespace {

using nlohmann::json;

bool is_text(const json& value) { return value.is_string(); }
bool is_length(const json& value) { return value.is_number_unsigned(); }
bool is_length_or_none(const json& value) { return is_length(value) || value.is_null(); }
bool is_texts(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), is_text);
}
bool is_type(const json& value) {
  return is_text(value) || (value.is_object() && is_length(value.value("bytes", json(0U))));
}

/// An object of the header, and what messages call it.
class Entry {
 public:
  Entry(const json& object, std::string name, const std::string& path)
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
    may_have(key, [&](const json& list) {
      return list.is_array() && list.size() == size && std::all_of(list.begin(), list.end(), is);
    });
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(fmt::format("'{}' is damaged: {} of its header {}.", path_, name_, reason));
  }

  const json& object_;
  std::string name_;
  const std::string& path_;
};

void check_dataset(const Entry& entry, const json& dataset) {
  entry.has("extent", [](const json& value) { return value.is_array(); });
  const std::size_t rank = dataset["extent"].size();
  entry.may_have_list("extent", rank, is_length);
  entry.may_have_list("maximum", rank, is_length_or_none);
  entry.may_have_list("dimensions", rank, is_text);
  entry.may_have_list("chunk", rank, is_length);
}

}  // namespace

void check_header(const json& header, const std::string& path) {
  const Entry whole(header, "the whole", path);
  for (const char* const key : {"files", "definitions", "ranks"}) {
    whole.has(key, [](const json& value) { return value.is_array(); });
  }
  for (std::size_t i = 0; i < header["files"].size(); ++i) {
    const Entry file(header["files"][i], fmt::format("file {}", i), path);
    file.may_have("path", is_text);
    file.may_have("level", is_text);
    file.may_have("hints", is_texts);
    file.may_have("unasked", [](const json& value) { return value.is_boolean(); });
  }
  for (std::size_t i = 0; i < header["definitions"].size(); ++i) {
    const json& definition = header["definitions"][i];
    const Entry entry(definition, fmt::format("definition {}", i), path);
    entry.has("kind", is_text);
    entry.may_have("name", is_text);
    entry.may_have("effect", is_text);
    entry.may_have("type", is_type);
    if (definition["kind"] == "dataset") check_dataset(entry, definition);
  }
  for (std::size_t i = 0; i < header["ranks"].size(); ++i) {
    Entry(header["ranks"][i], fmt::format("rank {}", i), path);
  }
}

}  // namespace slabmark
