#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collective/exchange/rearranger.hpp"
#include "core/parallel/comm.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::collective {

/// The options of a user. An empty one leaves the choice to Settings.
struct Options {
  std::string prefix;  ///< of the names of these options, for reports: "pnetcdf."
  std::optional<std::uint64_t> aggregators, window, align, writers;
  std::uint64_t node_ranks = 0;
  std::uint64_t holes = RearrangerSettings{}.bridged_hole;
};

/// How a file is moved, chosen from options, hints and the file system. It alone reads hints for
/// the engine. A hint is advice: one that is no number counts as not given.
class Settings {
 public:
  using Hints = std::map<std::string, std::string>;

  Settings() = default;
  /// `asked`: hints of the user; `in_effect`: those of the open file, which is at `path`.
  Settings(const Options& options, const Hints& asked, Hints in_effect, const std::string& path);

  /// Numbers that ranks must choose alike, also where the file system looks different to them. The
  /// least of all ranks' counts, so that a caller can reduce them together with its own.
  using Proposal = std::array<std::uint64_t, 5>;
  const Proposal& proposal() const { return numbers_; }
  /// The proposal of a rank that leaves the choice to the others.
  static Proposal no_opinion();
  void settle(const Proposal& least) { numbers_ = least; }
  /// Collective: settles on what all ranks, or those with an opinion, propose.
  void agree(const Comm& comm, bool has_opinion = true);

  struct Choice {
    std::uint64_t value;
    std::string from;  ///< "hint striping_unit", "option pnetcdf.align"
  };
  Choice alignment() const { return {numbers_[alignment_number], alignment_from_}; }
  /// 0: as many as nodes, cores and stripes suggest.
  Choice aggregators() const { return {numbers_[aggregators_number], aggregators_from_}; }
  RearrangerSettings exchange() const;
  const Hints& hints_in_effect() const { return in_effect_; }

 private:
  enum Number : std::size_t {
    aggregators_number,
    stripes_number,
    alignment_number,
    node_ranks_number,
    unlocked_number,  ///< the file system lets several processes write to the file at once
  };

  Options options_;
  Hints in_effect_;
  std::string alignment_from_, aggregators_from_;
  Proposal numbers_ = {};
};

/// The hints of `info` but for those with which MPI-IO is known to crash or to crawl: see
/// mpiio::check_hints().
mpiio::Hints usable_hints(MPI_Info info);

/// The user's hints behind those that every data file is opened with: transfers are large and
/// contiguous, so what MPI-IO does for small ones is in the way.
mpiio::Hints with_own_hints(const mpiio::Hints& user);

}  // namespace slabmark::collective
