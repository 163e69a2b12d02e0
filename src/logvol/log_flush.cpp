#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "logvol/journal/driver.hpp"
#include "logvol/log_file.hpp"

namespace slabmark::logvol {

namespace {

constexpr std::uint64_t window_bytes = 1 << 20;

/// What every rank must know of a dataset before its segment can be made.
std::vector<std::byte> described(const LogDataset& dataset) {
  std::size_t bytes = 0;
  hdf5::check(H5Tencode(dataset.type(), nullptr, &bytes), "H5Tencode", "the log");
  std::vector<std::byte> text(bytes);
  hdf5::check(H5Tencode(dataset.type(), text.data(), &bytes), "H5Tencode", "the log");
  return text;
}

std::uint64_t length_of(const LogRuns& runs) {
  std::uint64_t elements = 0;
  for (const auto& run : runs) elements += run.length;
  return elements;
}

}  // namespace

// A rank that never opened a dataset of an old file takes part in making its segment all the same.
hdf5::Handle LogFile::type_of(std::uint64_t number) {
  const auto dataset = known(number);
  const auto owner =
      comm_ ? comm_->max(dataset ? static_cast<std::uint64_t>(rank()) + 1 : 0) - 1 : 0;
  std::vector<std::byte> text;
  if (dataset && static_cast<std::uint64_t>(rank()) == owner) text = described(*dataset);
  if (comm_) {
    text.resize(comm_->broadcast(text.size(), static_cast<int>(owner)));
    check_mpi(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_BYTE,
                        static_cast<int>(owner), comm_->get()),
              "MPI_Bcast");
  }
  return hdf5::own(H5Tdecode2(text.data(), text.size()), H5Tclose, "H5Tdecode2", path_);
}

/// Writes elements of a dataset into its segment one after another: long stretches of memory from
/// where they are, what is scattered through a window.
class LogFile::LineWriter {
 public:
  LineWriter(LogFile& log, const LogDataset& dataset, std::uint64_t address, std::uint64_t elements)
      : log_(log),
        dataset_(dataset),
        size_(dataset.element_bytes()),
        address_(address),
        left_(elements),
        most_(std::max<std::uint64_t>(1, window_bytes / size_)) {}

  void add(const LogRun& run) {
    if (run.source == in_memory && run.length >= most_ / 8) {
      write_window();
      write(reinterpret_cast<const std::byte*>(run.position), run.length);
      return;
    }
    for (auto at = run.offset; at < run.end();) {
      if (room_ == 0) open_window();
      const auto to = std::min(run.end(), at + room_);
      add_part(part_of(run, at, to, size_));
      at = to;
    }
  }

  void finish() { write_window(); }

 private:
  void open_window() {
    write_window();
    room_ = std::min(most_, left_);
    if (!window_) window_ = std::make_unique_for_overwrite<std::byte[]>(room_ * size_);
  }

  void add_part(const LogRun& part) {
    auto* to = window_.get() + filled_ * size_;
    if (part.source == in_memory) {
      std::memcpy(to, reinterpret_cast<const std::byte*>(part.position), part.length * size_);
    } else {
      parts_.push_back(part);
      targets_.push_back(to);
    }
    filled_ += part.length;
    room_ -= part.length;
  }

  void write_window() {
    if (filled_ == 0) return;
    log_.fetch(parts_, targets_, dataset_);
    write(window_.get(), std::exchange(filled_, 0));
    room_ = 0;
    parts_.clear();
    targets_.clear();
  }

  void write(const std::byte* data, std::uint64_t elements) {
    log_.write_raw(address_, data, elements * size_);
    address_ += elements * size_;
    left_ -= elements;
  }

  LogFile& log_;
  const LogDataset& dataset_;
  std::size_t size_;
  std::uint64_t address_;
  std::uint64_t left_;  ///< elements to be written
  std::uint64_t most_;  ///< elements of a window
  std::unique_ptr<std::byte[]> window_;
  std::uint64_t filled_ = 0;
  std::uint64_t room_ = 0;
  LogRuns parts_;  ///< of the window, which are in the spill file
  std::vector<std::byte*> targets_;
};

void LogFile::write_pending(LogDataset& dataset, std::uint64_t address, std::uint64_t elements) {
  LineWriter writer(*this, dataset, address, elements);
  LogRun stretch;  // of memory: what one call wrote in ascending order lies there together
  for (const auto& run : dataset.pending()) {
    if (run.source == stretch.source &&
        run.position == stretch.position + stretch.length * dataset.element_bytes()) {
      stretch.length += run.length;
      continue;
    }
    writer.add(stretch);
    stretch = run;
  }
  writer.add(stretch);
  writer.finish();
}

// HDF5 gives out again what was freed since the last commit, to which a crash goes back.
//
// A collective write needs all ranks, and only each rank itself knows how many it has: before each,
// the ranks tell one another whether anybody still has one.
void LogFile::write_raw(std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
  journal_->protect(address, bytes);
  if (!together_.is_open()) {
    raw_.write_at(address, data, bytes);
    return;
  }
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // MPI's counts end at 2^31
  for (std::uint64_t done = 0; done < bytes; done += most) {
    const auto now = std::min(most, bytes - done);
    comm_->any(true);
    together_.write_at_all(address + done, {const_cast<std::byte*>(data + done),
                                            static_cast<int>(now), MPI_BYTE, now});
  }
}

