#include "map/map_selections.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

namespace {

void refuse_overlaps(const Comm& comm, const MapFile& file, std::size_t k, const RunList& runs) {
  const Coverage found = coverage(comm, file.maps()[k], runs);
  if (found.overlaps == 0) return;
  throw InputError(fmt::format(
      "Map D{} of '{}' gives {} elements to more than one rank, the first of them element {}; "
      "writing it would leave to chance whose value stays. 'slabmark-decomp check' lists the "
      "faults of a map.",
      k + 1, file.path(), found.overlaps, found.first_overlap));
}

}  // namespace

MapSelections::MapSelections(const Comm& comm, const std::string& path) : comm_(comm) {
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  file_ = open_map(comm, path);
  open_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

SelectionPtr MapSelections::read(std::size_t k, int rank, bool check) {
  MapPart part = file_->read(k, rank, comm_.size());
  read_seconds_ += part.read_seconds;
  sort_seconds_ += part.sort_seconds;
  max_requests_ = std::max<std::uint64_t>(max_requests_, part.runs.size());
  if (check) refuse_overlaps(comm_, *file_, k, part.runs);
  return select_row_runs(file_->maps()[k].dims, std::move(part.runs));
}

std::map<std::string, double> MapSelections::setup() const {
  return {{"map_open", comm_.max(open_seconds_)},
          {"map_read", comm_.max(read_seconds_)},
          {"map_sort", comm_.max(sort_seconds_)}};
}

std::uint64_t MapSelections::max_requests() const { return comm_.max(max_requests_); }

}  // namespace slabmark
