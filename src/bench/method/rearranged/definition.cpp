#include "bench/method/rearranged/definition.hpp"

#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/method/raw/raw_layout.hpp"

namespace slabmark {

namespace {

/// Words one after another, so that different lists of words are different texts.
class WordList {
 public:
  void add(std::string_view word) { text_ += fmt::format("{}:{}", word.size(), word); }
  void add(std::uint64_t number) { text_ += fmt::format("{},", number); }
  void add(std::span<const Attribute> attributes) {
    add(attributes.size());
    for (const auto& [name, text] : attributes) {
      add(name);
      add(text);
    }
  }
  void add(const Dataset& dataset) {
    add(dataset.name);
    add(static_cast<std::uint64_t>(dataset.type));
    add(dataset.dimensions.size());
    for (const auto& [name, length] : dataset.dimensions) {
      add(name);
      add(length);
    }
    add(dataset.has_time ? 1 : 0);
    add(dataset.chunk ? 1 + dataset.chunk->size() : 0);
    for (const std::uint64_t length : dataset.chunk.value_or(Extent())) add(length);
    add(dataset.attributes);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string definition_key(const Pattern& pattern, const Settings& settings) {
  WordList words;
  words.add(settings.options.size());
  for (const auto& [name, value] : settings.options) {
    words.add(name);
    words.add(value);
  }
  words.add(settings.hints.size());
  for (const auto& [name, value] : settings.hints) {
    words.add(name);
    words.add(value);
  }
  words.add(record_count(pattern));
  words.add(pattern.attributes);
  for (const Dataset& dataset : pattern.datasets) words.add(dataset);
  return words.take();
}

}  // namespace slabmark
