#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace slabmark {

class Json;

/// A text is not JSON, or a value is of another kind than the caller needs.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Types with a function `void to_json(Json&, const T&)` or `void from_json(const Json&, T&)` in
/// their namespace.
template <class T>
concept HasToJson = requires(Json& json, const T& value) { to_json(json, value); };
template <class T>
concept HasFromJson = requires(const Json& json, T& value) { from_json(json, value); };

template <class T>
concept JsonNumber = std::is_arithmetic_v<T> && !std::same_as<T, char>;
template <class T>
concept JsonRange = requires(const T& values) { values.begin() != values.end(); };
template <class T>
concept JsonText = std::convertible_to<T, std::string_view> && !std::same_as<T, std::nullptr_t>;

/// A JSON value, which is used as one of nlohmann-json, but compiled in a fraction of the time.
/// That library reads and writes the text. An initializer list makes an object if all its elements
/// are pairs of a name and a value, else an array. Members of an object are sorted by their names.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() noexcept;  ///< null
  Json(std::nullptr_t) noexcept;
  Json(std::initializer_list<Json> elements);
  template <JsonNumber T>
  Json(T number) : Json() {
    if constexpr (std::same_as<T, bool>) {
      set(number);
    } else if constexpr (std::floating_point<T>) {
      set(static_cast<double>(number));
    } else if constexpr (std::signed_integral<T>) {
      set(static_cast<std::int64_t>(number));
    } else {
      set(static_cast<std::uint64_t>(number));
    }
  }
  template <JsonText T>
  Json(const T& text) : Json() {
    set(std::string(text));
  }
  template <HasToJson T>
  Json(const T& value) : Json() {
    to_json(*this, value);
  }
  /// An object of a map whose keys are texts, an array of any other range.
  template <JsonRange T>
    requires(!JsonText<T> && !HasToJson<T> && !std::same_as<T, Json>)
  Json(const T& values) : Json() {
    if constexpr (requires { typename T::mapped_type; }) {
      *this = object();
      for (const auto& [key, value] : values) (*this)[key] = Json(value);
    } else {
      *this = array();
      for (const auto& value : values) push_back(Json(value));
    }
  }

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> elements = {});
  static Json object(std::initializer_list<Json> members = {});

  /// Throws JsonError for a text that is not JSON.
  static Json parse(std::string_view text);
  static std::optional<Json> parse_if_valid(std::string_view text);
  /// One line without blanks. Bytes that are not UTF-8 become U+FFFD; numbers that JSON does not
  /// have become null.
  std::string dump() const;

  bool is_null() const { return is<std::nullptr_t>(); }
  bool is_boolean() const { return is<bool>(); }
  /// An integer without a sign: one that was read, or came from an unsigned type.
  bool is_number_unsigned() const { return is<std::uint64_t>(); }
  bool is_number_integer() const { return is<std::int64_t>() || is<std::uint64_t>(); }
  bool is_number_float() const { return is<double>(); }
  bool is_string() const { return is<std::string>(); }
  bool is_array() const { return is<Array>(); }
  bool is_object() const { return is<Object>(); }

  /// The value as a bool, a number, a text, a vector of such or a type with from_json(). Throws
  /// JsonError if it is of another kind.
  template <class T>
  T get() const {
    if constexpr (std::same_as<T, Json>) {
      return *this;
    } else if constexpr (std::same_as<T, bool>) {
      return as_bool();
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(as_double());
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(as_integer());
    } else if constexpr (std::same_as<T, std::string>) {
      return as_text();
    } else if constexpr (HasFromJson<T>) {
      T value;
      from_json(*this, value);
      return value;
    } else {
      T values;
      for (const Json& element : as_array()) {
        values.push_back(element.get<typename T::value_type>());
      }
      return values;
    }
  }
  template <class T>
    requires(JsonNumber<T> || std::same_as<T, std::string>)
  operator T() const {
    return get<T>();
  }

  // Members of an object. A null becomes an object when a member is set.
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  template <JsonText Key>
  Json& operator[](const Key& key) {
    return member(key);
  }
  template <JsonText Key>
  const Json& operator[](const Key& key) const {
    return at(key);
  }
  const Json& at(std::string_view key) const;  ///< throws JsonError if it is missing
  /// The member, or `default_value` if it is missing.
  template <class T>
  auto value(std::string_view key, const T& default_value) const {
    using Wanted = std::conditional_t<JsonText<T>, std::string, T>;
    const Json* const found = find(key);
    return found == nullptr ? Wanted(default_value) : found->get<Wanted>();
  }
  void erase(std::string_view key);
  /// Sets the members of another object, those that are objects in both by their members.
  void merge(const Json& other);
  const Object& items() const;  ///< a null has none
  Object& items();

  // Elements of an array. A null becomes an array when an element is added, and has none before.
  template <std::integral Index>
  Json& operator[](Index index) {
    return const_cast<Json&>(at(index));
  }
  template <std::integral Index>
  const Json& operator[](Index index) const {
    return at(index);
  }
  template <std::integral Index>
  const Json& at(Index index) const {
    return element(static_cast<std::size_t>(index));
  }
  const Json& front() const { return element(0); }
  const Json& back() const { return element(size() - 1); }
  void push_back(Json element);
  Json* begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
  Json* end() { return const_cast<Json*>(std::as_const(*this).end()); }
  const Json* begin() const { return as_array().data(); }
  const Json* end() const { return as_array().data() + as_array().size(); }

  std::size_t size() const;  ///< elements or members; 0 of a null, 1 of other values
  bool empty() const { return size() == 0; }

  /// Numbers are equal if their values are, of whichever type.
  friend bool operator==(const Json& a, const Json& b);
  template <class T>
    requires(JsonNumber<T> || JsonText<T>)
  friend bool operator==(const Json& json, const T& value) {
    return json == Json(value);
  }
  friend std::ostream& operator<<(std::ostream& stream, const Json& json);

 private:
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Object>;

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  void set(bool value);
  void set(std::int64_t value);
  void set(std::uint64_t value);
  void set(double value);
  void set(std::string value);
  bool as_bool() const;
  double as_double() const;
  std::uint64_t as_integer() const;  ///< modulo 2^64, as static_cast makes it of negative ones
  const std::string& as_text() const;
  const Array& as_array() const;       ///< of a null: an empty one
  Json& member(std::string_view key);  ///< added if it is missing
  const Json* find(std::string_view key) const;
  const Json& element(std::size_t index) const;
  void append_to(std::string& text) const;
  [[noreturn]] void refuse(const char* expected) const;

  Value value_;
};

}  // namespace slabmark
