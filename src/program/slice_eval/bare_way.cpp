#include <numeric>

#include <fmt/format.h>

#include "parallel/agree.hpp"
#include "program/slice_eval/way.hpp"
#include "slice/attempt.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::slice_eval {

namespace {

/// The limit: the same bytes of each rank, dense already, through MPI_Gatherv and one pwrite into
/// an open file that has its room, as those of `append` have. It is no file of a slice, and is not
/// read back.
class BareWay : public Way {
 public:
  explicit BareWay(const WayContext& context)
      : comm_(context.comm), path_(context.stem + context.slice.name + ".raw") {
    const auto parts =
        parts_of(context.options.grid, context.slice, static_cast<std::uint64_t>(comm_.rank()));
    auto bytes = size_of(context.options.type) * context.options.fields;
    for (const auto& part : parts) bytes *= part.count;
    mine_.resize(bytes);
    for (const auto count : comm_.gather(std::uint64_t{bytes})) {
      counts_.push_back(static_cast<int>(count));
    }
    places_.resize(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), places_.begin(), 0);
    all_.resize(std::accumulate(counts_.begin(), counts_.end(), std::size_t{0}));
    agreed(comm_, [&] {
      if (!comm_.is_root()) return;
      posix::require_free_path(path_, {context.options.run.overwrite});
      file_ = posix::File::create(path_);
      file_.reserve(0, (context.options.outputs + 1) * all_.size());
    });
  }

  void output(std::uint64_t number, double) override {
    slice::timed(tally_.exchange, [&] {
      check_mpi(MPI_Gatherv(mine_.data(), static_cast<int>(mine_.size()), MPI_BYTE, all_.data(),
                            counts_.data(), places_.data(), MPI_BYTE, 0, comm_.get()),
                "MPI_Gatherv");
    });
    if (!comm_.is_root()) return;
    slice::timed(tally_.write,
                 [&] { file_.write_at(number * all_.size(), all_.data(), all_.size()); });
    tally_.bytes_written += all_.size();
    ++tally_.requests;
  }
  void finish() override { file_.close(); }
  slice::Tally tally() const override { return tally_; }
  std::vector<std::string> files() const override { return {path_}; }
  FileLayout layout() const override { return {"", false}; }

 private:
  const Comm& comm_;
  std::string path_;
  std::vector<std::byte> mine_;
  std::vector<std::byte> all_;
  std::vector<int> counts_;
  std::vector<int> places_;
  posix::File file_;
  slice::Tally tally_;
};

}  // namespace

std::unique_ptr<Way> make_bare_way(const WayContext& context) {
  return std::make_unique<BareWay>(context);
}

}  // namespace slabmark::slice_eval
