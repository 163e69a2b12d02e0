#include "accel/c_library/options.hpp"

#include <functional>
#include <optional>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark::rearrange {

namespace {

// Messages are counted in int.
constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;

std::optional<std::uint64_t> size_or_auto(const std::string& value, const std::string& what) {
  if (value == "auto") return std::nullopt;
  const std::uint64_t size = parse_size(value, what);
  if (size == 0) throw InputError(what + " is at least 1, or auto.");
  return size;
}

void refuse_without_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return;
  throw Failure(SLABMARK_ETHREADS,
                "A thread can write only where MPI_Init_thread was asked for, and gave, "
                "MPI_THREAD_MULTIPLE; I/O ranks need no thread.");
}

}  // namespace

void SystemOptions::set_value(const std::string& name, const std::string& value,
                              bool has_io_ranks) {
  const std::string what = "Option " + name;
  if (name == "aggregators") {
    of_exchange_.aggregators = size_or_auto(value, what);
  } else if (name == "window") {
    const auto window = size_or_auto(value, what);
    if (window > largest_window) throw InputError(what + " is at most 1G.");
    of_exchange_.window = window;
  } else if (name == "align") {
    of_exchange_.align = size_or_auto(value, what);
  } else if (name == "writers") {
    of_exchange_.writers = size_or_auto(value, what);
  } else if (name == "holes") {
    of_exchange_.holes = parse_size(value, what);
  } else if (name == "node_ranks") {
    of_exchange_.node_ranks = parse_size(value, what);
  } else if (name == "held") {
    held_ = parse_size(value, what);
  } else if (name == "in_flight") {
    const std::uint64_t in_flight = parse_size(value, what);
    if (in_flight > 0 && !has_io_ranks) refuse_without_threads();
    in_flight_ = in_flight;
  } else if (name == "overlap") {
    overlap_.flushes = parse_size(value, what);
    overlap_.is_on = overlap_.flushes > 0;
    if (overlap_.is_on && has_io_ranks) {
      throw InputError(
          "I/O ranks write while the program goes on: leave out overlap, and set "
          "in_flight.");
    }
  } else if (name == "overlap_memory") {
    overlap_.memory = parse_size(value, what);
  } else {
    throw InputError(fmt::format(
        "There is no option '{}', but aggregators, window, align, writers, holes, node_ranks, "
        "held, in_flight, overlap and overlap_memory.",
        name));
  }
}

void SystemOptions::set(const std::string& name, const std::string& value, bool has_io_ranks) {
  if (are_agreed_) {
    throw Failure(SLABMARK_EARGUMENT, "Options are set before the first file is opened.");
  }
  try {
    set_value(name, value, has_io_ranks);
  } catch (const InputError& error) {
    throw Failure(SLABMARK_EARGUMENT, error.what());
  }
  as_set_.emplace_back(name, value);
}

void SystemOptions::agree(const Comm& comm) {
  if (are_agreed_) return;
  const auto text =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", of_exchange_.aggregators.value_or(0),
                  of_exchange_.window.value_or(0), of_exchange_.align.value_or(0),
                  of_exchange_.writers.value_or(0), of_exchange_.holes, of_exchange_.node_ranks,
                  held_, in_flight_, overlap_.flushes, overlap_.memory);
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1);
  std::int64_t common[] = {hash, -hash};
  rearrange::agree(comm, nullptr, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS, "Ranks have set different options; set the same on all.");
  }
  if (overlap_.is_on && in_flight_ > 0) {
    throw Failure(SLABMARK_EARGUMENT,
                  "Both overlap and in_flight write while the program goes on; set one of them.");
  }
  are_agreed_ = true;
}

void SystemOptions::share(const Comm& comm, bool takes) {
  if (std::exchange(are_shared_, true)) return;
  as_set_.resize(comm.broadcast(static_cast<std::uint64_t>(as_set_.size())));
  for (auto [name, value] : std::exchange(as_set_, {})) {
    name = comm.broadcast(name);
    value = comm.broadcast(value);
    if (takes) set(name, value, true);
  }
}

}  // namespace slabmark::rearrange
