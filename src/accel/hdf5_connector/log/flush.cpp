#include "accel/hdf5_connector/log/flush.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "storage/hdf5/older.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::uint64_t flush_window_bytes = 1 << 20;

/// A dataset as every rank must know it before its segment can be made.
std::vector<std::byte> described(const LogDataset& dataset) {
  std::size_t bytes = 0;
  hdf5::check(H5Tencode(dataset.type(), nullptr, &bytes), "H5Tencode", "the log");
  std::vector<std::byte> text(bytes);
  hdf5::check(H5Tencode(dataset.type(), text.data(), &bytes), "H5Tencode", "the log");
  return text;
}

/// Writes elements of a dataset into its segment one after another: long stretches of memory from
/// where they are, what is scattered through a window.
class LineWriter {
 public:
  LineWriter(ElementFiles& files, LogWriter& writer, const LogDataset& dataset,
             std::uint64_t address, std::uint64_t elements)
      : writer_(writer),
        gathering_(files, dataset, std::numeric_limits<std::size_t>::max()),
        size_(dataset.element_bytes()),
        address_(address),
        left_(elements),
        most_(std::max<std::uint64_t>(1, flush_window_bytes / size_)) {}

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
    gathering_.add(part, window_.get() + filled_ * size_);
    filled_ += part.length;
    room_ -= part.length;
  }

  void write_window() {
    if (filled_ == 0) return;
    gathering_.finish();
    write(window_.get(), std::exchange(filled_, 0));
    room_ = 0;
  }

  void write(const std::byte* data, std::uint64_t elements) {
    writer_.write(address_, data, elements * size_);
    address_ += elements * size_;
    left_ -= elements;
  }

  LogWriter& writer_;
  Gathering gathering_;
  std::size_t size_;
  std::uint64_t address_;
  std::uint64_t left_;  ///< elements to be written
  std::uint64_t most_;  ///< elements of a window
  std::unique_ptr<std::byte[]> window_;
  std::uint64_t filled_ = 0;
  std::uint64_t room_ = 0;
};

void write_pending(LineWriter line, LogDataset& dataset) {
  LogRun stretch;  // of memory: what one call wrote in ascending order lies there together
  dataset.for_each_pending(1, [&](const LogRuns& runs) {
    for (const auto& run : runs) {
      if (run.source == stretch.source &&
          run.position == stretch.position + stretch.length * dataset.element_bytes()) {
        stretch.length += run.length;
        continue;
      }
      line.add(stretch);
      stretch = run;
    }
  });
  line.add(stretch);
  line.finish();
}

}  // namespace

void LogWriter::open_together() {
  if (together_.is_open() || ranks_.comm() == nullptr) return;
  together_ = mpiio::File::open(ranks_.comm()->get(), file_.path(), mpiio::File::Access::write, {});
}

void LogWriter::run(const std::function<void()>& stage) {
  try {
    stage();
  } catch (...) {
    join();
    throw;
  }
  join();
}

// A collective write needs all ranks, and only each rank itself knows how many it has: before each,
// the ranks tell one another whether anybody still has one.
void LogWriter::write(std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
  journal_->protect(address, bytes);
  if (!together_.is_open()) {
    file_.write_at(address, data, bytes);
    return;
  }
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // MPI's counts end at 2^31
  for (std::uint64_t done = 0; done < bytes; done += most) {
    const auto now = std::min(most, bytes - done);
    ranks_.any(true);
    together_.write_at_all(address + done, {const_cast<std::byte*>(data + done),
                                            static_cast<int>(now), MPI_BYTE, now});
  }
}

// The other half: this rank has nothing more to write, but others may have.
void LogWriter::join() {
  while (together_.is_open() && ranks_.any(false)) together_.write_at_all(0, {});
}

Flush::Flush(const Ranks& ranks, const Datasets& datasets, std::uint64_t count,
             std::span<const std::byte> cuts)
    : ranks_(ranks), datasets_(datasets), count_(count), mine_(2 * count + 1, 0) {
  if (ranks_.is_root()) entries_.assign(cuts.begin(), cuts.end());
  for (const auto& [number, dataset] : datasets_) {
    if (dataset->has_pending()) {
      auto& runs = runs_[number];
      dataset->for_each_pending(1, [&](const LogRuns& pending) {
        for (const auto& run : pending) runs.add({run.offset, run.length});
      });
      mine_[number] = runs.elements();
    }
    mine_[count_ + number] = 1;
  }
  mine_.back() = entries_.size();
  total_ = ranks_.sum(mine_);
  before_ = ranks_.sum_before(mine_);
}

