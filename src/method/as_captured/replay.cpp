#include "method/as_captured/replay.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

void check_opened_by_all(const nlohmann::json& file, const Comm& comm) {
  const auto ranks = file.value("ranks", 1);
  if (ranks == comm.size()) return;
  throw InputError(
      fmt::format("'{}' was opened by {} of the ranks together, and as-captured plays files that "
                  "all {} have.",
                  file.value("path", ""), ranks, comm.size()));
}

mpiio::Hints hints_of(const nlohmann::json& file, const Settings& settings) {
  mpiio::Hints hints;
  if (file.contains("hints")) {
    for (const auto& [key, value] : file["hints"].items()) hints.emplace_back(key, value);
  }
  hints.insert(hints.end(), settings.hints.begin(), settings.hints.end());
  return hints;
}

}  // namespace slabmark
