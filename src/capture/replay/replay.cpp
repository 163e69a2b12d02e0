#include "capture/replay/replay.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

void Replay::refuse_unopened(std::uint64_t opening) const {
  throw InputError(
      fmt::format("The pattern uses '{}' before it opens it; capture the program from its start.",
                  context_.rank.file(opening).value("path", "")));
}

mpiio::Hints hints_of(const Json& file, const mpiio::Hints& of_user) {
  mpiio::Hints hints;
  if (file.contains("hints")) {
    for (const auto& [key, value] : file["hints"].items()) {
      if (value.is_string()) hints.emplace_back(key, value.get<std::string>());
    }
  }
  hints.insert(hints.end(), of_user.begin(), of_user.end());
  return hints;
}

}  // namespace slabmark
