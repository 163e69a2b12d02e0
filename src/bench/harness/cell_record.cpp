#include "bench/harness/cell_record.hpp"

#include <filesystem>

#include "bench/measure/record_gather.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark {

namespace {

Json describe_settings(const Cell& cell) {
  Json options = Json::object();
  for (const OptionInfo& option : cell.method->options) {
    const auto given = cell.settings.options.find(option.name);
    options[option.name] =
        given == cell.settings.options.end() ? option.default_text : given->second;
  }
  Json hints = Json::object();
  for (const auto& [key, value] : cell.settings.hints) hints[key] = value;
  return {{"options", options}, {"hints", hints}};
}

/// The message of the lowest rank that has one.
std::string lowest_of(const Comm& comm, const std::string& mine) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  const auto speaker = comm.min(mine.empty() ? size : static_cast<std::uint64_t>(comm.rank()));
  return speaker == size ? "" : comm.broadcast(mine, static_cast<int>(speaker));
}

std::string unsupported_reason(const Cell& cell, const Pattern& moved) {
  if (!cell.reason.empty()) return cell.reason;
  const MethodInfo& method = *cell.method;
  if (const auto reason = method.supports(moved, cell.settings)) return *reason;
  const auto overlaps = [&](const Pattern* pattern) {
    return pattern != nullptr && method.overlaps_in_mpiio(*pattern, cell.settings);
  };
  // The file to read is written by the same method, unless it exists.
  const bool is_written = cell.direction == Direction::write || !cell.existing;
  if (!method.overlaps_in_mpiio || !(overlaps(&moved) || (is_written && overlaps(cell.written))))
    return "";
  const std::string directory = std::filesystem::path(cell.path).parent_path();
  if (!mpiio::fails_on_overlaps_in(directory.empty() ? "." : directory)) return "";
  return "ranks move the same elements in one collective call, in which OMPIO of Open MPI 4.1.1 to "
         "4.1.4 crashes or moves wrong bytes; select ROMIO (OMPI_MCA_io=^ompio)";
}

// Ranks may see different reasons, or only some of them one.
std::string agreed_reason(const Comm& comm, const Cell& cell, const Pattern& moved) {
  return lowest_of(comm, unsupported_reason(cell, moved));
}

std::string describe_files(const Pattern& pattern) {
  if (pattern.file_policy == FilePolicy::several) return std::to_string(pattern.files);
  return pattern.file_policy == FilePolicy::appended ? "appended" : "one a round";
}

}  // namespace

PatternRecord describe_pattern(const Comm& comm, const Pattern& pattern) {
  PatternRecord record;
  record.name = pattern.name;
  record.settings = pattern.settings;
  record.datasets = pattern.datasets.size();
  // The rounds of a trial: all rounds of each file, or one of the rounds, which are alike.
  const std::uint64_t trials = round_is_trial(pattern) ? pattern.rounds : 1;
  record.rounds = pattern.rounds / trials;
  record.bytes = comm.sum(moved_bytes(pattern)) / trials;
  const std::uint64_t requests = request_count(pattern) / trials;
  if (pattern.file_policy != FilePolicy::one) {
    record.settings["files"] = describe_files(pattern);
  }
  if (pattern.file_policy == FilePolicy::several) record.bytes *= pattern.files;
  record.requests_total = comm.sum(requests);
  record.requests_max = comm.max(requests);
  record.requests_min = comm.min(requests);
  record.ranks = static_cast<std::uint64_t>(comm.size());
  return record;
}

CellRecord begin_record(const Comm& comm, const Cell& cell, const RunOptions& options,
                        std::size_t cells) {
  const bool reading = cell.direction == Direction::read;
  const Pattern& moved = reading ? *cell.read : *cell.written;
  CellRecord record;
  record.pattern = describe_pattern(comm, moved);
  record.method = cell.method->name;
  record.method_summary = cell.method->summary;
  record.direction = reading ? "read" : "write";
  record.settings = describe_settings(cell);
  record.sync = options.sync && !reading;
  record.rule = options.rule;
  record.seed = options.seed;
  record.cells = cells;
  record.unsupported = agreed_reason(comm, cell, moved);
  return record;
}

void enter_effective(const Comm& comm, CellRecord& record, const Json& effective) {
  record.effective = effective;
  record.differences = gather_differences(comm, effective);
  // Every rank reports these two or none does: they depend on how the library was built.
  if (effective.contains("library_bytes")) {
    record.effective["library_bytes_total"] =
        comm.sum(effective["library_bytes"].get<std::uint64_t>());
  }
  if (effective.contains("library_memory_bytes")) {
    record.memory["library"] =
        gather_summary(comm, effective["library_memory_bytes"].get<double>());
  }
}

void add_mismatch(std::optional<Mismatch>& first, const std::optional<Mismatch>& found) {
  if (first && found) first->count += found->count;
  if (!first) first = found;
}

std::string describe_agreed(const Comm& comm, std::optional<Mismatch> mine,
                            const Pattern& pattern) {
  const std::uint64_t wrong = comm.sum(mine ? mine->count : 0);
  if (mine) mine->count = wrong;
  return lowest_of(comm, mine ? describe(*mine, pattern) : "");
}

}  // namespace slabmark
