#include "accel/hdf5_connector/log/log_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/log/overlaps.hpp"
#include "accel/hdf5_connector/log/view.hpp"
#include "accel/hdf5_connector/log/write_views.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {

namespace {

// Written into each file; a reader must refuse what is newer than it knows. Version 1 had no
// checksums and did not count the flushes; a log of it becomes one of 2 when it is written.
constexpr std::int64_t layout_version = 2;

}  // namespace

LogFile::LogFile(std::string path, Ranks ranks, const Config& config,
                 std::shared_ptr<Journal> journal)
    : DataFile(std::move(path), std::move(ranks), config, journal != nullptr),
      journal_(std::move(journal)),
      index_(files_.hdf5),
      writer_(ranks_, files_.hdf5, journal_.get()) {}

bool LogFile::shows_all() const { return state_ == LogState::closed && !has_pending(); }

std::vector<LogDataset*> LogFile::datasets() const {
  std::vector<LogDataset*> all;
  for (const auto& [number, dataset] : datasets_) all.push_back(dataset.get());
  return all;
}

void LogFile::create(const Location& file) {
  set_number(file, log_group, "datasets", 0);
  mark_open(file);
  start_journal(file);
}

void LogFile::load(const Location& file) {
  version_ = attribute(file, "version");
  if (version_ < 1 || version_ > layout_version) {
    throw IoError(
        fmt::format("'{}' has a log of version {}, and this connector knows versions 1 to {}; "
                    "use a newer connector.",
                    path_, version_, layout_version));
  }
  state_ = static_cast<LogState>(attribute(file, "state"));
  dataset_count_ = static_cast<std::uint64_t>(attribute(file, "datasets"));
  if (version_ > 1) attribute(file, "flushes");
  index_.load(file);
  if (!writable()) return;
  start_journal(file);
  if (journal_->committed() > 0) return;
  // The file may be open through an external link, and have more space than bytes by now.
  commit(ranks_.broadcast(std::min(end_of_space(*journal_), files_.hdf5.size())));
}

std::int64_t LogFile::attribute(const Location& file, const char* name) const {
  if (const auto value = number(file, log_group, name)) return *value;
  throw IoError(fmt::format("'{}' has lost the attribute '{}' of {}; restore it from a copy.",
                            path_, name, log_group));
}

void LogFile::start_journal(const Location& file) {
  auto mark = find_line(file, mark_name);
  if (!mark) {  // a new file
    mark = create_line(file, mark_name, H5T_STD_U64LE, 1);
  }
  ranks_.agreed([&] {
    if (is_root()) journal_->start(mark->address);
  });
}

void LogFile::commit(std::uint64_t end) {
  ranks_.agreed([&] {
    if (is_root()) journal_->commit(end);
  });
  journal_->follow(ranks_.broadcast(journal_->epoch()), end);
}

void LogFile::set_state(const Location& file, LogState state) {
  set_number(file, log_group, "state", static_cast<int>(state));
  state_ = state;
}

void LogFile::mark_open(const Location& file) {
  changed_ = true;
  if (state_ != LogState::open) set_state(file, LogState::open);
  if (version_ == layout_version) return;
  version_ = layout_version;
  set_number(file, log_group, "version", version_);
  index_.note_flushes(file);
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
  if (dataset->number() >= dataset_count_) {
    throw IoError(
        fmt::format("'{}' has a dataset whose number in the log is {}, but the log counts {}; "
                    "restore it from a copy.",
                    path_, dataset->number(), dataset_count_));
  }
  index_.find_segments(file, *dataset);
  return datasets_[dataset->number()] = dataset;
}

void LogFile::read(LogDataset& dataset, std::vector<ReadRun> reads) {
  update(dataset);
  read_log(files_, dataset, std::move(reads));
}

// The index of a flush holds the entries of a later rank over those of an earlier one. That is
// right where all ranks wrote a dataset in the same collective call, and where none begins before
// those before it have ended: only what is left is looked at run by run.
void LogFile::leave_to_last_writers() {
  if (!has_other_ranks()) return;
  const auto count = dataset_count_;
  std::map<std::uint64_t, PendingBounds> bounds;
  for (const auto& [number, dataset] : datasets_) {
    if (dataset->has_pending()) bounds[number] = pending_bounds(*dataset);
  }
  std::vector<std::uint64_t> ends(count, 0);
  for (const auto& [number, one] : bounds) ends[number] = one.end;
  const auto before = ranks_.max_before(ends);
  // True if it may meet others, then the latest number, then the complement of the earliest.
  std::vector<std::uint64_t> all(3 * count, 0);
  for (const auto& [number, one] : bounds) {
    all[number] = one.begin < before[number] ? 1 : 0;
    all[count + number] = calls_[one.last_call].number;
    all[2 * count + number] = ~calls_[one.first_call].number;
  }
  ranks_.comm()->max(std::span(all));
  const auto may_be_wrong = [&](std::uint64_t number) {
    const auto latest = all[count + number];
    return all[number] > 0 && (latest % 2 != 0 || latest != ~all[2 * count + number]);
  };
  bool any = false;
  for (std::uint64_t number = 0; number < count; ++number) any = any || may_be_wrong(number);
  if (!any) return;
  std::vector<LogDataset*> mine;
  for (const auto& [number, one] : bounds) {
    if (may_be_wrong(number)) mine.push_back(datasets_.at(number).get());
  }
  if (ranks_overlap(*ranks_.comm(), mine)) resolve_overlaps(*ranks_.comm(), mine, calls_);
}

