#include "accel/hdf5_connector/log/write_views.hpp"

#include <optional>
#include <utility>

#include "accel/hdf5_connector/journal/rollback.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/log/log_file.hpp"
#include "accel/hdf5_connector/log/plain_file.hpp"
#include "accel/hdf5_connector/log/view.hpp"

namespace slabmark::slablog {

using hdf5::check;
using hdf5::Handle;

namespace {

/// Makes the views of one file.
class ViewWriter {
 public:
  ViewWriter(const std::string& path, const Config& config, std::shared_ptr<Journal> journal)
      : path_(path),
        journal_(std::move(journal)),
        file_(open_plainly(path, H5F_ACC_RDWR, journal_.get())),
        config_(config) {
    check_has_log(location(), path);
    log_.emplace(path, Ranks(), config, journal_);
    log_->load(location());
  }

  std::uint64_t run() {
    std::vector<std::shared_ptr<LogDataset>> stale;
    for_each_log_dataset(file_.get(), [&](const std::string&, std::shared_ptr<LogDataset> dataset) {
      if (!is_current(location(), *dataset, log_->index().flushes())) {
        stale.push_back(std::move(dataset));
      }
    });
    std::vector<LogDataset*> contiguous;
    VirtualViews views(file_.get(), location(), log_->index().flushes());
    for (const auto& dataset : stale) {
      log_->add(location(), dataset);
      if (config_.view == View::materialise ||
          log_->index().hyperslabs(dataset->number()) > config_.most_hyperslabs) {
        contiguous.push_back(dataset.get());
      } else {
        log_->update(*dataset);
        views.write(*dataset);
      }
      log_->forget(dataset->number());
    }
    auto share = log_->share(contiguous);
    for (const auto* dataset : contiguous) log_->materialise(location(), share, *dataset);
    set_number(location(), log_group, "state", static_cast<int>(LogState::closed));
    check(H5Fclose(file_.release()), "H5Fclose", path_);
    journal_->finish();  // all of this, or nothing
    return stale.size();
  }

 private:
  Location location() const { return location_of(file_); }

  const std::string& path_;
  std::shared_ptr<Journal> journal_;
  Handle file_;
  const Config& config_;
  const LibraryContext context_;
  std::optional<LogFile> log_;
};

}  // namespace

std::uint64_t write_views(const std::string& path, const Config& config,
                          std::shared_ptr<Journal> journal) {
  if (!journal) {
    roll_back(path, Opener::repair);
    summarise(path);  // what cannot be read is not written either
    journal = Journal::of(path, 0);
  }
  return ViewWriter(path, config, std::move(journal)).run();
}

LogSummary summarise(const std::string& path) {
  roll_back(path, Opener::reader);
  const auto file = open_plainly(path, H5F_ACC_RDONLY);
  const LibraryContext context;
  const auto location = location_of(file);
  check_has_log(location, path);
  LogFile log(path, Ranks(), Config(), nullptr);
  log.load(location);
  const auto& index = log.index();
  index.check();
  LogSummary summary{log.state(), index.flushes(), index.bytes(), {}};
  for_each_log_dataset(file.get(),
                       [&](const std::string& name, std::shared_ptr<LogDataset> dataset) {
                         log.add(location, dataset);
                         log.update(*dataset);
                         DatasetSummary one{"/" + name,
                                            dataset->extent(),
                                            dataset->element_bytes(),
                                            index.hyperslabs(dataset->number()),
                                            0,
                                            is_current(location, *dataset, index.flushes())};
                         for (const auto& run : dataset->flushed()) one.elements += run.length;
                         summary.datasets.push_back(std::move(one));
                         log.forget(dataset->number());
                       });
  return summary;
}

}  // namespace slabmark::slablog
