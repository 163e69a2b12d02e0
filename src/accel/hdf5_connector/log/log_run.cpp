#include "accel/hdf5_connector/log/log_run.hpp"

#include <algorithm>
#include <utility>

namespace slabmark::slablog {

void append(LogRuns& runs, const LogRun& run, std::size_t element_bytes) {
  if (!runs.empty()) {
    auto& last = runs.back();
    if (last.end() == run.offset && last.source == run.source && last.call == run.call &&
        last.position + last.length * element_bytes == run.position) {
      last.length += run.length;
      return;
    }
  }
  runs.push_back(run);
}

RunList elements_of(std::span<const LogRun> runs) {
  RunList result;
  result.reserve(runs.size());
  for (const auto& run : runs) result.push_back({run.offset, run.length});
  return result;
}

bool is_sorted_apart(std::span<const LogRun> runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].offset < runs[i - 1].end()) return false;
  }
  return true;
}

LogRuns overlay(std::span<const LogRun> older, std::span<const LogRun> newer,
                std::size_t element_bytes) {
  LogRuns result;
  result.reserve(older.size() + newer.size());
  std::size_t next = 0;
  for (const auto& old : older) {
    auto from = old.offset;
    while (next < newer.size() && newer[next].offset < old.end()) {
      const auto& over = newer[next];
      if (over.offset > from) {
        append(result, part_of(old, from, over.offset, element_bytes), element_bytes);
      }
      if (over.end() > old.end()) {  // it may cover runs of the older list that come later
        from = old.end();
        break;
      }
      append(result, over, element_bytes);
      from = std::max(from, over.end());
      ++next;
    }
    if (from < old.end()) {
      append(result, part_of(old, from, old.end(), element_bytes), element_bytes);
    }
  }
  for (; next < newer.size(); ++next) append(result, newer[next], element_bytes);
  return result;
}

LogRuns last_wins(LogRuns written, std::size_t element_bytes) {
  if (is_sorted_apart(written)) return written;
  auto sorted = written;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LogRun& a, const LogRun& b) { return a.offset < b.offset; });
  if (is_sorted_apart(sorted)) return sorted;
  const auto half = written.begin() + static_cast<std::ptrdiff_t>(written.size() / 2);
  return overlay(last_wins({written.begin(), half}, element_bytes),
                 last_wins({half, written.end()}, element_bytes), element_bytes);
}

void Layers::merge_last_two() {
  const auto newer = std::move(layers_.back());
  layers_.pop_back();
  layers_.back() = overlay(layers_.back(), newer, element_bytes_);
}

void Layers::add(LogRuns newest) {
  if (newest.empty()) return;
  layers_.push_back(std::move(newest));
  while (layers_.size() > 1 && layers_[layers_.size() - 2].size() < 2 * layers_.back().size()) {
    merge_last_two();
  }
}

const LogRuns& Layers::merged() {
  static const LogRuns none;
  while (layers_.size() > 1) merge_last_two();
  return layers_.empty() ? none : layers_.front();
}

std::vector<ReadRun> reads_of(std::span<const Run> runs, std::byte* target,
                              std::size_t element_bytes) {
  std::vector<ReadRun> reads;
  reads.reserve(runs.size());
  for (const auto run : runs) {
    reads.push_back({run.offset, run.length, target});
    target += run.length * element_bytes;
  }
  return reads;
}

LogRuns parts_within(std::span<const LogRun> list, std::span<const Run> wanted,
                     std::size_t element_bytes) {
  LogRuns parts;
  auto next = list.begin();
  for (const auto run : wanted) {
    next = first_that_ends_after(next, list.end(), run.offset);
    for (auto one = next; one != list.end() && one->offset < run.end(); ++one) {
      parts.push_back(part_of(*one, std::max(one->offset, run.offset),
                              std::min(one->end(), run.end()), element_bytes));
    }
  }
  return parts;
}

}  // namespace slabmark::slablog
