#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slabmark::dropin {

// Variables of the environment and hints by which users control the drop-in. A value that is not a
// number counts as not given: the drop-in must not fail a program that runs without it.

/// "512M" as a number.
std::uint64_t number_in(const std::string& text, std::uint64_t default_value);
/// The same of a variable of the environment.
std::uint64_t number_of_variable(const char* name, std::uint64_t default_value);

/// True if a word switches something off.
bool is_off(std::string_view word);
/// True if a variable of the environment is set, and to no word that is_off().
bool is_set(const char* variable);

}  // namespace slabmark::dropin
