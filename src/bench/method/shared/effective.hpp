#pragma once

#include <map>
#include <string>

#include "bench/method/method.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// Puts the hints in effect into `effective["hints"]`, and into `effective["notes"]` a sentence for
/// each hint of the user that is not in effect as asked, since MPI drops unknown hints silently.
void report_hints(Json& effective, const Settings& settings,
                  const std::map<std::string, std::string>& in_effect);

}  // namespace slabmark
