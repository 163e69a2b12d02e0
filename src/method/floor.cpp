#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/method.hpp"
#include "method/shared_posix_file.hpp"

namespace slabmark {

namespace {

/// Room for bytes that are all overwritten, so that making it costs no pass over memory.
class Bytes {
 public:
  std::byte* fit(std::uint64_t bytes) {
    if (bytes > size_) {
      memory_.reset(new std::byte[bytes]);
      size_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::uint64_t size_ = 0;
};

/// Serves file after file, as the memory of the rearranged methods does.
struct Memory {
  Bytes sent, received, written;
};

/// The least that a method does which brings data into another order by messages: the bytes of a
/// flush are copied together, exchanged so that each rank gets an equal part from each, copied
/// again, and written contiguously. What the file holds has no use.
class Floor : public Method {
 public:
  explicit Floor(const MethodContext& context) : context_(context) {
    if (context.kept) memory_ = std::static_pointer_cast<Memory>(*context.kept);
    if (!memory_) memory_ = std::make_shared<Memory>();
    if (context.kept) *context.kept = memory_;
  }

  void create(const std::string& path) override { file_ = create_shared(context_.comm, path); }

  void define() override {}
  void open(const std::string&) override {
    throw InputError("The method floor only writes; leave it out where reading is measured.");
  }
  void prepare() override {}

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const auto& dataset = context_.pattern.datasets[transfers[i].dataset];
      posted_.emplace_back(buffers[i], moved_bytes(transfers[i], dataset));
    }
  }

  void flush() override {
    const std::uint64_t bytes = copy_together();
    const std::uint64_t arrived = exchange(bytes);
    std::byte* const ready = memory_->written.fit(arrived);
    std::memcpy(ready, memory_->received.fit(0), arrived);
    file_.write_at(end_ + context_.comm.sum_before(arrived), ready, arrived);
    end_ += context_.comm.sum(arrived);
    posted_.clear();
  }

  void sync() override { file_.sync(); }
  void close() override { file_.close(); }
  nlohmann::json effective() const override { return {{"calls", {{"MPI_Alltoallv", calls_}}}}; }

 private:
  std::uint64_t copy_together() {
    std::uint64_t bytes = 0;
    for (const auto& [buffer, size] : posted_) bytes += size;
    std::byte* to = memory_->sent.fit(bytes);
    for (const auto& [buffer, size] : posted_) {
      if (size > 0) std::memcpy(to, buffer, size);
      to += size;
    }
    return bytes;
  }

  std::uint64_t exchange(std::uint64_t bytes) {
    const auto ranks = static_cast<std::uint64_t>(context_.comm.size());
    std::vector<int> counts(ranks), starts(ranks), its_counts(ranks), its_starts(ranks);
    for (std::uint64_t r = 0; r < ranks; ++r) {
      const Run part = equal_range(bytes, r, ranks);
      starts[r] = static_cast<int>(part.offset);
      counts[r] = static_cast<int>(part.length);
    }
    check_mpi(
        MPI_Alltoall(counts.data(), 1, MPI_INT, its_counts.data(), 1, MPI_INT, context_.comm.get()),
        "MPI_Alltoall");
    std::uint64_t arrived = 0;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      its_starts[r] = static_cast<int>(arrived);
      arrived += static_cast<std::uint64_t>(its_counts[r]);
    }
    check_mpi(MPI_Alltoallv(memory_->sent.fit(0), counts.data(), starts.data(), MPI_BYTE,
                            memory_->received.fit(arrived), its_counts.data(), its_starts.data(),
                            MPI_BYTE, context_.comm.get()),
              "MPI_Alltoallv");
    ++calls_;
    return arrived;
  }

  MethodContext context_;
  posix::File file_;
  std::vector<std::pair<std::byte*, std::uint64_t>> posted_;
  std::shared_ptr<Memory> memory_;
  std::uint64_t end_ = 0;  ///< of what was written so far
  std::uint64_t calls_ = 0;
};

// Counts are int, and parts of all ranks may meet at one.
std::optional<std::string> too_large(const Pattern& pattern, const Settings&) {
  constexpr std::uint64_t most = std::numeric_limits<int>::max() / 2;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    std::uint64_t bytes = 0;
    for (const auto& transfer : pattern.transfers(round)) {
      bytes += moved_bytes(transfer, pattern.datasets[transfer.dataset]);
    }
    if (bytes > most)
      return fmt::format("a rank moves {} bytes at once, more than int holds", bytes);
  }
  return std::nullopt;
}

}  // namespace

MethodInfo floor_method() {
  return {.name = "floor",
          .summary = "no order at all: two copies, one MPI_Alltoallv, one contiguous write a rank",
          .format = FileFormat::none,
          .options = {},
          .supports = too_large,
          .make = [](const MethodContext& context) { return std::make_unique<Floor>(context); },
          .missing = {}};
}

}  // namespace slabmark
