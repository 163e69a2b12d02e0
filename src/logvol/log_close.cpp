#include <chrono>
#include <optional>
#include <thread>

#include <H5VLconnector.h>
#include <H5VLnative.h>

#include "base/error.hpp"
#include "logvol/find_datasets.hpp"
#include "logvol/journal/rollback.hpp"
#include "logvol/plain_file.hpp"
#include "logvol/view.hpp"

namespace slabmark::logvol {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;

bool is_current(const Location& location, LogFile& log, const LogDataset& dataset) {
  const auto name = view_name(dataset.number());
  if (!link_exists(location, name)) return false;
  return number(location, name, "flushes") == static_cast<std::int64_t>(log.flushes()) &&
         number(location, name, "elements") ==
             static_cast<std::int64_t>(element_count(dataset.extent()));
}

void mark_current(const Location& location, const LogFile& log, const LogDataset& dataset) {
  const auto name = view_name(dataset.number());
  set_number(location, name, "flushes", static_cast<std::int64_t>(log.flushes()));
  set_number(location, name, "elements",
             static_cast<std::int64_t>(element_count(dataset.extent())));
}

}  // namespace

void LogFile::materialise(const Location& file, LogDataset& part) {
  const auto name = new_view_name(part.number());
  if (link_exists(file, name)) remove_link(file, name);
  const auto list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", name);
  check(H5Pset_fill_value(list.get(), part.type(), part.fill().data()), "H5Pset_fill_value", name);
  const auto address = create_array(file, name, part.type(), part.extent(), list.get());
  try {
    assemble(part, raw_, address);
  } catch (...) {  // on all ranks
    remove_link(file, name);
    throw;
  }
  // Only now: else the new one would get the space of the old one, which the journal then had to
  // keep.
  for (const auto& old : {view_name(part.number()), holes_name(part.number())}) {
    if (link_exists(file, old)) remove_link(file, old);
  }
  rename_link(file, name, view_name(part.number()));
  mark_current(file, *this, part);
}

void LogFile::prepare_close(const Location& file) {
  if (!writable() || abandoned_) return;
  flush(file);
  together_ = {};
  if (!changed_) return;
  if (config_.view == View::none) {
    set_number(file, log_group, "state", static_cast<int>(LogState::no_view));
    state_ = LogState::no_view;
    return;
  }
  // Here with all ranks; what some rank does not know is left to rank 0 after the close.
  std::vector<std::uint64_t> know(dataset_count_, 0);
  for (const auto& [number, dataset] : datasets_) know[number] = 1;
  const auto all = sum(know);
  // A hyperslab takes two bytes of the index at least.
  const bool may_be_many = index_bytes() / 2 > config_.most_hyperslabs;
  if (config_.view == View::virtual_dataset && !may_be_many) return;
  std::vector<LogDataset*> outdated;
  for (const auto& [number, dataset] : datasets_) {
    if (all[number] < static_cast<std::uint64_t>(ranks())) continue;
    if (!is_current(file, *this, *dataset)) outdated.push_back(dataset.get());
  }
  std::optional<LogShare> mine;
  agreed([&] { mine = share(outdated); });
  for (auto* dataset : outdated) {
    const bool many = mine->hyperslabs(dataset->number()) > config_.most_hyperslabs;
    if (config_.view != View::materialise && !many) continue;
    auto part = own_part(*mine, *dataset);
    materialise(file, part);
  }
}

