#include "bench/harness/session.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "bench/measure/manifest.hpp"
#include "bench/measure/record_file.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

Session::Session(const Comm& world, const char* program, const CommonOptions& options)
    : world_(world), program_(program), options_(options), deadline_(options.run.deadline) {
  deadline_.watch("The work before the first phase");
  agreed(world, [&] {
    if (world.is_root() && !options.run.records.empty()) check_record_path(options.run.records);
  });
  require_libraries(world);
  clocks_.emplace(world);
}

void Session::begin(const std::string& directory, const Json& configuration) {
  environment_ = library_environment(world_, directory);
  const std::string warning = environment_.warning();
  if (world_.is_root() && !warning.empty()) {
    fmt::print(stderr, "{}: warning: {}\n", program_, warning);
  }
  // Records keep the names of when each verb was a program, so that later ones are compared with
  // them.
  std::string recorded = program_;
  std::replace(recorded.begin(), recorded.end(), ' ', '-');
  manifest_ = collect_manifest(
      world_, {recorded, directory, configuration, options_.run.seed, environment_.to_json()});
  deadline_.watch("");  // the cells have one of their own
}

void Session::finish(const Comm& comm, std::span<CellRecord> records,
                     const std::function<void()>& report,
                     const std::map<std::string, double>& setup) {
  deadline_.watch("Keeping the records");
  const Json clocks = clocks_->compare(comm);
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    for (CellRecord& record : records) {
      record.setup = setup;
      record.manifest = manifest_;
      record.manifest["ended"] = utc_now();
      record.manifest["clocks"] = clocks;
      if (!options_.run.records.empty()) append_record(options_.run.records, record);
    }
    if (options_.run.records != standard_output) report();
  });
}

}  // namespace slabmark
