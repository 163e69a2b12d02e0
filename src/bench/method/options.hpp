#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/method/method.hpp"
#include "core/base/words.hpp"

namespace slabmark {

// Kinds of values: parse() reads one and throws InputError that names `what`, text() writes it so
// that it reads the same, accepted_values() says in a few words what there is.

/// Also true, yes, 1 and their opposites.
struct OnOff {
  std::string accepted_values() const { return "on or off"; }
  std::string text(bool value) const { return value ? "on" : "off"; }
  bool parse(const std::string& text, const std::string& what) const;
};

/// A whole number, also with a suffix (64K).
struct Size {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::string reason = "";  ///< why it is limited, for who asks for more

  std::string accepted_values() const;
  std::string text(std::uint64_t value) const;
  std::uint64_t parse(const std::string& text, const std::string& what) const;
};

/// The same, or a word for none.
struct SizeOr {
  std::string none;
  Size size = {};

  std::string accepted_values() const {
    return none.empty() ? size.accepted_values() : none + ", or " + size.accepted_values();
  }
  std::string text(std::optional<std::uint64_t> value) const {
    return value ? size.text(*value) : none;
  }
  std::optional<std::uint64_t> parse(const std::string& text, const std::string& what) const {
    return text == none ? std::nullopt : std::optional(size.parse(text, what));
  }
};

struct Real {
  std::string accepted_values() const { return "a number"; }
  std::string text(double value) const;
  double parse(const std::string& text, const std::string& what) const;
};

/// One of a few words.
template <class Value>
struct Words {
  std::vector<Word<Value>> words;

  std::string accepted_values() const { return alternatives(names_of(words)); }
  std::string text(const Value& value) const { return std::string(word_for(value, words)); }
  Value parse(const std::string& text, const std::string& what) const {
    return parse_word(text, what, words);
  }
};

/// The options of methods whose values are in one Struct. Each is stated here and nowhere else: its
/// default is what a new Struct holds.
template <class Struct>
class OptionTable {
 private:
  template <class Member>
  using Value = std::remove_cvref_t<std::invoke_result_t<Member, Struct&>>;
  template <class Number>
  using KindOf = std::conditional_t<std::is_same_v<Number, bool>, OnOff,
                                    std::conditional_t<std::is_same_v<Number, double>, Real, Size>>;

 public:
  /// `member` points to the one that holds the value, or is a function of a Struct that returns it.
  template <class Member, class Kind = KindOf<Value<Member>>>
  OptionTable& add(const std::string& name, Member member, std::string help, Kind kind = {}) {
    const auto parse = [kind, what = "Option " + name](const std::string& text) {
      return static_cast<Value<Member>>(kind.parse(text, what));
    };
    Struct defaults;
    rows_.push_back(
        {{name, kind.text(std::invoke(member, defaults)), std::move(help), kind.accepted_values(),
          [=](const std::string& text) { return kind.text(parse(text)); }},
         [=](Struct& values, const std::string& text) {
           std::invoke(member, values) = parse(text);
         }});
    return *this;
  }

  /// The others, or only these.
  OptionTable without(const std::vector<std::string>& names) const { return chosen(names, false); }
  OptionTable only(const std::vector<std::string>& names) const { return chosen(names, true); }

  /// Throws InputError for a value that its option does not take.
  Struct read(const Settings& settings) const {
    Struct values;
    for (const auto& row : rows_) {
      const auto given = settings.options.find(row.info.name);
      if (given != settings.options.end()) row.set(values, given->second);
    }
    return values;
  }

  operator std::vector<OptionInfo>() const {
    std::vector<OptionInfo> all;
    for (const auto& row : rows_) all.push_back(row.info);
    return all;
  }

 private:
  struct Row {
    OptionInfo info;
    std::function<void(Struct&, const std::string&)> set;
  };

  OptionTable chosen(const std::vector<std::string>& names, bool named) const {
    OptionTable table = *this;
    std::erase_if(table.rows_, [&](const Row& row) {
      return (std::find(names.begin(), names.end(), row.info.name) != names.end()) != named;
    });
    return table;
  }

  std::vector<Row> rows_;
};

}  // namespace slabmark
