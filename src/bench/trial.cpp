#include "bench/trial.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace slabmark {

namespace {

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

Trial write_trial(const Comm& comm, const Cell& cell, Buffers& buffers, bool sync,
                  Deadline& deadline) {
  const Pattern& pattern = *cell.written;
  PhaseClock clock(comm, &deadline);
  const Comm of_method(comm.get());
  const auto method =
      cell.method->make({of_method, pattern, Direction::write, cell.settings, clock});

  std::span<std::byte* const> round_buffers;
  std::vector<Transfer> filled;
  const auto fill = [&](std::uint64_t round) {
    std::vector<Transfer> transfers = pattern.transfers(round);
    round_buffers = buffers.lay_out(pattern, transfers);
    if (hold_the_same(pattern, filled, transfers)) return;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      fill_buffer(pattern, transfers[i], round_buffers[i]);
    }
    filled = std::move(transfers);
  };

  if (pattern.rounds > 0) clock.pause([&] { fill(0); });
  if (cell.before_create) {
    clock.pause([&] {
      if (comm.is_root()) cell.before_create(cell.path);
    });
  }
  clock.time(Phase::create, [&] { method->create(cell.path); });
  clock.time(Phase::define, [&] { method->define(); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    if (round > 0) clock.pause([&] { fill(round); });
    clock.time(Phase::post, [&] { method->post(round, round_buffers); });
    clock.time(Phase::flush, [&] { method->flush(); });
  }
  if (sync) clock.time(Phase::sync, [&] { method->sync(); });
  clock.time(Phase::close, [&] { method->close(); });
  return {clock.times(), method->effective(), std::nullopt, 0};
}

Trial read_trial(const Comm& comm, const Cell& cell, Buffers& buffers, bool verify,
                 Deadline& deadline) {
  const Pattern& pattern = *cell.read;
  PhaseClock clock(comm, &deadline);
  const Comm of_method(comm.get());
  const auto method =
      cell.method->make({of_method, pattern, Direction::read, cell.settings, clock});
  Trial trial;

  clock.time(Phase::open, [&] { method->open(cell.path); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    const std::vector<Transfer> transfers = pattern.transfers(round);
    const auto round_buffers = buffers.lay_out(pattern, transfers);
    // What an earlier round or trial left there must not pass for what is read now.
    clock.pause([&] {
      for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto bytes = buffer_bytes(transfers[i], pattern.datasets[transfers[i].dataset]);
        if (bytes > 0) std::memset(round_buffers[i], 0x5A, bytes);
      }
    });
    clock.time(Phase::post, [&] { method->post(round, round_buffers); });
    clock.time(Phase::flush, [&] { method->flush(); });
    if (!verify) continue;
    clock.pause([&] {
      for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto mismatch = check_buffer(pattern, transfers[i], round_buffers[i]);
        if (mismatch && !trial.mismatch) trial.mismatch = mismatch;
        trial.checked += transfers[i].file->element_count();
      }
    });
  }
  clock.time(Phase::close, [&] { method->close(); });
  trial.times = clock.times();
  trial.effective = method->effective();
  return trial;
}

}  // namespace slabmark
