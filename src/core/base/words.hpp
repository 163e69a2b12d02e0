#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slabmark {

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// Throws the InputError for a word that is none of those.
[[noreturn]] void refuse_word(const std::string& text, const std::string& what,
                              const std::vector<std::string>& words);

/// A word, which lasts, and what it stands for. The functions below take a table of them.
template <class Value>
using Word = std::pair<std::string_view, Value>;

template <class Words>
std::vector<std::string> names_of(const Words& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

/// The value behind one of a few words. Throws InputError that lists them.
template <class Words>
auto parse_word(const std::string& text, const std::string& what, const Words& words) {
  for (const auto& [name, value] : words) {
    if (name == text) return value;
  }
  refuse_word(text, what, names_of(words));
}

/// The word for a value, empty if there is none.
template <class Value, class Words>
constexpr std::string_view word_for(const Value& value, const Words& words) {
  for (const auto& [name, meant] : words) {
    if (meant == value) return name;
  }
  return "";
}

}  // namespace slabmark
