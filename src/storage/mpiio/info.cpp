#include "storage/mpiio/info.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "parallel/comm.hpp"

namespace slabmark::mpiio {

namespace {

void check_length(const std::string& key, const std::string& value) {
  if (key.empty() || key.size() >= MPI_MAX_INFO_KEY || value.size() >= MPI_MAX_INFO_VAL) {
    throw InputError(fmt::format(
        "The hint '{}={}' cannot be given to MPI: keys have 1 to {} characters, values up to {}.",
        key, value, MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1));
  }
}

}  // namespace

Info::Info(const Hints& hints) {
  for (const auto& [key, value] : hints) check_length(key, value);
  if (hints.empty()) return;
  check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
  for (const auto& [key, value] : hints) {
    check_mpi(MPI_Info_set(info_, key.c_str(), value.c_str()), "MPI_Info_set");
  }
}

Info::~Info() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

std::map<std::string, std::string> entries_of(MPI_Info info) {
  std::map<std::string, std::string> entries;
  if (info == MPI_INFO_NULL) return entries;
  int keys = 0;
  check_mpi(MPI_Info_get_nkeys(info, &keys), "MPI_Info_get_nkeys");
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    char value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    check_mpi(MPI_Info_get_nthkey(info, i, key), "MPI_Info_get_nthkey");
    check_mpi(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found), "MPI_Info_get");
    if (found) entries[key] = value;
  }
  return entries;
}

}  // namespace slabmark::mpiio
