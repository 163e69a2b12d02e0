#include "capture/record/streams/process.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>
#include <unistd.h>

#include "capture/record/streams/definition_stream.hpp"

namespace slabmark::capture {

namespace {

/// The variables that change what libraries do with files, as a JSON object.
std::string environment_json() {
  constexpr std::string_view prefixes[] = {"ROMIO_",         "PNETCDF_",         "HDF5_",
                                           "MPICH_MPIIO_",   "OMPI_MCA_io",      "OMPI_MCA_fs_",
                                           "OMPI_MCA_fcoll", "OMPI_MCA_sharedfp"};
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    const std::size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    for (const std::string_view prefix : prefixes) {
      if (text.starts_with(prefix)) found.emplace(text.substr(0, sign), text.substr(sign + 1));
    }
  }
  std::string json;
  for (const auto& [name, value] : found) {
    json += (json.empty() ? "" : ",") + as_json(name) + ":" + as_json(value);
  }
  return "{" + json + "}";
}

/// The words of the command line as a JSON list.
std::string command_line_json() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string json = "[";
  for (std::string word; std::getline(file, word, '\0');) {
    json += (json.size() > 1 ? "," : "") + as_json(word);
  }
  return json + "]";
}

/// A member that tells the processes of one launch from those of another; empty where the launcher
/// says nothing of the kind.
std::string launch_json() {
  if (const char* const name = std::getenv("PMIX_NAMESPACE")) {
    return ",\"launch\":" + as_json(name);
  }
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const step = std::getenv("SLURM_STEP_ID");
  return job && step ? ",\"launch\":" + as_json(std::string(job) + "." + step) : "";
}

/// A member with what launchers tell a process of its rank, for programs without MPI.
std::string launched_json() {
  constexpr const char* variables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"PMI_RANK", "PMI_SIZE"},
                                          {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank_name, ranks_name] : variables) {
    const char* const rank = std::getenv(rank_name);
    const char* const ranks = std::getenv(ranks_name);
    if (!rank || !ranks) continue;
    return ",\"launched\":[" + std::to_string(std::atoi(rank)) + "," +
           std::to_string(std::atoi(ranks)) + "]";
  }
  return "";
}

}  // namespace

std::string process_json() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown");
  // A whole number: the program's locale may write others with a comma.
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return "{\"kind\":\"process\",\"host\":" + as_json(host) +
         ",\"pid\":" + std::to_string(getpid()) +
         ",\"program\":" + as_json(program_invocation_short_name) +
         ",\"command\":" + command_line_json() + ",\"environment\":" + environment_json() +
         launch_json() + ",\"started\":" + std::to_string(now.count()) + launched_json() + "}";
}

}  // namespace slabmark::capture
