#include "storage/mpiio/info.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::mpiio {

namespace {

struct Numeric {
  std::string_view key;
  std::uint64_t least;
};

// OMPIO divides by cb_nodes, ROMIO by cb_buffer_size.
constexpr std::array<Numeric, 5> numeric = {{
    {"cb_buffer_size", least_buffer_bytes},
    {"cb_nodes", 1},
    {"ind_rd_buffer_size", least_buffer_bytes},
    {"ind_wr_buffer_size", least_buffer_bytes},
    {"striping_unit", 1},
}};

}  // namespace

void check_hints(const Hints& hints) {
  for (const auto& [key, value] : hints) {
    if (key.empty() || key.size() >= MPI_MAX_INFO_KEY || value.empty() ||
        value.size() >= MPI_MAX_INFO_VAL) {
      throw InputError(fmt::format(
          "The hint '{}={}' cannot be given to MPI: keys have 1 to {} characters, values 1 to {}.",
          key, value, MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1));
    }
    const auto known = std::find_if(numeric.begin(), numeric.end(),
                                    [&](const Numeric& hint) { return hint.key == key; });
    if (known != numeric.end()) {
      parse_count(value, fmt::format("The hint {}", key), known->least, largest_number);
    }
  }
}

Info::Info(const Hints& hints) {
  check_hints(hints);
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
