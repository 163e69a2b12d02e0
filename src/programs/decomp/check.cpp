#include <optional>

#include <fmt/format.h>

#include "programs/decomp/commands.hpp"
#include "programs/decomp/statistics.hpp"

namespace slabmark::decomp {

namespace {

/// The error in map `k`, as one sentence.
std::optional<std::string> fault_of(const Comm& comm, MapFile& file, std::size_t k) {
  Coverage found;
  try {
    found = find_coverage(comm, file, k);
  } catch (const Error& error) {  // agreed: the same on all ranks
    if (error.status() != ExitStatus::bad_input) throw;
    return error.what();
  }
  if (found.overlaps > 0) {
    return describe_overlaps(comm, file, k, found) + ".";
  }
  if (comm.is_root()) {
    fmt::print("D{}: good, {} of {} elements owned, none twice\n", k + 1, found.covered,
               found.elements);
  }
  return std::nullopt;
}

}  // namespace

ExitStatus check(const Comm& comm, const std::string& input) {
  const auto file = open_map(comm, input);
  ExitStatus status = ExitStatus::good;
  for (std::size_t k = 0; k < file->maps().size(); ++k) {
    const auto fault = fault_of(comm, *file, k);
    if (!fault) continue;
    if (comm.is_root()) fmt::print("D{}: bad: {}\n", k + 1, *fault);
    status = ExitStatus::failed;
  }
  return status;
}

}  // namespace slabmark::decomp
