#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/clock.hpp"
#include "bench/method/format.hpp"
#include "bench/method/method.hpp"
#include "bench/method/timed_file.hpp"
#include "bench/pattern/content.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Memory behind the transfers of one round, each buffer on its own.
class RoundBuffers {
 public:
  RoundBuffers(const Pattern& pattern, std::uint64_t round) : transfers_(pattern.transfers(round)) {
    for (const auto& transfer : transfers_) {
      memory_.emplace_back(buffer_bytes(transfer, pattern.datasets[transfer.dataset]));
    }
  }

  const std::vector<Transfer>& transfers() const { return transfers_; }
  const std::vector<std::vector<std::byte>>& memory() const { return memory_; }

  std::vector<std::byte*> pointers() {
    std::vector<std::byte*> all;
    for (auto& buffer : memory_) all.push_back(buffer.data());
    return all;
  }

  void fill(const Pattern& pattern) {
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      fill_buffer(pattern, transfers_[i], memory_[i].data());
    }
  }

  /// Empty if all selected elements hold what they should.
  std::string fault(const Pattern& pattern) const {
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      const auto mismatch = check_buffer(pattern, transfers_[i], memory_[i].data());
      if (mismatch) return describe(*mismatch, pattern);
    }
    return "";
  }

 private:
  std::vector<Transfer> transfers_;
  std::vector<std::vector<std::byte>> memory_;
};

/// When a pass flushes.
enum class Flush { each_round, at_the_end };

/// What came of one pass of a pattern through a method.
struct Outcome {
  Json effective;
  std::string fault;  ///< of this rank; empty if all was well
};

namespace pass_detail {

/// Moves all rounds through an open file; `ready` is called before a round is posted, `done` after
/// its flush.
template <class Ready, class Done>
void move_rounds(TimedFile& file, const Pattern& pattern, Flush flush, const Ready& ready,
                 const Done& done) {
  const auto together = flush == Flush::each_round ? 1 : pattern.rounds;
  for (std::uint64_t first = 0; first < pattern.rounds; first += together) {
    std::deque<RoundBuffers> buffers;
    std::deque<std::vector<std::byte*>> pointers;
    std::vector<std::span<std::byte* const>> rounds;
    for (auto round = first; round < first + together; ++round) {
      ready(buffers.emplace_back(pattern, round));
      rounds.emplace_back(pointers.emplace_back(buffers.back().pointers()));
    }
    file.move(first, rounds);
    for (const auto& moved : buffers) done(moved);
  }
}

}  // namespace pass_detail

/// Writes `pattern` to `path` with the known contents. A buffer that is not what it was after flush
/// is a fault. `kept` as in MethodContext. Collective; errors are agreed.
inline Outcome write_file(const MethodInfo& info, const Comm& comm, const Pattern& pattern,
                          const Settings& settings, const std::string& path,
                          Flush flush = Flush::each_round, std::shared_ptr<void>* kept = nullptr) {
  PhaseClock clock(comm);
  TimedFile file(info, {comm, pattern, Direction::write, settings, clock, kept});
  file.begin(path);
  Outcome outcome;
  pass_detail::move_rounds(
      file, pattern, flush, [&](RoundBuffers& buffers) { buffers.fill(pattern); },
      [&](const RoundBuffers& buffers) {
        auto untouched = buffers;
        untouched.fill(pattern);
        if (buffers.memory() != untouched.memory()) outcome.fault = "a buffer changed";
      });
  file.sync();
  outcome.effective = file.end();
  return outcome;
}

/// Reads it back and checks the buffers.
inline Outcome read_file(const MethodInfo& info, const Comm& comm, const Pattern& pattern,
                         const Settings& settings, const std::string& path,
                         Flush flush = Flush::each_round, std::shared_ptr<void>* kept = nullptr) {
  PhaseClock clock(comm);
  TimedFile file(info, {comm, pattern, Direction::read, settings, clock, kept});
  file.begin(path);
  Outcome outcome;
  pass_detail::move_rounds(
      file, pattern, flush, [](RoundBuffers&) {},
      [&](const RoundBuffers& buffers) {
        if (outcome.fault.empty()) outcome.fault = buffers.fault(pattern);
      });
  outcome.effective = file.end();
  return outcome;
}

/// Checks the elements of `part`, for example what another rank wrote, with the plain reader. Empty
/// if all is right. Collective.
inline std::string check_plainly(FileFormat format, const Comm& comm, const Pattern& part,
                                 const std::string& path) {
  const auto reader = info_of(format).open(comm, part, path);
  std::string fault;
  for (std::uint64_t round = 0; round < part.rounds; ++round) {
    for (const auto& transfer : part.transfers(round)) {
      const auto type = part.datasets[transfer.dataset].type;
      transfer.file->for_each_run([&](Run run) {
        std::vector<std::byte> found(run.length * size_of(type));
        reader->read(transfer.dataset, transfer.time, run, found.data());
        const auto mismatch = check_run(part, transfer.dataset, transfer.time, run, found.data());
        if (mismatch && fault.empty()) fault = describe(*mismatch, part);
      });
    }
  }
  return fault;
}

}  // namespace slabmark
