#include "accel/hdf5_connector/pending.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace slabmark::slablog {

namespace {

template <class Cursor>
LogRuns parts_of(Cursor cursor, Run elements, std::size_t element_bytes) {
  LogRuns parts;
  for (cursor.seek(elements.offset); !cursor.at_end() && cursor.run().offset < elements.end();
       cursor.next()) {
    const auto& run = cursor.run();
    parts.push_back(part_of(run, std::max(run.offset, elements.offset),
                            std::min(run.end(), elements.end()), element_bytes));
  }
  return parts;
}

}  // namespace

void Pending::add(StridedWrite newest) {
  const auto size = of_newest();
  below_ = {below_.runs + size.runs, below_.bytes + size.bytes};
  levels_.push_back({std::move(newest), Layers(element_bytes_)});
}

const LogRuns& Pending::merged() {
  if (levels_.size() > 1) {
    auto all = within({0, std::numeric_limits<std::uint64_t>::max()});
    clear();
    add(std::move(all));
  }
  return levels_.back().above.merged();
}

LogRuns Pending::within(Run elements) const {
  Layers parts(element_bytes_);
  for (const auto& level : levels_) {
    if (level.write) {
      parts.add(
          parts_of(StridedWrite::Cursor(*level.write, element_bytes_), elements, element_bytes_));
    }
    for (const auto& list : level.above.lists()) {
      parts.add(parts_of(ListCursor(list), elements, element_bytes_));
    }
  }
  return parts.merged();
}

std::optional<std::uint64_t> Pending::next(std::uint64_t element) const {
  std::optional<std::uint64_t> first;
  for_each_from_newest([] { return true; },
                       [&](auto cursor) {
                         cursor.seek(element);
                         if (cursor.at_end()) return;
                         const auto at = std::max(cursor.run().offset, element);
                         first = std::min(first.value_or(at), at);
                       });
  return first;
}

void Pending::clear() {
  levels_.clear();
  below_ = {};
  levels_.push_back({std::nullopt, Layers(element_bytes_)});
}

bool Pending::empty() const { return levels_.size() == 1 && levels_.front().above.empty(); }

Pending::Size Pending::of_newest() const {
  const auto& level = levels_.back();
  Size size;
  if (level.write) size = {level.write->runs.runs(), sizeof level + level.write->runs.bytes()};
  for (const auto& list : level.above.lists()) {
    size.runs += list.size();
    size.bytes += list.capacity() * sizeof(LogRun);
  }
  return size;
}

void Pending::for_each_place(const std::function<void(LogRun&, std::uint64_t)>& visit) {
  for (auto& level : levels_) {
    if (level.write) visit(level.write->place, level.write->runs.elements());
    for (auto& list : level.above.lists()) {
      for (auto& run : list) visit(run, run.length);
    }
  }
}

}  // namespace slabmark::slablog
