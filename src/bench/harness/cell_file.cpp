#include "bench/harness/cell_file.hpp"

#include <algorithm>
#include <cstring>

#include "bench/harness/cell_record.hpp"

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

CellFile::CellFile(const RunResources& shared, const Cell& cell, const Pattern& pattern,
                   Direction direction, std::shared_ptr<void>* kept)
    : shared_(shared),
      cell_(cell),
      pattern_(pattern),
      direction_(direction),
      clock_(shared.comm, &shared.deadline),
      file_(*cell.method, {shared.comm, pattern_, direction, cell.settings, clock_, kept}) {}

void CellFile::begin(const std::string& path, const std::function<void()>& created) {
  if (direction_ == Direction::write) {
    // The work that a simulation does before a round of an open file comes directly before that
    // round.
    if (pattern_.file_policy != FilePolicy::appended && pattern_.rounds > 0) {
      make_ready(0, pattern_.rounds);
    }
    if (cell_.before_create) {
      clock_.pause([&] {
        if (shared_.comm.is_root()) cell_.before_create(path);
      });
    }
  }
  file_.begin(path, created);
}

void CellFile::move(std::uint64_t first, std::uint64_t end) {
  if (!ready_) filled_.clear();  // cells that take turns share their buffers
  for (; first < end; first += group_.rounds()) {
    if (ready_ != first) make_ready(first, end);
    ready_.reset();
    std::vector<std::span<std::byte* const>> rounds;
    for (std::uint64_t i = 0; i < group_.rounds(); ++i) {
      rounds.push_back(group_.of_round(i, buffers_));
    }
    file_.move(first, rounds);
    if (cell_.after_round) {
      clock_.pause([&] {
        for (std::uint64_t i = 0; i < group_.rounds(); ++i) cell_.after_round(first + i);
      });
    }
    if (direction_ == Direction::read && shared_.options.verify) clock_.pause([&] { check(); });
  }
}

void CellFile::make_ready(std::uint64_t first, std::uint64_t end) {
  clock_.pause([&] {
    group_ = make_group(pattern_, first, std::min(cell_.rounds_together, end - first));
    if (cell_.before_round) {
      // A captured program's file of one round is the pattern's round of that number.
      const std::uint64_t before = pattern_.captured ? pattern_.file : 0;
      for (std::uint64_t i = 0; i < group_.rounds(); ++i) cell_.before_round(before + first + i);
    }
    if (direction_ == Direction::write && cell_.memory) {
      buffers_ = cell_.memory(group_.transfers);
    } else {
      buffers_ = shared_.buffers.lay_out(pattern_, group_, cell_.one_buffer);
      direction_ == Direction::write ? fill(first) : wipe();
    }
  });
  ready_ = first;
}

void CellFile::fill(std::uint64_t first) {
  if (!cell_.fill && hold_the_same(pattern_, filled_, group_.transfers)) return;
  for (std::uint64_t i = 0; i < group_.rounds(); ++i) {
    for (std::size_t t = group_.begin[i]; t < group_.begin[i + 1]; ++t) {
      const Transfer& transfer = group_.transfers[t];
      if (cell_.fill) {
        const Dataset& dataset = pattern_.datasets[transfer.dataset];
        cell_.fill(first + i, transfer, {buffers_[t], buffer_bytes(transfer, dataset)});
      } else {
        fill_buffer(pattern_, transfer, buffers_[t]);
      }
    }
  }
  filled_ = group_.transfers;
}

// The contents that an earlier round or trial left there must not pass for those that are read now.
void CellFile::wipe() {
  for (std::size_t i = 0; i < group_.transfers.size(); ++i) {
    const Transfer& transfer = group_.transfers[i];
    const auto bytes = buffer_bytes(transfer, pattern_.datasets[transfer.dataset]);
    if (bytes > 0) std::memset(buffers_[i], 0x5A, bytes);
  }
}

void CellFile::check() {
  for (std::size_t i = 0; i < group_.transfers.size(); ++i) {
    add_mismatch(mismatch_, check_buffer(pattern_, group_.transfers[i], buffers_[i]));
    checked_ += group_.transfers[i].file->element_count();
  }
}

}  // namespace slabmark