// The other half: this rank has nothing more to write, but others may have.
void LogFile::join_writes() {
  while (together_.is_open() && comm_->any(false)) together_.write_at_all(0, {});
}

void LogFile::flush(const Location& file) {
  if (!writable() || abandoned_) return;
  const auto n = dataset_count_;
  std::vector<std::uint64_t> mine(2 * n + 1, 0);  // elements, then who knows it, then cuts
  for (const auto& [number, dataset] : datasets_) {
    mine[number] = dataset->has_pending() ? length_of(dataset->pending()) : 0;
    mine[n + number] = 1;
  }
  mine[2 * n] = rank() == 0 ? cuts_.size() : 0;
  const auto total = sum(mine);
  const auto before = sum_before(mine);
  if (total[2 * n] == 0 &&
      std::all_of(total.begin(), total.begin() + static_cast<std::ptrdiff_t>(n),
                  [](auto elements) { return elements == 0; })) {
    return;
  }
  mark_open(file);
  if (config_.writing == Writing::collective && comm_ && !together_.is_open()) {
    together_ = mpiio::File::open(comm_->get(), path_, mpiio::File::Access::write, {});
  }

  const auto flush_number = indices_.size();
  const auto source = in_segment + static_cast<std::uint32_t>(flush_number);
  std::vector<std::byte> index;
  if (rank() == 0) index = cuts_;
  std::string failure;
  for (std::uint64_t number = 0; number < n; ++number) {
    if (total[number] == 0) continue;
    auto dataset = known(number);
    const bool all_know = total[n + number] == static_cast<std::uint64_t>(ranks());
    const auto type = all_know ? hdf5::Handle() : type_of(number);
    const auto segment = create_line(file, segment_name(number, flush_number),
                                     all_know ? dataset->type() : type.get(), total[number]);
    if (dataset) dataset->segments[source] = segment;
    if (mine[number] > 0 && failure.empty()) {
      try {
        write_pending(*dataset, segment.address + before[number] * dataset->element_bytes(),
                      mine[number]);
      } catch (const Error& error) {
        failure = error.what();
      }
      append_entry(index, number, dataset->extent(), before[number], dataset->pending());
    }
    join_writes();
  }
  write_index(file, index, failure);
  if (any(!failure.empty())) {
    undo_flush(file, total);
    throw IoError(failure.empty()
                      ? fmt::format("Another rank could not write to '{}'; see its message.", path_)
                      : failure);
  }

  for (const auto& [number, dataset] : datasets_) dataset->drop_pending();
  cuts_.clear();
  pending_bytes_ = 0;
  spilled_ = {};
  spilled_bytes_ = 0;
}

// HDF5 may have failed on this rank while the others wait for it, inside HDF5.
void LogFile::check_all(bool well, const char* call) const {
  agreed([&] {
    journal_->check();
    if (well) return;
    throw IoError(fmt::format("{} failed on '{}', as HDF5 says; what was flushed before is safe.",
                              call, path_));
  });
}

void LogFile::after_flush(bool well) {
  if (!writable()) return;
  check_all(well, "H5Fflush");
  commit(end_of_space(*journal_));
}

// The file is as before, and all that was pending still is.
void LogFile::undo_flush(const Location& file, const std::vector<std::uint64_t>& total) {
  indices_.pop_back();
  remove_link(file, index_name(indices_.size()));
  for (std::uint64_t number = 0; number < dataset_count_; ++number) {
    if (total[number] > 0) remove_link(file, segment_name(number, indices_.size()));
  }
}

void LogFile::write_index(const Location& file, const std::vector<std::byte>& index,
                          std::string& failure) {
  const std::vector<std::uint64_t> bytes = {index.size()};
  const auto line = create_line(file, index_name(indices_.size()), H5T_STD_U8LE, sum(bytes)[0]);
  const auto at = sum_before(bytes)[0];
  indices_.push_back(line);
  if (failure.empty()) {
    try {
      write_raw(line.address + at, index.data(), index.size());
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  join_writes();
}

void LogFile::reshape(const Location& file, LogDataset& dataset, const Extent& extent) {
  const auto& old = dataset.extent();
  bool cuts = false;
  bool same_rows = true;
  for (std::size_t d = 0; d < old.size(); ++d) {
    cuts = cuts || extent[d] < old[d];
    same_rows = same_rows && (d == 0 || extent[d] == old[d]);
  }
  mark_open(file);
  if (cuts || !same_rows) {
    flush(file);  // what is pending counts its offsets in the old shape
    update(dataset);
    // Else what is cut off here would come back if the dataset grows again.
    append_entry(cuts_, dataset.number(), extent, 0, {});
  }
  dataset.reshape(extent);
}

}  // namespace slabmark::logvol
