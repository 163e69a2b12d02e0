#include "method/shared/data_sieving.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slabmark {

namespace {

constexpr const char* hint = "romio_ds_write";

}  // namespace

void DataSieving::leave_out(const Settings& settings, const std::string& cause) {
  const auto& users = settings.hints;
  if (std::any_of(users.begin(), users.end(), [](const auto& its) { return its.first == hint; })) {
    return;
  }
  cause_ = cause;
}

mpiio::Hints DataSieving::added_to(mpiio::Hints hints) const {
  if (!cause_.empty()) hints.emplace_back(hint, "disable");
  return hints;
}

void DataSieving::report(nlohmann::json& effective) const {
  if (cause_.empty()) return;
  effective["added_hints"][fmt::format("{}=disable", hint)] =
      cause_ + ", and ROMIO could lose elements.";
}

}  // namespace slabmark
