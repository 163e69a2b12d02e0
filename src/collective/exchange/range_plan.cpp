#include "collective/exchange/range_plan.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "collective/exchange/last_writer.hpp"
#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/run_exchange.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/datatype.hpp"

namespace slabmark {

namespace {

constexpr auto without_limit = std::numeric_limits<std::uint64_t>::max();

/// Where a walk over runs has come to.
struct Cursor {
  std::size_t run = 0;
  std::uint64_t done = 0;  ///< elements of that run
};

bool has_more(const RunList& runs, Cursor cursor, std::uint64_t end) {
  return cursor.run < runs.size() && runs[cursor.run].offset + cursor.done < end;
}

/// Visits what comes next, at most `most` elements that lie before `end`. Returns how many.
template <class Visit>
std::uint64_t take(const RunList& runs, Cursor& cursor, std::uint64_t most, std::uint64_t end,
                   const Visit& visit) {
  std::uint64_t taken = 0;
  while (taken < most && has_more(runs, cursor, end)) {
    const Run run = runs[cursor.run];
    const auto at = run.offset + cursor.done;
    const auto length = std::min({run.length - cursor.done, end - at, most - taken});
    visit(Run{at, length});
    taken += length;
    cursor.done += length;
    if (cursor.done == run.length) cursor = {cursor.run + 1, 0};
  }
  return taken;
}

/// Leaves each element to the highest rank that has it.
std::vector<RunList> highest_wins(const std::vector<RunList>& held) {
  std::vector<HeldRun> all;
  for (std::size_t r = 0; r < held.size(); ++r) {
    for (const auto run : held[r]) all.push_back({run, r, {}});
  }
  return last_written(std::move(all), held.size());
}

/// Counts and displacements of a call of MPI_Alltoallv.
struct Shares {
  explicit Shares(const std::vector<std::uint64_t>& elements) : displacements(elements.size()) {
    for (const auto count : elements) {
      displacements[counts.size()] = total;
      counts.push_back(static_cast<int>(count));
      total += counts.back();
    }
  }

  std::vector<int> counts;
  std::vector<int> displacements;
  int total = 0;
};

}  // namespace

/// One move: the windows, and how far they have come. In a round, each rank's next window is
/// filled, in as many steps as it takes when no rank sends more than a window at once.
class RangePlan::Mover {
 public:
  Mover(const RangePlan& plan, std::span<const std::byte> fill, std::uint64_t window_bytes)
      : plan_(plan),
        fill_(fill),
        length_(std::max<std::uint64_t>(1, window_bytes / fill.size())),
        sent_(plan.ranks()),
        placed_(plan.ranks()) {}

  void run(const Read& read, const Write& write) {
    const auto longest = equal_range(plan_.total_, 0, plan_.ranks()).length;
    for (std::uint64_t first = 0; first < longest && move_round(first, read, write);
         first += length_) {
    }
    if (plan_.comm_) {
      agree(*plan_.comm_, attempt_.failure());
    } else if (attempt_.failure()) {
      std::rethrow_exception(attempt_.failure());
    }
  }

 private:
  enum class RoundStatus : std::uint64_t { done, more, failed };

  /// The window of a rank that begins with element `first` of its range.
  Run window(std::size_t owner, std::uint64_t first) const {
    const auto range = equal_range(plan_.total_, owner, plan_.ranks());
    const auto from = std::min(first, range.length);
    return {range.offset + from, std::min(length_, range.length - from)};
  }

  // False once some rank has failed.
  bool move_round(std::uint64_t first, const Read& read, const Write& write) {
    const auto mine = window(plan_.rank(), first);
    start(mine);
    for (auto status = RoundStatus::more; status == RoundStatus::more;) {
      const auto counts = pack(first, read);
      place(mine, exchange(counts));
      status = agreed_status(first);
      if (status == RoundStatus::failed) return false;
    }
    attempt_.run([&] {
      if (mine.length > 0) write(mine, window_.data());
    });
    return true;
  }

