#include "bench/measure/manifest.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/utsname.h>
#include <unistd.h>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/measure/manifest_environment.hpp"
#include "bench/measure/manifest_file_system.hpp"
#include "core/base/host_name.hpp"
#include "core/base/version.hpp"
#include "core/parallel/program.hpp"

namespace slabmark {

namespace {

/// Hosts in the order of their lowest ranks: [{"name": "n1", "ranks": 4}].
Json count_hosts(const std::vector<std::string>& by_rank) {
  Json hosts = Json::array();
  std::map<std::string, std::size_t> places;
  for (const std::string& name : by_rank) {
    const auto [place, is_new] = places.emplace(name, hosts.size());
    if (is_new) hosts.push_back({{"name", name}, {"ranks", 0}});
    Json& ranks = hosts[place->second]["ranks"];
    ranks = ranks.get<std::uint64_t>() + 1;
  }
  return hosts;
}

Json ranks_per_node(const Json& hosts) {
  std::vector<std::uint64_t> counts;
  for (const Json& host : hosts) counts.push_back(host["ranks"].get<std::uint64_t>());
  const auto [least, greatest] = std::minmax_element(counts.begin(), counts.end());
  return {{"min", *least}, {"max", *greatest}};
}

std::string kernel() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {} {}", name.sysname, name.release, name.version, name.machine);
}

/// The answer of sysconf, or null if it does not know.
Json system_number(int name, long factor = 1) {
  const long value = ::sysconf(name);
  return value < 0 ? Json(nullptr)
                   : Json(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(factor));
}

/// {"SLURM_JOB_ID": "123"}: every scheduler that has set its variable, so that a job inside a job
/// shows both. null outside a job.
Json job_ids() {
  Json ids = nullptr;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "LSB_JOBID"}) {
    if (const char* value = std::getenv(name)) ids[name] = value;
  }
  return ids;
}

Json program(const ManifestRequest& request) {
  return {{"name", request.program},
          {"version", std::string(version())},
          {"git_revision", std::string(git_revision())},
          {"compiler", std::string(compiler())},
          {"build_type", std::string(build_type())}};
}

}  // namespace

Json collect_manifest(const Comm& comm, const ManifestRequest& request) {
  const std::vector<std::string> host_by_rank = comm.gather(host_name());
  if (!comm.is_root()) return nullptr;
  const Json hosts = count_hosts(host_by_rank);
  const RecordedEnvironment environment = record_environment();
  Json manifest = {{"program", program(request)},
                   {"mpi", mpi_library_version()},
                   {"ranks", comm.size()},
                   {"hosts", hosts},
                   {"ranks_per_node", ranks_per_node(hosts)},
                   {"kernel", kernel()},
                   {"memory_bytes", system_number(_SC_PHYS_PAGES, ::sysconf(_SC_PAGESIZE))},
                   {"cores", system_number(_SC_NPROCESSORS_ONLN)},
                   {"output", describe_file_system(request.output_directory)},
                   {"job", job_ids()},
                   {"environment", environment.variables},
                   {"environment_withheld", environment.withheld},
                   {"configuration", request.configuration},
                   {"configuration_hash", configuration_hash(request.configuration)},
                   {"seed", request.seed},
                   {"started", utc_now()},
                   {"ended", nullptr}};
  manifest.merge(request.more);
  return manifest;
}

std::string utc_time(std::chrono::system_clock::time_point when) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(when);
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(when - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), rest.count());
}

std::string utc_now() { return utc_time(std::chrono::system_clock::now()); }

// G. Fowler, L. C. Noll, K.-P. Vo and D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm":
// std::hash may differ between libraries and runs, this does not.
std::string configuration_hash(const Json& configuration) {
  constexpr std::uint64_t offset_basis = 14695981039346656037ULL;
  constexpr std::uint64_t prime = 1099511628211ULL;
  std::uint64_t hash = offset_basis;
  for (const char c : configuration.dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace slabmark
