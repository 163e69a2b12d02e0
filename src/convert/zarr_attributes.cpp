#include "convert/zarr_attributes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

constexpr std::string_view fill_attribute = "_FillValue";
constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool has_point(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64;
}

/// The double of eight little-endian bytes in base64, which leaves out the last letter's "=".
std::string base64_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::vector<unsigned> bytes;
  for (unsigned i = 0; i < sizeof bits; ++i) bytes.push_back(bits >> (8 * i) & 0xff);
  bytes.push_back(0);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned three = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
    for (const int shift : {18, 12, 6, 0}) text += base64_letters[three >> shift & 63];
  }
  text.back() = '=';
  return text;
}

std::optional<double> double_of(const std::string& base64) {
  constexpr std::size_t letters = 12;
  if (base64.size() != letters || base64.back() != '=') return std::nullopt;
  std::uint64_t bits = 0;
  unsigned have = 0, buffer = 0, byte = 0;
  for (const char letter : base64.substr(0, letters - 1)) {
    const std::size_t value = base64_letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    buffer = buffer << 6 | static_cast<unsigned>(value);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    if (byte < sizeof bits) bits |= std::uint64_t{buffer >> have & 0xff} << (8 * byte++);
  }
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// JSON's text of other bytes would have other ones in their place.
bool is_utf8(const std::string& text) { return Json::parse(Json(text).dump()) == Json(text); }

/// Makes the JSON of one owner's attributes.
class Writer {
 public:
  explicit Writer(const std::string& owner) : owner_(owner) {}

  Json value_of(const FileAttribute& attribute) const {
    if (!attribute.strings.empty()) {
      Json list = Json::array();
      for (const std::string& text : attribute.strings) list.push_back(text_of(attribute, text));
      return list;
    }
    if (attribute.type == ElementType::character) {
      return text_of(attribute, {reinterpret_cast<const char*>(attribute.values.data()),
                                 attribute.values.size()});
    }
    if (attribute.name == fill_attribute && has_point(attribute.type) && attribute.count() == 1) {
      return base64_of(with_type(attribute.type, [&](auto value) {
        std::memcpy(&value, attribute.values.data(), sizeof value);
        return static_cast<double>(value);
      }));
    }
    const Json numbers = numbers_of(attribute);
    return attribute.count() == 1 ? numbers.front() : numbers;
  }

 private:
  [[noreturn]] void refuse(const FileAttribute& attribute, const char* reason) const {
    throw InputError(
        fmt::format("Attribute '{}' of {} cannot be in a Zarr store: it has {}; change it with "
                    "ncatted.",
                    attribute.name, owner_, reason));
  }

  Json text_of(const FileAttribute& attribute, const std::string& text) const {
    if (!is_utf8(text)) refuse(attribute, "text that is not UTF-8");
    return text;
  }

  Json numbers_of(const FileAttribute& attribute) const {
    return with_type(attribute.type, [&](auto value) {
      Json list = Json::array();
      for (std::uint64_t i = 0; i < attribute.count(); ++i) {
        std::memcpy(&value, attribute.values.data() + i * sizeof value, sizeof value);
        if constexpr (std::is_floating_point_v<decltype(value)>) {
          if (!std::isfinite(value)) refuse(attribute, "a number that is not finite");
          list.push_back(static_cast<double>(value));
        } else if constexpr (std::is_unsigned_v<decltype(value)>) {
          list.push_back(static_cast<std::uint64_t>(value));
        } else {
          list.push_back(static_cast<std::int64_t>(value));
        }
      }
      return list;
    });
  }

  const std::string& owner_;
};

/// Makes the attributes of one owner's JSON.
class Reader {
 public:
  Reader(std::optional<ElementType> variable, const std::string& owner)
      : variable_(variable), owner_(owner) {}

  FileAttribute attribute_of(const std::string& name, const Json& json) const {
    FileAttribute made{.name = name};
    if (name == fill_attribute && variable_) return fill_of(made, json);
    if (json.is_string()) {
      put_text(made, json.get<std::string>());
      return made;
    }
    const std::vector<Json> list =
        json.is_array() ? std::vector<Json>(json.begin(), json.end()) : std::vector<Json>{json};
    const auto all = [&](const auto& is) { return std::ranges::all_of(list, is); };
    if (!list.empty() && all([](const Json& one) { return one.is_string(); })) {
      for (const Json& one : list) made.strings.push_back(one.get<std::string>());
    } else if (all([](const Json& one) { return one.is_number_integer(); })) {
      put_whole_numbers(made, list);
    } else if (all([](const Json& one) {
                 return one.is_number_integer() || one.is_number_float();
               })) {
      made.type = ElementType::float64;
      for (const Json& one : list) put(made, one.get<double>());
    } else {
      refuse(name);
    }
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& name) const {
    throw InputError(
        fmt::format("Attribute '{}' of {} is neither text nor numbers, and netCDF has no others; "
                    "remove it from its zarr.json.",
                    name, owner_));
  }

  static void put_text(FileAttribute& made, const std::string& text) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    made.values.assign(bytes, bytes + text.size());
  }

  template <class Number>
  static void put(FileAttribute& made, Number number) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
    made.values.insert(made.values.end(), bytes, bytes + sizeof number);
  }

  void put_whole_numbers(FileAttribute& made, const std::vector<Json>& list) const {
    using Narrow = std::numeric_limits<std::int32_t>;
    const auto is_large = [](const Json& one) {
      return one.is_number_unsigned() && one.get<std::uint64_t>() >= std::uint64_t{1} << 63;
    };
    const auto is_narrow = [&](const Json& one) {
      return !is_large(one) && one.get<std::int64_t>() >= Narrow::min() &&
             one.get<std::int64_t>() <= Narrow::max();
    };
    if (std::ranges::any_of(list, is_large)) {
      if (!std::ranges::all_of(list, [](const Json& one) { return one.is_number_unsigned(); })) {
        refuse(made.name);
      }
      made.type = ElementType::uint64;
      for (const Json& one : list) put(made, one.get<std::uint64_t>());
    } else if (std::ranges::all_of(list, is_narrow)) {
      made.type = ElementType::int32;
      for (const Json& one : list) put(made, static_cast<std::int32_t>(one.get<std::int64_t>()));
    } else {
      made.type = ElementType::int64;
      for (const Json& one : list) put(made, one.get<std::int64_t>());
    }
  }

  FileAttribute fill_of(FileAttribute& made, const Json& json) const {
    made.type = *variable_;
    with_type(*variable_, [&](auto value) {
      using Value = decltype(value);
      if constexpr (std::is_floating_point_v<Value>) {
        const auto coded = json.is_string() ? double_of(json.get<std::string>()) : std::nullopt;
        if (!coded && !json.is_number_integer() && !json.is_number_float()) refuse(made.name);
        put(made, static_cast<Value>(coded ? *coded : json.get<double>()));
      } else {
        if (!json.is_number_integer()) refuse(made.name);
        const auto value_there = json.get<Value>();
        if (Json(static_cast<
                 std::conditional_t<std::is_signed_v<Value>, std::int64_t, std::uint64_t>>(
                value_there)) != json) {
          refuse(made.name);
        }
        put(made, value_there);
      }
      return 0;
    });
    return made;
  }

  std::optional<ElementType> variable_;
  const std::string& owner_;
};

}  // namespace

Json zarr_attributes(const std::vector<FileAttribute>& attributes, const std::string& owner) {
  Json json = Json::object();
  for (const FileAttribute& one : attributes) json[one.name] = Writer(owner).value_of(one);
  return json;
}

std::vector<FileAttribute> attributes_of_zarr(const Json& json, std::optional<ElementType> variable,
                                              const std::string& owner) {
  std::vector<FileAttribute> attributes;
  for (const auto& [name, value] : json.items()) {
    attributes.push_back(Reader(variable, owner).attribute_of(name, value));
  }
  return attributes;
}

}  // namespace slabmark::convert
