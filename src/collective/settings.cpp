#include "collective/settings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::collective {

namespace {

/// Bytes that file systems lock or cache as one, where no hint says more.
constexpr std::uint64_t page = 4096;

/// Returns nothing if the hint does not exist or is not a number: some hints are words.
std::optional<std::uint64_t> number_in(const Settings::Hints& hints, const std::string& name) {
  const auto found = hints.find(name);
  if (found == hints.end()) return std::nullopt;
  try {
    return parse_size(found->second, name);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

Settings::Settings(const Options& options, const Hints& asked, Hints in_effect,
                   const std::string& path)
    : options_(options), in_effect_(std::move(in_effect)) {
  // Open MPI 5 does not tell the hints that it was given.
  const auto striping = [&](const std::string& name) {
    const Hints& hints = in_effect_.contains(name) ? in_effect_ : asked;
    return number_in(hints, name);
  };
  const std::uint64_t stripes = std::max<std::uint64_t>(striping("striping_factor").value_or(1), 1);
  numbers_[stripes_number] = stripes;
  numbers_[node_ranks_number] = options.node_ranks;
  numbers_[unlocked_number] = posix::locks_file_to_write(path) ? 0 : 1;

  const auto nodes = number_in(asked, "cb_nodes");
  numbers_[aggregators_number] = options.aggregators.value_or(nodes.value_or(0));
  if (options.aggregators) {
    aggregators_from_ = "option " + options.prefix + "aggregators";
  } else if (nodes) {
    aggregators_from_ = "hint cb_nodes";
  } else {
    aggregators_from_ = stripes > 1 ? "nodes and hint striping_factor" : "nodes";
  }

  const std::uint64_t stripe = striping("striping_unit").value_or(0);
  numbers_[alignment_number] = options.align.value_or(std::max(stripe, page));
  if (options.align) {
    alignment_from_ = "option " + options.prefix + "align";
  } else {
    alignment_from_ = stripe >= page ? "hint striping_unit" : "page";
  }
}

Settings::Proposal Settings::no_opinion() {
  Proposal proposal;
  proposal.fill(std::numeric_limits<std::uint64_t>::max());
  return proposal;
}

void Settings::agree(const Comm& comm, bool has_opinion) {
  if (!has_opinion) numbers_ = no_opinion();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(numbers_.size()),
                          MPI_UINT64_T, MPI_MIN, comm.get()),
            "MPI_Allreduce");
}

RearrangerSettings Settings::exchange() const {
  RearrangerSettings settings;
  settings.aggregators = numbers_[aggregators_number];
  settings.stripes = numbers_[stripes_number];
  settings.window = options_.window.value_or(0);
  settings.node_ranks = numbers_[node_ranks_number];
  settings.writers = options_.writers.value_or(numbers_[unlocked_number] == 0 ? 1 : 0);
  settings.bridged_hole = options_.holes;
  return settings;
}

mpiio::Hints usable_hints(MPI_Info info) {
  mpiio::Hints hints;
  for (const auto& entry : mpiio::entries_of(info)) {
    try {
      mpiio::check_hints({entry});
      hints.push_back(entry);
    } catch (const InputError&) {  // MPI-IO is free to leave out any hint
    }
  }
  return hints;
}

mpiio::Hints with_own_hints(const mpiio::Hints& user) {
  mpiio::Hints all = {{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}};
  all.insert(all.end(), user.begin(), user.end());
  return all;
}

}  // namespace slabmark::collective
