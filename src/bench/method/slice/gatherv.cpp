#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "bench/method/slice/method.hpp"
#include "core/base/stopwatch.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<int>::max();

/// Of all ranks in one output.
std::uint64_t output_bytes(const Pattern& pattern) {
  std::uint64_t bytes = 0;
  for (const auto& dataset : pattern.datasets) {
    bytes += element_count(dataset.extent()) * size_of(dataset.type);
  }
  return bytes;
}

/// The limit: the same bytes of each rank, dense already, through MPI_Gatherv and one pwrite into
/// an open file that has its room, as those of `append` have. It is no file of a slice: nothing of
/// the field is in it.
class Gatherv : public SliceMethod {
 public:
  explicit Gatherv(const MethodContext& context) : SliceMethod(context) {}

  void create(const std::string& path) override {
    if (context_.comm.is_root()) file_ = posix::File::create(path);
  }

  void define() override {
    if (!file_.is_open()) return;
    all_.resize(output_bytes(context_.pattern));
    file_.reserve(0, context_.pattern.rounds * all_.size());
  }

  void prepare() override {
    const auto& comm = context_.comm;
    mine_.resize(moved_bytes(context_.pattern) / context_.pattern.rounds);
    for (const auto count : comm.gather(std::uint64_t{mine_.size()})) {
      counts_.push_back(static_cast<int>(count));
    }
    places_.resize(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), places_.begin(), 0);
  }

  void sync() override {
    if (file_.is_open()) file_.sync();
  }
  void close() override { file_.close(); }

 protected:
  void write(std::uint64_t round, std::span<std::byte* const>) override {
    timed(tally_.exchange, [&] {
      check_mpi(MPI_Gatherv(mine_.data(), static_cast<int>(mine_.size()), MPI_BYTE, all_.data(),
                            counts_.data(), places_.data(), MPI_BYTE, 0, context_.comm.get()),
                "MPI_Gatherv");
    });
    if (!file_.is_open()) return;
    timed(tally_.write, [&] { file_.write_at(round * all_.size(), all_.data(), all_.size()); });
    tally_.bytes_written += all_.size();
    ++tally_.requests;
  }
  slice::Tally tally() const override { return tally_; }

 private:
  std::vector<std::byte> mine_;
  std::vector<std::byte> all_;  ///< on root
  std::vector<int> counts_;
  std::vector<int> places_;
  posix::File file_;
  slice::Tally tally_;
};

}  // namespace

MethodInfo gatherv_method() {
  auto info = slice_info(
      "gatherv", "the limit of slices: the same bytes, dense, by MPI_Gatherv and one pwrite",
      FileFormat::none);
  const auto supports = info.supports;
  info.supports = [supports](const Pattern& pattern,
                             const Settings& settings) -> std::optional<std::string> {
    if (auto reason = supports(pattern, settings)) return reason;
    const auto bytes = output_bytes(pattern);
    if (bytes <= most_bytes) return std::nullopt;
    return fmt::format("an output has {} bytes, and MPI_Gatherv counts to {}", bytes, most_bytes);
  };
  info.make = [](const MethodContext& context) { return std::make_unique<Gatherv>(context); };
  return info;
}

}  // namespace slabmark
