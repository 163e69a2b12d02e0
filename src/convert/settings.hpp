#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/chunk_advice.hpp"
#include "convert/contents.hpp"
#include "convert/quantize.hpp"

namespace slabmark::convert {

/// Lengths of chunks, by name of the dimension.
using ChunkLengths = std::map<std::string, std::uint64_t>;

/// How a variable is converted.
struct VariableSettings {
  std::optional<VariableFilters> filters;  ///< nothing: as in the source
  ChunkLengths chunk;
  std::optional<ChunkUse> chunk_for;  ///< in place of chunk
  Quantization quantization;
};

/// Settings for the variables whose names match one of the patterns, as shells match them. Those
/// that the rule does not name are those of all variables.
struct VariableRule {
  std::string text;  ///< as the user wrote it
  std::vector<std::string> patterns = {};
  std::optional<VariableFilters> filters = std::nullopt;
  std::optional<ChunkLengths> chunk = std::nullopt;
  std::optional<ChunkUse> chunk_for = std::nullopt;
  std::optional<Quantization> quantization = std::nullopt;

  bool matches(const std::string& variable) const;
};

/// The rules of the user for variables.
struct Settings {
  VariableSettings general;
  std::vector<VariableRule> rules;  ///< the first one that matches counts

  VariableSettings of(const FileVariable& variable) const;
  bool has_storage() const;  ///< whether filters or chunks are set for some variable
};

/// "zstd:3", "deflate:1", "zstd", "deflate" or "none". Throws InputError.
VariableFilters parse_compression(const std::string& text, const std::string& what);
/// "time=1": into `chunk`. Throws InputError.
void parse_chunk(const std::string& text, const std::string& what, ChunkLengths& chunk);
/// "series", "level", "field" or "mix". Throws InputError.
ChunkUse parse_chunk_use(const std::string& text, const std::string& what);
/// "BitRound:10", "GranularBR:3", "BitGroom:3" or "none". Throws InputError.
Quantization parse_quantization(const std::string& text, const std::string& what);
/// "T*,U:compress=zstd:5 shuffle chunk=time=1,lat=90 quantize=BitRound:10": patterns, and options
/// without their dashes. Throws InputError.
VariableRule parse_rule(const std::string& text);

/// Throws InputError for a rule that is the first to match no variable of any file, and for a
/// dimension that none has.
void require_in_use(const Settings& settings, std::span<const FileContents* const> files);

}  // namespace slabmark::convert
