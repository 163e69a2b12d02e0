#include "bench/trial.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace slabmark {

namespace {

void fill(const Cell& cell, std::uint64_t round, const Transfer& transfer, std::byte* buffer) {
  if (!cell.fill) {
    fill_buffer(*cell.written, transfer, buffer);
    return;
  }
  const Dataset& dataset = cell.written->datasets[transfer.dataset];
  cell.fill(round, transfer, {buffer, buffer_bytes(transfer, dataset)});
}

void post(Method& method, std::uint64_t first, const RoundGroup& group,
          std::span<std::byte* const> buffers) {
  for (std::uint64_t i = 0; i < group.rounds(); ++i) {
    method.post(first + i, group.of_round(i, buffers));
  }
}

/// Keeps the first mismatch and counts the elements of all.
void note(Trial& trial, const std::optional<Mismatch>& found) {
  if (!found) return;
  if (trial.mismatch) {
    trial.mismatch->count += found->count;
  } else {
    trial.mismatch = found;
  }
}

/// True if the buffers of `before` hold what those of `after` must hold, so that a function of the
/// user's need not be called again for millions of elements.
bool hold_the_same(const Pattern& pattern, const std::vector<Transfer>& before,
                   const std::vector<Transfer>& after) {
  if (!pattern.content || !pattern.content->same_at_all_times()) return false;
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const Transfer& a, const Transfer& b) {
                      return a.dataset == b.dataset && a.file == b.file && a.buffer == b.buffer;
                    });
}

}  // namespace

// A method gets a communicator of its own: what a failing rank leaves half-done on it must not meet
// the agreement about that failure.

Trial write_trial(const Comm& comm, const Cell& cell, mpiio::TrialFile& file, Buffers& buffers,
                  bool sync, Deadline& deadline, std::shared_ptr<void>* kept) {
  const Pattern& pattern = *cell.written;
  PhaseClock clock(comm, &deadline);
  const Comm of_method(comm.get());
  const auto method =
      cell.method->make({of_method, pattern, Direction::write, cell.settings, clock, kept});

  RoundGroup group;
  std::span<std::byte* const> group_buffers;
  std::vector<Transfer> filled;
  const auto fill_group = [&](std::uint64_t first) {
    group = make_group(pattern, first, cell.rounds_together);
    group_buffers = buffers.lay_out(pattern, group, cell.one_buffer);
    if (!cell.fill && hold_the_same(pattern, filled, group.transfers)) return;
    for (std::uint64_t i = 0; i < group.rounds(); ++i) {
      for (std::size_t t = group.begin[i]; t < group.begin[i + 1]; ++t) {
        fill(cell, first + i, group.transfers[t], group_buffers[t]);
      }
    }
    filled = group.transfers;
  };

  if (pattern.rounds > 0) clock.pause([&] { fill_group(0); });
  if (cell.before_create) {
    clock.pause([&] {
      if (comm.is_root()) cell.before_create(file.path());
    });
  }
  clock.time(Phase::create, [&] { method->create(file.path()); });
  if (cell.method->companions) clock.pause([&] { file.guard_companions(); });
  clock.time(Phase::define, [&] { method->define(); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  for (std::uint64_t first = 0; first < pattern.rounds; first += group.rounds()) {
    if (first > 0) clock.pause([&] { fill_group(first); });
    clock.time(Phase::post, [&] { post(*method, first, group, group_buffers); });
    clock.time(Phase::flush, [&] { method->flush(); });
  }
  if (sync) clock.time(Phase::sync, [&] { method->sync(); });
  clock.pause([&] { method->inspect(); });
  clock.time(Phase::close, [&] { method->close(); });
  return {clock.times(), method->effective(), std::nullopt, 0};
}

Trial read_trial(const Comm& comm, const Cell& cell, Buffers& buffers, bool verify,
                 Deadline& deadline, std::shared_ptr<void>* kept) {
  const Pattern& pattern = *cell.read;
  PhaseClock clock(comm, &deadline);
  const Comm of_method(comm.get());
  const auto method =
      cell.method->make({of_method, pattern, Direction::read, cell.settings, clock, kept});
  Trial trial;

  clock.time(Phase::open, [&] { method->open(cell.path); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  RoundGroup group;
  for (std::uint64_t first = 0; first < pattern.rounds; first += group.rounds()) {
    std::span<std::byte* const> group_buffers;
    // What an earlier round or trial left there must not pass for what is read now.
    clock.pause([&] {
      group = make_group(pattern, first, cell.rounds_together);
      group_buffers = buffers.lay_out(pattern, group, cell.one_buffer);
      for (std::size_t i = 0; i < group.transfers.size(); ++i) {
        const Transfer& transfer = group.transfers[i];
        const auto bytes = buffer_bytes(transfer, pattern.datasets[transfer.dataset]);
        if (bytes > 0) std::memset(group_buffers[i], 0x5A, bytes);
      }
    });
    clock.time(Phase::post, [&] { post(*method, first, group, group_buffers); });
    clock.time(Phase::flush, [&] { method->flush(); });
    if (!verify) continue;
    clock.pause([&] {
      for (std::size_t i = 0; i < group.transfers.size(); ++i) {
        note(trial, check_buffer(pattern, group.transfers[i], group_buffers[i]));
        trial.checked += group.transfers[i].file->element_count();
      }
    });
  }
  clock.pause([&] { method->inspect(); });
  clock.time(Phase::close, [&] { method->close(); });
  trial.times = clock.times();
  trial.effective = method->effective();
  return trial;
}

}  // namespace slabmark
