#pragma once

#include <span>
#include <string_view>

#include "bench/method/method.hpp"

namespace slabmark {

/// Every method that Slabmark knows, in the order in which tables list them, also those whose
/// library this build lacks (see MethodInfo::missing).
std::span<const MethodInfo> methods();

/// Throws InputError that names the nearest known name, or why the method is not in this build.
const MethodInfo& find_method(std::string_view name);

/// Throws InputError if an option of `settings` belongs to none of the `chosen` methods, with the
/// nearest that does, or has a value that one of them does not take.
void check_options(const Settings& settings, std::span<const MethodInfo* const> chosen);

/// The highest level that one of the `chosen` needs from MPI, as MPI_Init_thread takes it.
int thread_level(std::span<const MethodInfo* const> chosen);

}  // namespace slabmark
