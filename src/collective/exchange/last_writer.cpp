#include "collective/exchange/last_writer.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/run_exchange.hpp"

namespace slabmark {

namespace {

/// Collective. By rank, the parts of its runs that lie in this rank's range of the array.
std::vector<RunList> runs_of_my_range(const Comm& comm, std::span<const Run> held,
                                      std::uint64_t total) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<RunList> parts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const Run range = equal_range(total, r, ranks);
    for (const Run& run : within(held, range)) parts[r].push_back(common_part(run, range));
  }
  return exchange_runs(comm, parts);
}

/// The elements that several ranks have, ascending. Each rank's runs do not overlap.
RunList shared_elements(const std::vector<RunList>& by_rank) {
  RunList all;
  for (const RunList& runs : by_rank) all.insert(all.end(), runs.begin(), runs.end());
  sort_runs(all);
  RunList shared;
  std::uint64_t reached = 0;
  for (const Run& run : all) {
    const std::uint64_t end = std::min(run.end(), reached);
    const std::uint64_t begin =
        std::max(run.offset, shared.empty() ? std::uint64_t{0} : shared.back().end());
    if (begin < end) append(shared, {begin, end - begin});
    reached = std::max(reached, run.end());
  }
  return shared;
}

/// Calls `visit(index, part)` with the parts of `runs` that lie in `wanted`. Both ascend without
/// overlap.
template <class Visit>
void for_each_common(std::span<const Run> runs, std::span<const Run> wanted, const Visit& visit) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    while (next < wanted.size() && wanted[next].end() <= runs[i].offset) ++next;
    for (auto one = next; one < wanted.size() && wanted[one].offset < runs[i].end(); ++one) {
      visit(i, common_part(runs[i], wanted[one]));
    }
  }
}

/// The rest of `runs` without `taken`, which are parts of them.
RunList without(const RunList& runs, const RunList& taken) {
  RunList rest;
  std::size_t next = 0;
  for (const Run& run : runs) {
    std::uint64_t at = run.offset;
    while (next < taken.size() && taken[next].offset < run.end()) {
      if (taken[next].offset > at) append(rest, {at, taken[next].offset - at});
      at = taken[next].end();
      if (at > run.end()) break;  // it goes on in the next run
      ++next;
    }
    if (at < run.end()) append(rest, {at, run.end() - at});
  }
  return rest;
}

}  // namespace

std::vector<RunList> last_written(std::vector<HeldRun> held, std::size_t ranks) {
  std::sort(held.begin(), held.end(),
            [](const HeldRun& a, const HeldRun& b) { return a.run.offset < b.run.offset; });
  const auto is_before = [](const HeldRun& a, const HeldRun& b) {
    return std::tie(a.order, a.rank) < std::tie(b.order, b.rank);
  };
  std::priority_queue<HeldRun, std::vector<HeldRun>, decltype(is_before)> begun(is_before);
  std::vector<RunList> result(ranks);
  std::uint64_t at = 0;
  for (std::size_t next = 0; next < held.size() || !begun.empty();) {
    if (begun.empty()) at = std::max(at, held[next].run.offset);
    while (next < held.size() && held[next].run.offset <= at) begun.push(held[next++]);
    const HeldRun top = begun.top();
    if (top.run.end() <= at) {
      begun.pop();
      continue;
    }
    const std::uint64_t end =
        next < held.size() ? std::min(top.run.end(), held[next].run.offset) : top.run.end();
    append(result[top.rank], {at, end - at});
    at = end;
  }
  return result;
}

bool ranks_overlap(const Comm& comm, std::span<const Run> held, std::uint64_t total) {
  return comm.any(!shared_elements(runs_of_my_range(comm, held, total)).empty());
}

// Each rank looks at one range of the array. The orders are asked for only where ranks overlap.
RunList overwritten_by_others(
    const Comm& comm, std::span<const Run> held, std::uint64_t total,
    const std::function<std::vector<WriteOrder>(std::span<const std::size_t>)>& orders) {
  auto of_rank = runs_of_my_range(comm, held, total);
  const RunList shared = shared_elements(of_rank);
  if (!comm.any(!shared.empty())) return {};

  for (RunList& runs : of_rank) {
    RunList common;
    for_each_common(runs, shared, [&](std::size_t, Run part) { common.push_back(part); });
    runs = std::move(common);
  }
  // A part lies in one run of `held`: what is sent is not merged.
  const auto parts = exchange_runs(comm, of_rank);
  RunList asked;
  for (const RunList& of_range : parts) asked.insert(asked.end(), of_range.begin(), of_range.end());
  std::vector<std::size_t> indices;
  for_each_common(held, asked, [&](std::size_t i, Run) { indices.push_back(i); });
  const std::vector<WriteOrder> found = orders(indices);
  std::vector<RunList> numbers;
  auto next = found.begin();
  for (const RunList& of_range : parts) {
    RunList& mine = numbers.emplace_back();
    for (std::size_t i = 0; i < of_range.size(); ++i, ++next) {
      mine.push_back({next->number, next->time});
    }
  }
  numbers = exchange_runs(comm, numbers);

  std::vector<HeldRun> all;
  for (std::size_t r = 0; r < of_rank.size(); ++r) {
    for (std::size_t i = 0; i < of_rank[r].size(); ++i) {
      all.push_back({of_rank[r][i], r, {numbers[r][i].offset, numbers[r][i].length}});
    }
  }
  const auto last = last_written(std::move(all), of_rank.size());
  for (std::size_t r = 0; r < last.size(); ++r) of_rank[r] = without(of_rank[r], last[r]);
  RunList lost;
  for (const RunList& runs : exchange_runs(comm, of_rank)) {
    for (const Run& run : runs) append(lost, run);
  }
  return lost;
}

std::vector<std::vector<Piece>> resolve_overlaps(const Comm& comm,
                                                 std::span<const HeldArray> arrays,
                                                 const WriteOrders& orders) {
  // All arrays' elements on one line.
  std::uint64_t end = 0;
  RunList held;
  std::vector<HeldPiece> held_by;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    for (std::size_t p = 0; p < arrays[a].pieces.size(); ++p) {
      held.push_back({end + arrays[a].pieces[p].file, arrays[a].pieces[p].length});
      held_by.push_back({a, p});
    }
    end += arrays[a].elements;
  }
  const RunList lost =
      overwritten_by_others(comm, held, end, [&](std::span<const std::size_t> runs) {
        if (!orders) return std::vector<WriteOrder>(runs.size());
        std::vector<HeldPiece> pieces;
        for (const std::size_t run : runs) pieces.push_back(held_by[run]);
        return orders(pieces);
      });

  std::vector<std::vector<Piece>> left(arrays.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto [array, index] = held_by[i];
    const Piece& piece = arrays[array].pieces[index];
    std::uint64_t at = held[i].offset;
    const auto keep_until = [&](std::uint64_t to) {
      const std::uint64_t before = at - held[i].offset;
      if (at < to) left[array].push_back({piece.file + before, piece.buffer + before, to - at});
    };
    for (const Run& run : within(lost, held[i])) {
      keep_until(run.offset);
      at = std::max(at, run.end());
    }
    keep_until(held[i].end());
  }
  return left;
}

}  // namespace slabmark
