#include "bench/method/shared/data_sieving.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "storage/mpiio/romio_hints.hpp"

namespace slabmark {

namespace {

constexpr const char* hint = "romio_ds_write";

}  // namespace

std::string hint_against_sieving() { return fmt::format("{}=disable", hint); }

bool may_be_sieved(const std::map<std::string, std::string>& hints) {
  const auto collective = hints.find("romio_cb_write");
  return !hints.contains(hint) && (collective == hints.end() || collective->second != "enable");
}

void DataSieving::leave_out(const Settings& settings, const std::string& cause) {
  const auto& users = settings.hints;
  if (std::any_of(users.begin(), users.end(), [](const auto& its) { return its.first == hint; })) {
    return;
  }
  cause_ = cause;
}

mpiio::Hints DataSieving::added_to(mpiio::Hints hints) const {
  if (!cause_.empty() && is_heard_) hints.emplace_back(hint, "disable");
  return hints;
}

void DataSieving::report(Json& effective, const Settings& settings) const {
  if (cause_.empty()) return;
  if (is_heard_) {
    effective["added_hints"][hint_against_sieving()] = cause_ + ", and ROMIO could lose elements.";
  } else if (may_be_sieved(mpiio::hints_effective_in_romio(settings.hints))) {
    effective["lacks_hint"] = hint_against_sieving();
  }
}

}  // namespace slabmark
