#include <cstring>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "bench/method/raw/posix_file.hpp"
#include "core/base/error.hpp"
#include "core/base/scratch_bytes.hpp"

namespace slabmark {

namespace {

struct Memory {
  ScratchBytes mine, moved, ready;
};

/// The least that a method does which brings data into another order by messages: the bytes of a
/// flush are copied together, exchanged so that each rank gets an equal part from each, copied
/// again, and written contiguously. Reading goes backwards. What the file holds has no use.
class Floor : public PosixFileMethod {
 public:
  explicit Floor(const MethodContext& context)
      : PosixFileMethod(context), memory_(kept_memory<Memory>()) {}

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const auto& dataset = context_.pattern.datasets[transfers[i].dataset];
      posted_.emplace_back(buffers[i], moved_bytes(transfers[i], dataset));
    }
  }

  void flush() override {
    std::uint64_t bytes = 0;
    for (const auto& [buffer, size] : posted_) bytes += size;
    const Parts parts = share_out(bytes);
    std::byte* const moved = memory_->moved.fit(parts.there.bytes);
    std::byte* const ready = memory_->ready.fit(parts.there.bytes);
    std::byte* const mine = memory_->mine.fit(bytes);
    const std::uint64_t offset = end_ + context_.comm.sum_before(parts.there.bytes);
    end_ += context_.comm.sum(parts.there.bytes);
    if (writing()) {
      for_each_posted(mine, [](std::byte* buffer, std::byte* packed, std::uint64_t size) {
        std::memcpy(packed, buffer, size);
      });
      exchange(mine, parts.here, moved, parts.there);
      std::memcpy(ready, moved, parts.there.bytes);
      file_.write_at(offset, ready, parts.there.bytes);
    } else {
      // A rank that cannot read still takes part, since the others wait for it there.
      std::exception_ptr failure;
      try {
        file_.read_at(offset, ready, parts.there.bytes);
      } catch (const IoError&) {
        failure = std::current_exception();
      }
      std::memcpy(moved, ready, parts.there.bytes);
      exchange(moved, parts.there, mine, parts.here);
      if (failure) std::rethrow_exception(failure);
      for_each_posted(mine, [](std::byte* buffer, const std::byte* packed, std::uint64_t size) {
        std::memcpy(buffer, packed, size);
      });
    }
    posted_.clear();
  }

  Json effective() const override { return {{"calls", {{"MPI_Alltoallv", calls_}}}}; }

 private:
  /// The bytes of one side for, or from, each rank.
  struct Side {
    std::vector<int> counts, starts;
    std::uint64_t bytes = 0;
  };
  struct Parts {
    Side here;   ///< this rank's data, an equal part for each rank
    Side there;  ///< what this rank writes or reads of all ranks' data
  };

  Parts share_out(std::uint64_t bytes) const {
    const auto ranks = static_cast<std::uint64_t>(context_.comm.size());
    Parts parts;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      parts.here.counts.push_back(static_cast<int>(equal_range(bytes, r, ranks).length));
    }
    parts.there.counts.resize(ranks);
    check_mpi(MPI_Alltoall(parts.here.counts.data(), 1, MPI_INT, parts.there.counts.data(), 1,
                           MPI_INT, context_.comm.get()),
              "MPI_Alltoall");
    for (Side* side : {&parts.here, &parts.there}) {
      for (const int count : side->counts) {
        side->starts.push_back(static_cast<int>(side->bytes));
        side->bytes += static_cast<std::uint64_t>(count);
      }
    }
    return parts;
  }

  template <class Copy>
  void for_each_posted(std::byte* packed, const Copy& copy) const {
    for (const auto& [buffer, size] : posted_) {
      if (size > 0) copy(buffer, packed, size);
      packed += size;
    }
  }

  void exchange(const std::byte* from, const Side& sent, std::byte* to, const Side& received) {
    check_mpi(MPI_Alltoallv(from, sent.counts.data(), sent.starts.data(), MPI_BYTE, to,
                            received.counts.data(), received.starts.data(), MPI_BYTE,
                            context_.comm.get()),
              "MPI_Alltoallv");
    ++calls_;
  }

  std::vector<std::pair<std::byte*, std::uint64_t>> posted_;
  std::shared_ptr<Memory> memory_;
  std::uint64_t end_ = 0;  ///< of what was written, or read, so far
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
  return {
      .name = "floor",
      .summary = "no order at all: two copies, one MPI_Alltoallv, one contiguous write per rank",
      .kind = MethodKind::yardstick,
      .supports = too_large,
      .make = make_method<Floor>};
}

}  // namespace slabmark
