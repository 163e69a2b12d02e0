#include "core/json/json.hpp"

#include <algorithm>
#include <concepts>
#include <ostream>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace slabmark {

namespace {

/// Values within values beyond this would need more stack than a thread may have.
constexpr std::size_t most_nested = 1000;

/// Makes a Json of the events of nlohmann-json's parser.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_); }
  const std::string& error() const { return error_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(value); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    error_ = error.what();
    return false;
  }

 private:
  Json& place() {
    if (open_.empty()) return root_;
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_];
    parent.push_back(nullptr);
    return *(parent.end() - 1);
  }
  bool add(Json value) {
    place() = std::move(value);
    return true;
  }
  bool open(Json empty) {
    if (open_.size() == most_nested) {
      error_ = "values are nested too deeply";
      return false;
    }
    Json& made = place();
    made = std::move(empty);
    open_.push_back(&made);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  ///< from the root to the innermost
  std::string key_;
  std::string error_;
};

/// Values of one kind as the library writes them.
template <class Scalar>
std::string text_of(const Scalar& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> elements) {
  const bool is_pairs = std::all_of(elements.begin(), elements.end(), [](const Json& element) {
    return element.is_array() && element.size() == 2 && element[0].is_string();
  });
  *this = is_pairs ? object(elements) : array(elements);
}

Json Json::array(std::initializer_list<Json> elements) {
  Json json;
  json.value_ = Array(elements);
  return json;
}

Json Json::object(std::initializer_list<Json> members) {
  Json json;
  auto& object = json.value_.emplace<Object>();
  for (const Json& pair : members) object.emplace(pair[0].get<std::string>(), pair[1]);
  return json;
}

Json Json::parse(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) throw JsonError(builder.error());
  return builder.take();
}

std::optional<Json> Json::parse_if_valid(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) return std::nullopt;
  return builder.take();
}

std::string Json::dump() const {
  std::string text;
  append_to(text);
  return text;
}

void Json::append_to(std::string& text) const {
  const char* separator = "";
  if (is_array()) {
    text += '[';
    for (const Json& element : *this) {
      text += std::exchange(separator, ",");
      element.append_to(text);
    }
    text += ']';
  } else if (is_object()) {
    text += '{';
    for (const auto& [key, value] : items()) {
      text += std::exchange(separator, ",") + text_of(key) + ':';
      value.append_to(text);
    }
    text += '}';
  } else {
    std::visit(
        [&](const auto& scalar) {
          using Scalar = std::remove_cvref_t<decltype(scalar)>;
          if constexpr (!std::same_as<Scalar, Array> && !std::same_as<Scalar, Object>) {
            text += text_of(scalar);
          }
        },
        value_);
  }
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) refuse("an object");
  const Json* const found = find(key);
  if (found == nullptr) throw JsonError("there is no '" + std::string(key) + "'");
  return *found;
}

Json& Json::member(std::string_view key) {
  Object& object = items();
  const auto found = object.find(key);
  return found != object.end() ? found->second : object[std::string(key)];
}

const Json* Json::find(std::string_view key) const {
  const auto* const object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &found->second;
}

void Json::erase(std::string_view key) {
  Object& object = items();
  if (const auto found = object.find(key); found != object.end()) object.erase(found);
}

void Json::merge(const Json& other) {
  for (const auto& [key, value] : other.items()) {
    Json& mine = member(key);
    if (mine.is_object() && value.is_object()) {
      mine.merge(value);
    } else {
      mine = value;
    }
  }
}

const Json::Object& Json::items() const {
  static const Object none;
  if (is_null()) return none;
  if (!is_object()) refuse("an object");
  return std::get<Object>(value_);
}

Json::Object& Json::items() {
  if (is_null()) value_.emplace<Object>();
  if (!is_object()) refuse("an object");
  return std::get<Object>(value_);
}

const Json::Array& Json::as_array() const {
  static const Array none;
  if (is_null()) return none;
  if (!is_array()) refuse("an array");
  return std::get<Array>(value_);
}

const Json& Json::element(std::size_t index) const {
  const Array& elements = as_array();
  if (index >= elements.size()) {
    throw JsonError("there is no element " + std::to_string(index));
  }
  return elements[index];
}

void Json::push_back(Json element) {
  if (is_null()) value_.emplace<Array>();
  if (!is_array()) refuse("an array");
  std::get<Array>(value_).push_back(std::move(element));
}

std::size_t Json::size() const {
  if (is_array()) return std::get<Array>(value_).size();
  if (is_object()) return std::get<Object>(value_).size();
  return is_null() ? 0 : 1;
}

void Json::set(bool value) { value_ = value; }
void Json::set(std::int64_t value) { value_ = value; }
void Json::set(std::uint64_t value) { value_ = value; }
void Json::set(double value) { value_ = value; }
void Json::set(std::string value) { value_ = std::move(value); }

bool Json::as_bool() const {
  if (!is_boolean()) refuse("true or false");
  return std::get<bool>(value_);
}

double Json::as_double() const {
  if (is<double>()) return std::get<double>(value_);
  const std::uint64_t bits = as_integer();
  return is<std::int64_t>() ? static_cast<double>(static_cast<std::int64_t>(bits))
                            : static_cast<double>(bits);
}

std::uint64_t Json::as_integer() const {
  if (is<std::uint64_t>()) return std::get<std::uint64_t>(value_);
  if (is<std::int64_t>()) return static_cast<std::uint64_t>(std::get<std::int64_t>(value_));
  if (!is<double>()) refuse("a number");
  const double value = std::get<double>(value_);
  return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                   : static_cast<std::uint64_t>(value);
}

const std::string& Json::as_text() const {
  if (!is_string()) refuse("a text");
  return std::get<std::string>(value_);
}

void Json::refuse(const char* expected) const {
  static constexpr const char* kinds[] = {"null",     "a truth value", "a number", "a number",
                                          "a number", "a text",        "an array", "an object"};
  throw JsonError(std::string("there is ") + kinds[value_.index()] + " in place of " + expected);
}

bool operator==(const Json& a, const Json& b) {
  const auto is_integer = [](const Json& json) {
    return json.is<std::int64_t>() || json.is<std::uint64_t>();
  };
  const auto is_number = [&](const Json& json) { return is_integer(json) || json.is<double>(); };
  if (!is_number(a) || !is_number(b)) return a.value_ == b.value_;
  if (is_integer(a) && is_integer(b)) return a.as_integer() == b.as_integer();
  return a.as_double() == b.as_double();
}

std::ostream& operator<<(std::ostream& stream, const Json& json) { return stream << json.dump(); }

}  // namespace slabmark