bool Flush::is_empty() const {
  const auto elements = total_.begin() + static_cast<std::ptrdiff_t>(count_);
  return total_.back() == 0 && std::count(total_.begin(), elements, 0) == elements - total_.begin();
}

// A rank that never opened a dataset of an old file takes part in making its segment all the same.
hdf5::Handle Flush::type_of(std::uint64_t number) const {
  const auto known = datasets_.find(number);
  std::vector<std::byte> text;
  if (known != datasets_.end()) text = described(*known->second);
  if (total_[count_ + number] < static_cast<std::uint64_t>(ranks_.size())) {
    const auto& comm = *ranks_.comm();
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto owner = static_cast<int>(comm.max(text.empty() ? 0 : rank + 1)) - 1;
    text.resize(comm.broadcast(text.size(), owner));
    check_mpi(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_BYTE, owner, comm.get()),
              "MPI_Bcast");
  }
  return hdf5::own(H5Tdecode2(text.data(), text.size()), H5Tclose, "H5Tdecode2", "the log");
}

std::vector<Flush::Segment> Flush::make_segments(const Location& location,
                                                 std::uint64_t flush) const {
  std::vector<Segment> segments;
  for (std::uint64_t number = 0; number < count_; ++number) {
    if (total_[number] == 0) continue;
    const auto line =
        create_line(location, segment_name(number, flush), type_of(number).get(), total_[number]);
    const auto known = datasets_.find(number);
    if (known == datasets_.end()) continue;
    auto& dataset = *known->second;
    dataset.segments[in_segment + static_cast<std::uint32_t>(flush)] = line;
    if (mine_[number] == 0) continue;
    const auto first = before_[number];
    segments.push_back(
        {&dataset, line.address + first * dataset.element_bytes(), first, mine_[number]});
  }
  return segments;
}

// Of many entries with few runs each they would be as large as the index.
Flush::Marks Flush::make_marks(const Location& location, std::uint64_t flush,
                               StoredIndex& index) const {
  if (index.line.elements < most_read_at_once) return {};
  const auto name = marks_name(flush);
  Marks marks{marks_of(entries_, name), 0};
  const auto first = ranks_.sum_before({marks.bytes.size()})[0];
  const auto all = ranks_.sum({marks.bytes.size(), checksum_of(marks.bytes, flush, first, name)});
  if (all[0] > index.line.elements / 4) return {};
  index.marks = create_line(location, name, H5T_STD_U8LE, all[0]);
  index.marks_checksum = all[1];
  marks.address = index.marks->address + first;
  return marks;
}

void Flush::write(const Location& location, ElementFiles& files, LogWriter& writer,
                  IndexStore& index) {
  const auto flush = index.flushes();
  const auto segments = make_segments(location, flush);
  for (const auto& one : segments) {
    const auto& dataset = *one.dataset;
    auto& runs = runs_.at(dataset.number());
    append_entry(entries_, dataset.number(), dataset.extent(), one.first, runs.count(),
                 runs.finish());
  }
  const auto first = ranks_.sum_before({entries_.size()})[0];
  const auto all =
      ranks_.sum({entries_.size(), checksum_of(entries_, flush, first, index_name(flush))});
  StoredIndex stored{create_line(location, index_name(flush), H5T_STD_U8LE, all[0]), all[1]};
  const auto address = stored.line.address + first;
  const auto marks = make_marks(location, flush, stored);
  try {
    ranks_.agreed_sleeping([&] {
      writer.run([&] {
        for (const auto& one : segments) {
          write_pending({files, writer, *one.dataset, one.address, one.elements}, *one.dataset);
        }
        writer.write(address, entries_.data(), entries_.size());
        writer.write(marks.address, marks.bytes.data(), marks.bytes.size());
      });
    });
  } catch (const Error&) {
    remove_link(location, index_name(flush));
    if (stored.marks) remove_link(location, marks_name(flush));
    for (std::uint64_t number = 0; number < count_; ++number) {
      if (total_[number] > 0) remove_link(location, segment_name(number, flush));
    }
    throw;
  }
  index.add(location, stored);
}

}  // namespace slabmark::slablog
