#include "accel/hdf5_connector/to_canonical/canonical.hpp"

#include <memory>
#include <optional>
#include <vector>

#include "accel/hdf5_connector/journal/rollback.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/log/log_file.hpp"
#include "accel/hdf5_connector/log/plain_file.hpp"
#include "accel/hdf5_connector/to_canonical/copy_file.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark::slablog {

namespace {

/// A log file on all ranks, each of which opens it alone and only reads.
class Source {
 public:
  Source(const Comm& comm, const std::string& path) {
    agreed(comm, [&] {
      roll_back(path, Opener::reader);
      file_ = open_plainly(path, H5F_ACC_RDONLY);
      context_.emplace();
      check_has_log(location_of(file_), path);
    });
    agreed(comm, [&] {
      log_ = std::make_unique<LogFile>(path, Ranks(std::make_unique<Comm>(comm.get())), Config(),
                                       nullptr);
      const auto location = location_of(file_);
      log_->load(location);
      for_each_log_dataset(file_.get(), [&](const std::string&, std::shared_ptr<LogDataset> one) {
        log_->add(location, one);
        log_->update(*one);  // each rank reads a share only, and nobody looks at all of it
        datasets_.push_back(one.get());
      });
    });
  }

  hid_t file() const { return file_.get(); }
  LogFile& log() { return *log_; }
  const std::vector<LogDataset*>& datasets() const { return datasets_; }

 private:
  hdf5::Handle file_;
  std::optional<LibraryContext> context_;
  std::unique_ptr<LogFile> log_;
  std::vector<LogDataset*> datasets_;
};

/// Where the datasets begin in the output, which rank 0 makes.
std::vector<std::uint64_t> make_output(const Comm& comm, const Source& source,
                                       const std::string& input, const std::string& output) {
  std::vector<std::uint64_t> addresses(source.datasets().size());
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    const auto made = copy_without_log(source.file(), input, output);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      addresses[i] = made.at(source.datasets()[i]->number());
    }
  });
  check_mpi(
      MPI_Bcast(addresses.data(), static_cast<int>(addresses.size()), MPI_UINT64_T, 0, comm.get()),
      "MPI_Bcast");
  return addresses;
}

}  // namespace

Conversion write_canonical(const Comm& comm, const std::string& input, const std::string& output,
                           const std::function<void(std::uint64_t, std::uint64_t)>& on_bytes) {
  Source source(comm, input);
  auto& log = source.log();
  const auto addresses = make_output(comm, source, input, output);
  posix::File target;
  std::optional<LogShare> share;
  agreed(comm, [&] {
    target = posix::File::open(output, posix::File::Access::write);
    share.emplace(log.share(source.datasets()));
  });
  Conversion done{log.state(), source.datasets().size(), 0};
  for (const auto* dataset : source.datasets()) {
    done.bytes += element_count(dataset->extent()) * dataset->element_bytes();
  }
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    share->assemble(*source.datasets()[i], target, addresses[i], [&](std::uint64_t bytes) {
      written += bytes;  // all ranks write equal parts
      if (on_bytes) on_bytes(written * static_cast<std::uint64_t>(comm.size()), done.bytes);
    });
  }
  agreed(comm, [&] { target.close(); });
  return done;
}

}  // namespace slabmark::slablog
