#include "logvol/log_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "logvol/journal/driver.hpp"

namespace slabmark::logvol {

namespace {

// Written into each file; a reader must refuse what is newer than it knows.
constexpr std::int64_t layout_version = 1;

}  // namespace

LogFile::LogFile(std::string path, std::unique_ptr<Comm> comm, const Config& config,
                 std::shared_ptr<Journal> journal)
    : path_(std::move(path)),
      comm_(std::move(comm)),
      config_(config),
      journal_(std::move(journal)),
      raw_(posix::File::open(path_,
                             journal_ ? posix::File::Access::write : posix::File::Access::read)) {}

void LogFile::create(const Location& file) {
  set_number(file, log_group, "version", layout_version);
  set_number(file, log_group, "datasets", 0);
  set_number(file, log_group, "state", static_cast<int>(LogState::open));
  state_ = LogState::open;
  changed_ = true;
  start_journal(file);
}

void LogFile::load(const Location& file) {
  const auto version = number(file, log_group, "version").value_or(0);
  if (version != layout_version) {
    throw IoError(
        fmt::format("'{}' has a log of version {}, and this connector knows version {}; "
                    "use a newer connector.",
                    path_, version, layout_version));
  }
  state_ = static_cast<LogState>(number(file, log_group, "state").value_or(1));
  dataset_count_ = static_cast<std::uint64_t>(number(file, log_group, "datasets").value_or(0));
  while (const auto index = find_line(file, index_name(indices_.size()))) {
    indices_.push_back(*index);
  }
  if (!writable()) return;
  start_journal(file);
  if (journal_->committed() == 0) commit(end_of_space(*journal_));
}

void LogFile::start_journal(const Location& file) {
  auto mark = find_line(file, mark_name);
  if (!mark) {  // a new file
    mark = create_line(file, mark_name, H5T_STD_U64LE, 1);
  }
  agreed([&] {
    if (is_root()) journal_->start(mark->address);
  });
}

void LogFile::commit(std::uint64_t end) {
  agreed([&] {
    if (is_root()) journal_->commit(end);
  });
  if (comm_) journal_->follow(comm_->broadcast(journal_->epoch()), end);
}

void LogFile::mark_open(const Location& file) {
  changed_ = true;
  if (state_ == LogState::open) return;
  set_number(file, log_group, "state", static_cast<int>(LogState::open));
  state_ = LogState::open;
}

std::uint64_t LogFile::new_number(const Location& file) {
  mark_open(file);
  const auto number = dataset_count_++;
  set_number(file, log_group, "datasets", static_cast<std::int64_t>(dataset_count_));
  return number;
}

std::shared_ptr<LogDataset> LogFile::known(std::uint64_t number) const {
  const auto found = datasets_.find(number);
  return found == datasets_.end() ? nullptr : found->second;
}

std::shared_ptr<LogDataset> LogFile::add(const Location& file,
                                         std::shared_ptr<LogDataset> dataset) {
  // Here, not at the first read: if metadata is read collectively, no rank may do so alone.
  parse_indices();
  for (const auto& waiting : waiting_[dataset->number()]) {
    const auto source = in_segment + static_cast<std::uint32_t>(waiting.flush);
    if (waiting.entry.runs == 0 || dataset->segments.contains(source)) continue;
    const auto name = segment_name(dataset->number(), waiting.flush);
    const auto segment = find_line(file, name);
    if (!segment) {
      throw IoError(
          fmt::format("'{}' has lost {} of its log; restore it from a copy.", path_, name));
    }
    dataset->segments[source] = *segment;
  }
  datasets_[dataset->number()] = dataset;
  return dataset;
}

void LogFile::added(std::uint64_t bytes) {
  pending_bytes_ += bytes;
  if (pending_bytes_ > config_.buffer_bytes) spill();
}

void LogFile::spill() {
  if (!spilled_.is_open()) {
    const auto name = fmt::format("{}.spill-{}", path_, rank());
    posix::unlink(name);
    spilled_ = posix::File::create(name);
    posix::unlink(name);  // it lives as long as it is open, also if this process is killed
  }
  for (const auto& [number, dataset] : datasets_) {
    if (dataset->pending_bytes() == 0) continue;
    auto runs = dataset->pending();
    for (auto& run : runs) {
      if (run.source != in_memory) continue;
      const auto bytes = run.length * dataset->element_bytes();
      spilled_.write_at(spilled_bytes_, reinterpret_cast<const std::byte*>(run.position), bytes);
      run.position = spilled_bytes_;
      run.source = in_spill;
      spilled_bytes_ += bytes;
    }
    dataset->moved(std::move(runs));
  }
  pending_bytes_ = 0;
}

std::vector<std::uint64_t> LogFile::sum(std::vector<std::uint64_t> values) const {
  if (!comm_) return values;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                          MPI_UINT64_T, MPI_SUM, comm_->get()),
            "MPI_Allreduce");
  return values;
}

std::vector<std::uint64_t> LogFile::sum_before(const std::vector<std::uint64_t>& values) const {
  std::vector<std::uint64_t> before(values.size(), 0);
  if (!comm_) return before;
  check_mpi(MPI_Exscan(values.data(), before.data(), static_cast<int>(values.size()), MPI_UINT64_T,
                       MPI_SUM, comm_->get()),
            "MPI_Exscan");
  if (comm_->is_root()) std::fill(before.begin(), before.end(), 0);
  return before;
}

bool LogFile::is_open_below() const { return journal_ && is_open(*journal_); }

bool LogFile::any(bool value) const { return comm_ ? comm_->any(value) : value; }

std::uint64_t LogFile::index_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& index : indices_) bytes += index.elements;
  return bytes;
}

std::uint64_t LogFile::hyperslabs(std::uint64_t dataset) const {
  const auto found = hyperslabs_.find(dataset);
  return found == hyperslabs_.end() ? 0 : found->second;
}

}  // namespace slabmark::logvol
