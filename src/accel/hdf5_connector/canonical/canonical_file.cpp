#include "accel/hdf5_connector/canonical/canonical_file.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "accel/hdf5_connector/canonical/write_alone.hpp"
#include "accel/hdf5_connector/log/overlaps.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {

namespace {

/// Pieces of a rank from which a plan pays: HDF5 reads fewer as fast, without an exchange.
constexpr std::uint64_t least_pieces = 4;

/// Whether the elements of a call ascend in the dataset, none twice.
bool ascend(const Elements& elements) {
  const auto touches = [](const Run& a, const Run& b) { return a.end() > b.offset; };
  return elements.ascending ||
         std::ranges::adjacent_find(*elements.in_dataset, touches) == elements.in_dataset->end();
}

}  // namespace

CanonicalFile::CanonicalFile(std::string path, Ranks ranks, const Config& config,
                             collective::Settings settings, std::uint64_t left_out,
                             std::shared_ptr<hdf5::DeferredError> deferred, bool writable)
    : DataFile(std::move(path), std::move(ranks), config, writable),
      deferred_(std::move(deferred)),
      open_(path_, is_parallel()),
      writable_(writable) {
  if (!is_parallel()) return;
  writer_ = std::make_unique<CollectiveWriter>(*ranks_.comm(), files_.hdf5, std::move(settings),
                                               left_out);
}

herr_t CanonicalFile::close(LogDataset& dataset, void* under, hid_t list, bool last) {
  auto& mine = as_canonical(dataset);
  if (mine.users == 1) show_whole(mine);
  return open_.close(mine, under, list,
                     last || !writable_ || (!is_parallel() && !mine.has_pending()));
}

// Programs leave thousands of small datasets, which HDF5 would all have open until the next flush.
void CanonicalFile::show_whole(CanonicalDataset& dataset) {
  if (is_parallel() || abandoned_ || dataset.in_chunks()) return;
  if (!dataset.has_pending() || !dataset.is_all_pending()) return;
  try {
    flush_alone(dataset);
  } catch (const IoError&) {
    // The next flush tries it again, and says why it fails.
  }
}

std::vector<LogDataset*> CanonicalFile::datasets() const {
  std::vector<LogDataset*> all;
  for (const auto& [number, dataset] : open_) all.push_back(dataset.get());
  return all;
}

void CanonicalFile::become_strict(const Location& file) {
  flush(file);
  config_.visibility = Visibility::strict;
  for (const auto& [number, dataset] : open_) dataset->fresh = false;
}

std::string CanonicalFile::abandon() {
  abandoned_ = true;
  drop_pending();
  open_.release();
  return "has lost what was written since its last flush";
}

void CanonicalFile::check_written(bool well, const char* call) const {
  check_all(well, call, [this] {
    if (deferred_) deferred_->check();
  });
}

void CanonicalFile::after_close(bool well) {
  if (writable_ && !abandoned_) check_written(well, "H5Fclose");
}

bool CanonicalFile::may_be_unreadable(const LogDataset& dataset) const {
  const auto& mine = as_canonical(dataset);
  return writable_ && mine.never_filled &&
         (is_parallel() ? mine.has_filters() : mine.has_pending());
}

// Nothing is pending: a flush came before HDF5 changed the extent.
void CanonicalFile::reshape(const Location&, LogDataset& dataset, const Extent& extent) {
  as_canonical(dataset).follow(extent);
}

void CanonicalFile::read(LogDataset& dataset, std::vector<ReadRun> reads) {
  const auto& mine = as_canonical(dataset);
  Gathering gathering(files_, dataset, most_points);
  for_each_request(std::move(reads), dataset.element_bytes(), most_points, [&](Request& request) {
    dataset.find(request, gathering);
    std::vector<ReadRun> missing;
    request.for_each_missing([&](const ReadRun& read) { missing.push_back(read); });
    if (!missing.empty()) read_below(mine, files_.hdf5, !is_parallel(), missing, path_);
  });
  gathering.finish();
}

bool CanonicalFile::reads_together(const LogDataset& dataset, const Elements& elements,
                                   bool can) const {
  const auto& mine = as_canonical(dataset);
  const bool has_place = mine.in_chunks() || mine.address.has_value();
  can = can && ascend(elements) && has_place && !mine.leaves_memory && !mine.misread &&
        !mine.has_pending() && !abandoned_;
  std::uint64_t most[] = {can ? 0u : 1u, can ? elements.in_dataset->size() : 0, mine.number(),
                          ~mine.number()};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_UINT64_T, MPI_MAX, ranks_.comm()->get()),
            "MPI_Allreduce");
  const auto [unable, pieces, highest, lowest] = most;
  return unable == 0 && pieces >= least_pieces && highest == ~lowest;
}

void CanonicalFile::read_together(LogDataset& dataset, RunsPtr runs, std::byte* memory) {
  auto& mine = as_canonical(dataset);
  if (!runs) return writer_->read(mine, nullptr);
  Posting posting(mine, std::move(runs), memory);
  writer_->read(mine, &posting);
}

void CanonicalFile::flush(const Location& file) {
  if (abandoned_ || !writable_) return;
  check_creations();
  if (is_parallel()) {
    flush_together(file);
  } else {
    flush_alone(nullptr);
  }
  drop_pending();
  open_.release();
}

void CanonicalFile::flush_together(const Location& file) {
  const auto resolve = [&] {
    std::vector<LogDataset*> pending;
    for (const auto& [number, dataset] : open_) {
      if (dataset->has_pending()) pending.push_back(dataset.get());
    }
    resolve_overlaps(*ranks_.comm(), pending, calls_);
  };
  writer_->write({open_, file, files_.spill, spilled_bytes_, !is_strict(), resolve});
}

void CanonicalFile::flush_alone(CanonicalDataset& dataset) {
  write_alone(files_, dataset, path_);
  drop_pending(dataset);
}

// One that fails does not keep the others from the file. Goes by number, since HDF5 gives space
// when the first element is written.
void CanonicalFile::flush_alone(const LogDataset* only) {
  std::exception_ptr first_failure;
  for (const auto& [number, dataset] : open_) {
    try {
      flush_alone(*dataset);
    } catch (const IoError&) {
      if (!first_failure && (only == nullptr || only == dataset.get()))
        first_failure = std::current_exception();
    }
  }
  if (first_failure) std::rethrow_exception(first_failure);
}

// Alone, contiguous ones go to their places. Chunks wait in the spill file, so that each goes
// through its filters once in a flush.
void CanonicalFile::make_room() {
  for (const auto& [number, dataset] : open_) {
    if (!is_parallel() && !dataset->in_chunks()) flush_alone(*dataset);
  }
  if (is_full()) spill();
}

void CanonicalFile::show(const LogDataset& dataset) {
  if (!is_parallel() && !abandoned_) flush_alone(&dataset);
}

}  // namespace slabmark::slablog
