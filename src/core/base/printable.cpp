#include "core/base/printable.hpp"

#include <cstdint>

namespace slabmark {

namespace {

constexpr std::size_t longest = 2000;
constexpr std::size_t kept_of_the_end = 500;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none, or with one that
/// controls the terminal.
std::size_t printable_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::uint32_t smallest[] = {0xA0, 0x800, 0x10000};  // below 0xA0: control characters
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  // Marks that turn the direction of what follows make a terminal show other names than there are.
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  const bool breaks_line = code == 0x2028 || code == 0x2029;
  if (code < smallest[bytes - 2] || code > 0x10FFFF) return 0;
  return is_surrogate || turns || breaks_line ? 0 : bytes;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', digits[byte / 16], digits[byte % 16]};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t bytes = printable_character(text);
    line += bytes > 0 ? std::string(text.substr(0, bytes)) : escaped(text.front());
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  if (line.size() <= longest) return line;
  std::size_t begin = longest - kept_of_the_end;
  std::size_t end = line.size() - kept_of_the_end;
  while (continues(line[begin])) --begin;
  while (continues(line[end])) ++end;
  return line.substr(0, begin) + " [... " + std::to_string(end - begin) + " bytes ...] " +
         line.substr(end);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string lines;
  for (std::size_t begin = 0; begin + text.size() > columns; begin = indent) {
    // The blanks within the indentation of a first line separate columns, and stay.
    std::size_t end = text.rfind(' ', columns - begin);
    if (end == text.npos || begin + end <= indent) end = text.find(' ', columns - begin);
    if (end == text.npos) break;
    lines.append(text.substr(0, end)).append("\n").append(indent, ' ');
    text.remove_prefix(end + 1);
  }
  return lines.append(text);
}

}  // namespace slabmark
