#include "convert/settings.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <limits>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/words.hpp"

namespace slabmark::convert {

namespace {

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

/// One setting of a rule: into the rule.
void parse_setting(const std::string& setting, bool& shuffle, VariableRule& rule) {
  static const std::vector<std::string> names = {"compress", "shuffle", "chunk", "chunk-for",
                                                 "quantize"};
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  const std::string what = fmt::format("{} of --rule '{}'", name, rule.text);
  if (setting == "shuffle") {
    shuffle = true;
  } else if (name == "compress") {
    rule.filters = parse_compression(value, what);
  } else if (name == "quantize") {
    rule.quantization = parse_quantization(value, what);
  } else if (name == "chunk-for") {
    rule.chunk_for = parse_chunk_use(value, what);
  } else if (name == "chunk") {
    rule.chunk.emplace();
    for (const std::string& length : words_of(value, ',')) parse_chunk(length, what, *rule.chunk);
    if (rule.chunk->empty()) parse_chunk(value, what, *rule.chunk);
  } else {
    refuse_word(name, fmt::format("A setting of --rule '{}'", rule.text), names);
  }
}

/// Throws InputError for a name that no dimension has.
void require_dimensions(const ChunkLengths& chunk, const std::string& option,
                        std::span<const FileContents* const> files) {
  for (const auto& [name, length] : chunk) {
    const auto has_it = [&](const FileContents* file) {
      return std::ranges::count(file->dimensions, name, &FileDimension::name) > 0;
    };
    if (std::ranges::any_of(files, has_it)) continue;
    throw InputError(
        fmt::format("{} names '{}', but the input has no such dimension; use the names that ncdump "
                    "-h shows.",
                    option, name));
  }
}

}  // namespace

bool VariableRule::matches(const std::string& variable) const {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), variable.c_str(), 0) == 0;
  });
}

VariableSettings Settings::of(const FileVariable& variable) const {
  VariableSettings settings = general;
  for (const VariableRule& rule : rules) {
    if (!rule.matches(variable.name)) continue;
    if (rule.filters) settings.filters = rule.filters;
    if (rule.chunk || rule.chunk_for) {
      settings.chunk = rule.chunk.value_or(ChunkLengths{});
      settings.chunk_for = rule.chunk_for;
    }
    if (rule.quantization) settings.quantization = *rule.quantization;
    break;
  }
  return settings;
}

bool Settings::has_storage() const {
  const auto has = [](const VariableRule& rule) {
    return rule.filters || rule.chunk || rule.chunk_for;
  };
  return general.filters || !general.chunk.empty() || general.chunk_for ||
         std::ranges::any_of(rules, has);
}

VariableFilters parse_compression(const std::string& text, const std::string& what) {
  struct Kind {
    Compression compression;
    unsigned level, most;
    bool operator==(const Kind&) const = default;
  };
  static const std::vector<Word<Kind>> kinds = {{"zstd", {Compression::zstd, 3, 22}},
                                                {"deflate", {Compression::deflate, 1, 9}},
                                                {"none", {Compression::none, 0, 0}}};
  const std::size_t colon = text.find(':');
  const Kind kind = parse_word(text.substr(0, colon), what, kinds);
  VariableFilters filters{.compression = kind.compression, .level = kind.level};
  if (colon == std::string::npos) return filters;
  if (kind.most == 0) {
    throw InputError(fmt::format(
        "{} has no level for none, but is '{}'; leave out ':' and what follows.", what, text));
  }
  filters.level = static_cast<unsigned>(
      parse_count(text.substr(colon + 1), fmt::format("level of {}", what), 1, kind.most));
  return filters;
}

void parse_chunk(const std::string& text, const std::string& what, ChunkLengths& chunk) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(
        fmt::format("{} is '{}'; write a dimension and a length, such as time=1.", what, text));
  }
  constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();  // HDF5's bound
  chunk[text.substr(0, equals)] = parse_count(
      text.substr(equals + 1), fmt::format("{} of {}", what, text.substr(0, equals)), 1, longest);
}

ChunkUse parse_chunk_use(const std::string& text, const std::string& what) {
  static const std::vector<Word<ChunkUse>> uses = {{"series", ChunkUse::series},
                                                   {"level", ChunkUse::level},
                                                   {"field", ChunkUse::field},
                                                   {"mix", ChunkUse::mix}};
  return parse_word(text, what, uses);
}

Quantization parse_quantization(const std::string& text, const std::string& what) {
  struct Kind {
    Rounding rounding;
    std::uint64_t most;
    bool operator==(const Kind&) const = default;
  };
  static const std::vector<Word<Kind>> kinds = {{"BitRound", {Rounding::bit_round, 52}},
                                                {"GranularBR", {Rounding::granular_bit_round, 15}},
                                                {"BitGroom", {Rounding::bit_groom, 15}}};
  if (text == "none") return {};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw InputError(
        fmt::format("{} is '{}'; write BitRound: and a number of bits, such as BitRound:10, or "
                    "GranularBR: or BitGroom: and a number of digits.",
                    what, text));
  }
  const Kind kind = parse_word(text.substr(0, colon), what, kinds);
  const char* const unit = kind.rounding == Rounding::bit_round ? "bits" : "digits";
  return {kind.rounding,
          parse_count(text.substr(colon + 1), fmt::format("{} of {}", unit, what), 1, kind.most)};
}

VariableRule parse_rule(const std::string& text) {
  VariableRule rule{.text = text};
  const std::size_t colon = text.find(':');
  rule.patterns = words_of(text.substr(0, colon), ',');
  const auto settings =
      words_of(colon == std::string::npos ? std::string() : text.substr(colon + 1), ' ');
  if (rule.patterns.empty() || settings.empty()) {
    throw InputError(
        fmt::format("--rule is '{}'; write names of variables and settings, such as "
                    "'T*,U:compress=zstd:5 chunk=time=1'.",
                    text));
  }
  bool shuffle = false;
  for (const std::string& setting : settings) parse_setting(setting, shuffle, rule);
  if (rule.chunk && rule.chunk_for) {
    throw InputError(
        fmt::format("--rule '{}' has both chunk and chunk-for; leave one of them out.", text));
  }
  if (!shuffle) return rule;
  if (!rule.filters) {
    throw InputError(fmt::format(
        "shuffle of --rule '{}' is of no use alone; add a compression, such as compress=zstd:3.",
        text));
  }
  rule.filters->shuffle = true;
  return rule;
}

void require_in_use(const Settings& settings, std::span<const FileContents* const> files) {
  std::set<std::string> names;
  for (const FileContents* const file : files) {
    for (const FileVariable& variable : file->variables) names.insert(variable.name);
  }
  require_dimensions(settings.general.chunk, "--chunk", files);
  for (const VariableRule& rule : settings.rules) {
    require_dimensions(rule.chunk.value_or(ChunkLengths{}), fmt::format("--rule '{}'", rule.text),
                       files);
    if (std::erase_if(names, [&](const std::string& name) { return rule.matches(name); }) > 0) {
      continue;
    }
    throw InputError(
        fmt::format("--rule '{}' matches no variable of the input that an earlier rule leaves; "
                    "correct its pattern, or take it out.",
                    rule.text));
  }
}

}  // namespace slabmark::convert
