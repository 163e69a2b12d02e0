#pragma once

#include <string>
#include <utility>
#include <vector>

namespace slabmark {

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// Throws the InputError for a word that is none of those.
[[noreturn]] void refuse_word(const std::string& text, const std::string& what,
                              const std::vector<std::string>& words);

template <class Value>
std::vector<std::string> names_of(const std::vector<std::pair<std::string, Value>>& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

/// The value behind one of a few words. Throws InputError that lists them.
template <class Value>
Value parse_word(const std::string& text, const std::string& what,
                 const std::vector<std::pair<std::string, Value>>& words) {
  for (const auto& [name, value] : words) {
    if (name == text) return value;
  }
  refuse_word(text, what, names_of(words));
}

/// The word for a value, empty if there is none.
template <class Value>
std::string word_for(const Value& value, const std::vector<std::pair<std::string, Value>>& words) {
  for (const auto& [name, meant] : words) {
    if (meant == value) return name;
  }
  return "";
}

}  // namespace slabmark
