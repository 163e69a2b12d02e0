#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slabmark {

/// The variables of the environment that steer MPI and the I/O libraries.
struct RecordedEnvironment {
  std::map<std::string, std::string> variables;  ///< values as they are
  std::vector<std::string> withheld;             ///< names only, sorted
};

/// True if a variable is of interest to a record: OMPI_, MPICH_, ROMIO_, HDF5_, PNETCDF_, SLURM_.
bool is_recorded(std::string_view name);

/// True if a variable's value stays out of records, which are mailed and published. The rule: its
/// name contains, in either case, one of the words KEY, TOKEN, SECRET, PASSW, PASSPHRASE, COOKIE,
/// CRED, AUTH, MUNGE, JWT, URI (how to reach the launcher's daemons) or PRECONDITION_TRANSPORTS
/// (Open MPI's job key); or its value is an address with a user in it (scheme://user@host).
bool is_secret(std::string_view name, std::string_view value);

/// Picks from "NAME=value" entries, as `environ` holds them.
RecordedEnvironment record_environment(std::span<const std::string> entries);

/// The environment of this process.
RecordedEnvironment record_environment();

}  // namespace slabmark