void LogFile::flush(const Location& file) {
  if (!writable() || abandoned_) return;
  check_creations();
  leave_to_last_writers();
  Flush flush(ranks_, datasets_, dataset_count_, cuts_);
  if (flush.is_empty()) return;
  mark_open(file);
  if (config_.writing == Writing::collective) writer_.open_together();
  flush.write(file, files_, writer_, index_);
  drop_pending();
  cuts_.clear();
}

void LogFile::reshape(const Location& file, LogDataset& dataset, const Extent& extent) {
  const auto& old = dataset.extent();
  mark_open(file);
  if (!same_rows(old, extent) || extent.front() < old.front()) {
    flush(file);  // what is pending counts its offsets in the old shape
    update(dataset);
    // Else what is cut off here would come back if the dataset grows again.
    append_entry(cuts_, dataset.number(), extent, 0, {});
  }
  dataset.reshape(extent);
}

LogShare LogFile::share(std::span<LogDataset* const> datasets) {
  return {ranks_, files_, journal_.get(), index_.indices(), datasets};
}

void LogFile::materialise(const Location& file, LogShare& share, const LogDataset& dataset) {
  const auto name = new_view_name(dataset.number());
  remove_link_if_there(file, name);
  const auto list = creation_list(dataset, name);
  const auto address = create_array(file, name, dataset.type(), dataset.extent(), list.get());
  try {
    share.assemble(dataset, files_.hdf5, address);
  } catch (...) {  // on all ranks
    remove_link(file, name);
    throw;
  }
  publish_view(file, dataset, index_.flushes());
  remove_link_if_there(file, holes_name(dataset.number()));
}

void LogFile::prepare_close(const Location& file) {
  if (!writable() || abandoned_) return;
  flush(file);
  writer_.close_together();
  if (!changed_) return;
  if (config_.view == View::none) return set_state(file, LogState::no_view);
  // Here with all ranks; what some rank does not know is left to rank 0 after the close.
  std::vector<std::uint64_t> know(dataset_count_, 0);
  for (const auto& [number, dataset] : datasets_) know[number] = 1;
  const auto all = ranks_.sum(know);
  // A hyperslab takes two bytes of the index at least.
  const bool may_be_many = index_.bytes() / 2 > config_.most_hyperslabs;
  if (config_.view == View::virtual_dataset && !may_be_many) return;
  std::vector<LogDataset*> outdated;
  for (const auto& [number, dataset] : datasets_) {
    if (all[number] < static_cast<std::uint64_t>(ranks_.size())) continue;
    if (!is_current(file, *dataset, index_.flushes())) outdated.push_back(dataset.get());
  }
  std::optional<LogShare> mine;
  ranks_.agreed([&] { mine.emplace(share(outdated)); });
  for (const auto* dataset : outdated) {
    const bool many = mine->hyperslabs(dataset->number()) > config_.most_hyperslabs;
    if (config_.view == View::materialise || many) materialise(file, *mine, *dataset);
  }
}

bool LogFile::is_open_below() const { return journal_ && is_open(*journal_); }

std::string LogFile::abandon() {
  abandoned_ = true;
  return "is left as its last flush left it, for 'slabmark log repair'";
}

void LogFile::after_flush(bool well) {
  if (!writable()) return;
  check_all(well, "H5Fflush", [this] { journal_->check(); });
  commit(end_of_space(*journal_));
}

void LogFile::after_close(bool well) {
  if (!writable() || abandoned_) return;
  check_all(well, "H5Fclose", [this] { journal_->check(); });
  ranks_.agreed_sleeping([&] {
    if (!is_root()) return;
    if (changed_ && config_.view != View::none) {
      journal_->commit(files_.hdf5.size());
      write_views(path_, config_, journal_);
    } else {
      journal_->finish();
    }
  });
}

}  // namespace slabmark::slablog
