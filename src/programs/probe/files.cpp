#include "programs/probe/files.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/stopwatch.hpp"
#include "core/parallel/agree.hpp"
#include "programs/probe/measure.hpp"
#include "programs/probe/topology.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark::probe {

namespace fs = std::filesystem;

namespace {

class SmallFiles {
 public:
  SmallFiles(const Comm& comm, const Options& options)
      : comm_(comm),
        options_(options),
        topology_(comm, 0),
        looked_at_(topology_.rank_to_look_at()),
        folder_(comm, options.directory, options.run.overwrite) {
    agreed(comm, [&] {
      if (options.own_folders) fs::create_directory(folder_of(comm.rank()));
    });
  }

  bool is_one_node() const { return topology_.is_one_node(); }

  void create(PhaseClock& clock, std::uint64_t trial) {
    clock.time(Phase::create, [&] {
      double written = 0.0, synced = 0.0, closed = 0.0;
      std::vector<std::byte> bytes = content_of(comm_.rank(), trial);
      for (std::uint64_t i = 0; i < options_.files_per_rank; ++i) {
        stamp(bytes, i);
        posix::File file = posix::File::create(path_of(comm_.rank(), i));
        timed(written, [&] { file.write_at(0, bytes.data(), bytes.size()); });
        if (options_.run.sync) timed(synced, [&] { file.sync(); });
        timed(closed, [&] { file.close(); });
      }
      timed(synced, [&] { sync_folder(comm_.rank()); });
      clock.add_to_span("write", written);
      if (options_.run.sync) clock.add_to_span("sync", synced);
      clock.add_to_span("close", closed);
    });
  }

  void stat(PhaseClock& clock) {
    clock.time(Phase::open, [&] {
      for (std::uint64_t i = 0; i < options_.files_per_rank; ++i) {
        const std::string path = path_of(looked_at_, i);
        std::error_code error;
        const auto size = fs::file_size(path, error);
        if (!error && size == options_.file_size) continue;
        throw IoError(error ? fmt::format("stat failed on '{}': {}.", path, error.message())
                            : fmt::format("'{}' has {} bytes and should have {}.", path, size,
                                          options_.file_size));
      }
    });
  }

  void read(PhaseClock& clock, std::uint64_t trial) {
    clock.time(Phase::open, [&] {
      std::vector<std::byte> expected = content_of(looked_at_, trial);
      std::vector<std::byte> found(expected.size());
      for (std::uint64_t i = 0; i < options_.files_per_rank; ++i) {
        stamp(expected, i);
        const std::string path = path_of(looked_at_, i);
        posix::File file = posix::File::open(path, posix::File::Access::read);
        file.read_at(0, found.data(), found.size());
        file.close();
        if (found != expected) {
          throw IoError(
              fmt::format("'{}' does not hold what was written; no figure is given.", path));
        }
      }
    });
  }

  void remove(PhaseClock& clock) {
    clock.time(Phase::close, [&] {
      for (std::uint64_t i = 0; i < options_.files_per_rank; ++i)
        posix::unlink(path_of(looked_at_, i));
      sync_folder(looked_at_);
    });
  }

 private:
  std::vector<std::byte> content_of(int rank, std::uint64_t trial) const {
    return content(static_cast<std::uint64_t>(rank) << 32 ^ trial, options_.file_size);
  }

  std::string folder_of(int rank) const {
    return options_.own_folders ? fmt::format("{}/{}", folder_.path(), rank) : folder_.path();
  }

  std::string path_of(int rank, std::uint64_t file) const {
    return fmt::format("{}/{}-{}", folder_of(rank), rank, file);
  }

  /// Names are durable when their folder is. Some file systems refuse that; they have no other way.
  void sync_folder(int rank) const {
    if (!options_.run.sync) return;
    const int folder = ::open(folder_of(rank).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }

  const Comm& comm_;
  const Options& options_;
  Topology topology_;
  int looked_at_;
  ScratchFolder folder_;
};

}  // namespace

std::vector<CellRecord> probe_files(const Comm& comm, const Options& options) {
  const std::uint64_t many = options.files_per_rank * static_cast<std::uint64_t>(comm.size());
  agreed(comm, [&] {
    const std::uint64_t bytes = product_or_most(many, options.file_size);
    if (comm.is_root()) posix::require_space(options.directory + "/", bytes);
  });
  SmallFiles files(comm, options);
  std::vector<Turn> turns;
  using Run = std::function<void(PhaseClock & clock, std::uint64_t trial, bool warm_up)>;
  const auto add = [&](const char* method, const char* summary, bool is_write, bool moves,
                       Run run) {
    CellRecord record =
        begin_record(comm, options, "small files", method, is_write ? "write" : "read");
    record.method_summary = summary;
    record.pattern.settings = {{"files", fmt::to_string(many)},
                               {"bytes of a file", fmt::to_string(options.file_size)},
                               {"folders", options.own_folders ? "one per rank" : "one"}};
    record.pattern.datasets = many;
    record.pattern.bytes = moves ? many * options.file_size : 0;
    record.pattern.requests_total = many;
    record.pattern.requests_max = record.pattern.requests_min = options.files_per_rank;
    if (!is_write) record.cache = files.is_one_node() ? "warm" : "cold";
    record.verified.elements = many;
    record.verified.by = "plain reader, sizes and contents";
    turns.push_back({std::move(record), std::move(run)});
  };
  add("create", "create, write and close each file", true, true,
      [&](PhaseClock& clock, std::uint64_t trial, bool) { files.create(clock, trial); });
  add("stat", "ask for the size of each file of another rank", false, false,
      [&](PhaseClock& clock, std::uint64_t, bool) { files.stat(clock); });
  add("open-read", "open, read and close each file of another rank", false, true,
      [&](PhaseClock& clock, std::uint64_t trial, bool) { files.read(clock, trial); });
  add("remove", "remove each file of another rank", true, false,
      [&](PhaseClock& clock, std::uint64_t, bool) { files.remove(clock); });
  return run_turns(comm, options, std::move(turns));
}

}  // namespace slabmark::probe
