#include "bench/method/shared/effective.hpp"

#include <fmt/format.h>

namespace slabmark {

void report_hints(Json& effective, const Settings& settings,
                  const std::map<std::string, std::string>& in_effect) {
  effective["hints"] = in_effect;
  std::map<std::string, std::string> asked;
  for (const auto& [key, value] : settings.hints) asked[key] = value;
  for (const auto& [key, value] : asked) {
    const auto found = in_effect.find(key);
    if (found != in_effect.end() && found->second == value) continue;
    effective["notes"].push_back(
        found == in_effect.end()
            ? fmt::format("The hint {}={} is not in effect: the library does not report it.", key,
                          value)
            : fmt::format("The hint {}={} is not in effect: {} is.", key, value, found->second));
  }
}

}  // namespace slabmark