// The others sleep meanwhile: MPI would let them spin, and where ranks share cores, rank 0 then got
// half of one. With 4 ranks on 2 cores the view of 10^5 hyperslabs took 0.32 s.
bool LogFile::any_at_leisure(bool value) const {
  if (!comm_) return value;
  int mine = value ? 1 : 0;
  int result = 0;
  int done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&mine, &result, 1, MPI_INT, MPI_MAX, comm_->get(), &request),
            "MPI_Iallreduce");
  for (;;) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return result != 0;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void LogFile::after_close(bool well) {
  if (!writable() || abandoned_) return;
  check_all(well, "H5Fclose");
  std::string failure;
  if (rank() == 0) {
    try {
      if (changed_ && config_.view != View::none) {
        journal_->commit(raw_.size());
        write_views(path_, config_, journal_);
      } else {
        journal_->finish();
      }
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  if (any_at_leisure(!failure.empty())) {
    throw IoError(failure.empty() ? "Rank 0 could not write the views; see its message." : failure);
  }
}

namespace {

/// Makes the views of one file after another, as many at a time as memory allows.
class ViewWriter {
 public:
  ViewWriter(const std::string& path, const Config& config, std::shared_ptr<Journal> journal)
      : path_(path),
        journal_(std::move(journal)),
        file_(open_plainly(path, H5F_ACC_RDWR, journal_.get())),
        config_(config) {
    check_has_log(location(), path);
    log_.emplace(path, nullptr, config, journal_);
    log_->load(location());
  }

  std::uint64_t run() {
    std::vector<std::shared_ptr<LogDataset>> stale;
    for_each_log_dataset(file_.get(), [&](const std::string&, std::shared_ptr<LogDataset> dataset) {
      if (!is_current(location(), *log_, *dataset)) stale.push_back(std::move(dataset));
    });
    for (const auto& dataset : stale) {
      write(dataset);
      if (held_ > most_held) complete();
    }
    complete();
    set_number(location(), log_group, "state", static_cast<int>(LogState::closed));
    close();
    journal_->finish();  // all of this, or nothing
    return stale.size();
  }

 private:
  static constexpr std::uint64_t most_held = 64 << 20;

  Location location() const { return location_of(file_); }

  void write(const std::shared_ptr<LogDataset>& dataset) {
    log_->add(location(), dataset);
    log_->update(*dataset);
    if (config_.view == View::materialise ||
        log_->hyperslabs(dataset->number()) > config_.most_hyperslabs) {
      log_->materialise(location(), *dataset);
    } else {
      begun_.push_back(begin_view(file_.get(), log_->flushes(), *dataset));
      held_ += begun_.back().mappings.size();
    }
    log_->forget(dataset->number());
  }

  void complete() {
    if (begun_.empty()) return;
    const auto format = format_of(file_.get());
    close();
    fill_views(path_, format, begun_, *journal_);
    file_ = open_plainly(path_, H5F_ACC_RDWR, journal_.get());
    for (const auto& view : begun_) publish_view(file_.get(), view.number);
    begun_.clear();
    held_ = 0;
  }

  void close() { check(H5Fclose(file_.release()), "H5Fclose", path_); }

  const std::string& path_;
  std::shared_ptr<Journal> journal_;
  Handle file_;
  const Config& config_;
  const LibraryContext context_;
  std::optional<LogFile> log_;
  std::vector<NewView> begun_;
  std::uint64_t held_ = 0;  ///< bytes of mappings
};

}  // namespace

std::uint64_t write_views(const std::string& path, const Config& config,
                          std::shared_ptr<Journal> journal) {
  if (!journal) {
    roll_back(path, Opener::repair);
    journal = Journal::of(path, 0);
  }
  return ViewWriter(path, config, std::move(journal)).run();
}

LogSummary summarise(const std::string& path) {
  roll_back(path, Opener::reader);
  const auto file = open_plainly(path, H5F_ACC_RDONLY);
  const LibraryContext context;
  const Location location{H5VLobject(file.get()), H5I_FILE, H5VL_NATIVE};
  check_has_log(location, path);
  LogFile log(path, nullptr, Config(), nullptr);
  log.load(location);
  LogSummary summary{log.state(), log.flushes(), log.index_bytes(), {}};
  for_each_log_dataset(file.get(),
                       [&](const std::string& name, std::shared_ptr<LogDataset> dataset) {
                         log.add(location, dataset);
                         log.update(*dataset);
                         DatasetSummary one{"/" + name,
                                            dataset->extent(),
                                            dataset->element_bytes(),
                                            log.hyperslabs(dataset->number()),
                                            0,
                                            is_current(location, log, *dataset)};
                         for (const auto& run : dataset->flushed()) one.elements += run.length;
                         summary.datasets.push_back(std::move(one));
                         log.forget(dataset->number());
                       });
  return summary;
}

}  // namespace slabmark::logvol