  void start(Run mine) {
    window_.resize(mine.length * fill_.size());
    std::uint64_t covered = 0;
    for (const auto& runs : plan_.wanted_) covered += count_in(runs, mine);
    if (covered == mine.length) return;
    for (auto at = window_.begin(); at != window_.end(); at += fill_.size()) {
      std::copy(fill_.begin(), fill_.end(), at);
    }
  }

  /// Elements for each rank, put into out_.
  std::vector<std::uint64_t> pack(std::uint64_t first, const Read& read) {
    std::vector<std::uint64_t> counts;
    RunList runs;
    auto room = length_;
    for (std::size_t owner = 0; owner < plan_.ranks(); ++owner) {
      const auto end = window(owner, first).end();
      counts.push_back(take(plan_.asked_[owner], sent_[owner], room, end,
                            [&](Run run) { runs.push_back(run); }));
      room -= counts.back();
    }
    out_.resize((length_ - room) * fill_.size());
    attempt_.run([&] {
      if (!runs.empty()) read(runs, out_.data());
    });
    return counts;
  }

  /// Sends out_, and returns how many elements of each rank are in in_ now.
  std::vector<std::uint64_t> exchange(const std::vector<std::uint64_t>& counts) {
    if (plan_.ranks() == 1) {
      std::swap(out_, in_);
      return counts;
    }
    const auto theirs = exchange_counts(*plan_.comm_, counts);
    const Shares to(counts);
    const Shares from(theirs);
    in_.resize(static_cast<std::size_t>(from.total) * fill_.size());
    const Datatype element = contiguous(static_cast<int>(fill_.size()), MPI_BYTE);
    check_mpi(MPI_Alltoallv(out_.data(), to.counts.data(), to.displacements.data(), element.get(),
                            in_.data(), from.counts.data(), from.displacements.data(),
                            element.get(), plan_.comm_->get()),
              "MPI_Alltoallv");
    return theirs;
  }

  void place(Run mine, const std::vector<std::uint64_t>& counts) {
    const auto* from = in_.data();
    for (std::size_t source = 0; source < counts.size(); ++source) {
      take(plan_.wanted_[source], placed_[source], counts[source], without_limit, [&](Run run) {
        const auto bytes = run.length * fill_.size();
        std::memcpy(window_.data() + (run.offset - mine.offset) * fill_.size(), from, bytes);
        from += bytes;
      });
    }
  }

  RoundStatus agreed_status(std::uint64_t first) const {
    auto status = attempt_.failure() ? RoundStatus::failed : RoundStatus::done;
    for (std::size_t owner = 0; owner < plan_.ranks() && status == RoundStatus::done; ++owner) {
      if (has_more(plan_.asked_[owner], sent_[owner], window(owner, first).end())) {
        status = RoundStatus::more;
      }
    }
    if (!plan_.comm_) return status;
    return static_cast<RoundStatus>(plan_.comm_->max(static_cast<std::uint64_t>(status)));
  }

  const RangePlan& plan_;
  std::span<const std::byte> fill_;
  std::uint64_t length_;        ///< elements of a window
  std::vector<Cursor> sent_;    ///< in asked_, by rank
  std::vector<Cursor> placed_;  ///< in wanted_, by rank
  std::vector<std::byte> out_, in_, window_;
  Attempt attempt_;
};

RangePlan::RangePlan(const Comm* comm, RunList held, std::uint64_t total)
    : comm_(comm), total_(total) {
  if (ranks() == 1) {
    asked_.push_back(std::move(held));
    wanted_ = asked_;
    return;
  }
  ByRank by_owner(ranks());
  Cursor cursor;
  for (std::size_t owner = 0; owner < ranks(); ++owner) {
    take(held, cursor, without_limit, equal_range(total, owner, ranks()).end(),
         [&](Run run) { by_owner[owner].push_back(run); });
  }
  held = {};
  wanted_ = highest_wins(exchange_runs(*comm_, by_owner));
  asked_ = exchange_runs(*comm_, wanted_);
}

void RangePlan::move(std::span<const std::byte> fill, std::uint64_t window_bytes, const Read& read,
                     const Write& write) const {
  Mover(*this, fill, window_bytes).run(read, write);
}

}  // namespace slabmark
