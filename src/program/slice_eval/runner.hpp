#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/slice_eval/measure.hpp"
#include "program/slice_eval/way.hpp"

namespace slabmark::slice_eval {

/// The record of a way and a slice before its first output. Collective.
CellRecord begin_record(const std::string& method, const WayContext& context, std::size_t cells);

/// A way that takes part, its files with it. All functions are collective.
class Runner {
 public:
  Runner(Row row, const WayContext& context);
  ~Runner();  ///< removes the files, unless they are to be kept
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// One output, the way's turn number `position` in `round`; round 0 is the warm-up.
  void output(std::uint64_t round, std::uint64_t position);

  /// Closes the files, checks what they hold and hands out the row.
  Row finish();

 private:
  /// One output, as this rank saw it.
  struct Output {
    RankTimes times;
    std::uint64_t round = 0;
    std::uint64_t position = 0;
  };

  void collect_files();
  void summarise();
  void check();

  Row row_;
  WayContext context_;
  std::unique_ptr<Way> way_;
  std::vector<std::uint64_t> iterations_;
  std::vector<std::string> files_;
  std::vector<Output> outputs_;
  slice::Tally warm_up_;  ///< what the first output moved
  std::uint64_t kernel_writes_ = 0;
};

}  // namespace slabmark::slice_eval
