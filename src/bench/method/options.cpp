#include "bench/method/options.hpp"

#include <set>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

bool OnOff::parse(const std::string& text, const std::string& what) const {
  if (std::set<std::string>{"on", "true", "yes", "1"}.contains(text)) return true;
  if (std::set<std::string>{"off", "false", "no", "0"}.contains(text)) return false;
  refuse_word(text, what, {"on", "off"});
}

std::string Size::accepted_values() const {
  if (max == std::numeric_limits<std::uint64_t>::max()) return fmt::format("{} or more", min);
  return fmt::format("{} to {}", text(min), text(max));
}

std::string Size::text(std::uint64_t value) const {
  const char* suffix = "";
  for (const char* larger : {"K", "M", "G", "T"}) {
    if (value == 0 || value % 1024 != 0) break;
    value /= 1024;
    suffix = larger;
  }
  return fmt::format("{}{}", value, suffix);
}

std::uint64_t Size::parse(const std::string& text, const std::string& what) const {
  const std::uint64_t value = parse_size(text, what);
  if (value >= min && value <= max) return value;
  throw InputError(fmt::format("{} is '{}'; it takes {}{}{}.", what, text, accepted_values(),
                               reason.empty() ? "" : ", since ", reason));
}

std::string Real::text(double value) const { return fmt::format("{}", value); }

double Real::parse(const std::string& text, const std::string& what) const {
  return parse_real(text, what);
}

}  // namespace slabmark
