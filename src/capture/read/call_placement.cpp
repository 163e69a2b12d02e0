#include "capture/read/call_placement.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

void CallPlacement::clear() {
  placed_.clear();
  fragments_.clear();
}

void CallPlacement::place(const CapturedEvent& event, const Target& target,
                          const DatasetShapes::Shape& shape,
                          const std::vector<std::uint64_t>& extent_now) {
  event_ = &event;
  target_ = target;
  shape_ = &shape;
  const std::size_t rank = shape.extent.size() + skipped();
  if (event.rank != rank) {
    throw InputError(
        fmt::format("{} are damaged: a call selects in {} dimensions of a dataset of {}.",
                    lists_.place(), event.rank, rank));
  }
  if (event.selection == CapturedEvent::Selection::list) {
    place_list();
  } else if (event.selection == CapturedEvent::Selection::all) {
    place_all(extent_now);
  } else if (event.selection == CapturedEvent::Selection::box) {
    box_.start = event.origin;
    box_.count.assign(event.counts.begin(), event.counts.end());
    box_.stride.assign(rank, 1);
    box_.block.assign(rank, 1);
    place_box();
  }
}

const CallPlacement::KnownList& CallPlacement::known_list(std::uint64_t number) {
  constexpr std::size_t most_held = std::size_t{1} << 24;
  const auto known = known_lists_.find(number);
  if (known != known_lists_.end()) return known->second;
  if (held_ > most_held) {
    known_lists_.clear();
    held_ = 0;
  }
  KnownList list{lists_.get(number), true};
  const BoxArray& boxes = list.boxes;
  for (std::size_t i = 0; boxes.rank > 0 && i < boxes.count; ++i) {
    const std::size_t k = i * boxes.rank;
    list.one_record =
        list.one_record && boxes.starts[k] == 0 && boxes.counts[k] <= 1 && boxes.block(k) <= 1;
  }
  held_ += boxes.starts.size() * 4;
  return known_lists_.emplace(number, std::move(list)).first->second;
}

void CallPlacement::append_boxes(const PlacedBoxes& placed, std::vector<std::int64_t>& numbers) {
  if (placed.list == CapturedEvent::none) {
    numbers.insert(numbers.end(), placed.numbers.begin(), placed.numbers.end());
    return;
  }
  const BoxArray& boxes = list(placed.list);
  numbers.reserve(numbers.size() + 4 * placed.rank * boxes.count);
  for (std::size_t i = 0; i < boxes.count; ++i) {
    const std::size_t end = (i + 1) * boxes.rank;
    const std::size_t begin = end - placed.rank;  // without the dimension of records
    for (std::size_t k = begin; k < end; ++k)
      numbers.push_back(boxes.starts[k] + placed.origin[k - begin]);
    for (std::size_t k = begin; k < end; ++k) numbers.push_back(boxes.counts[k]);
    for (std::size_t k = begin; k < end; ++k) numbers.push_back(boxes.stride(k));
    for (std::size_t k = begin; k < end; ++k) numbers.push_back(boxes.block(k));
  }
}

void CallPlacement::add_fragment(const PlacedBoxes& placed, std::uint64_t elements) {
  const auto number = static_cast<std::size_t>(&placed - placed_.data());
  if (!fragments_.empty() && fragments_.back().placed == number) {
    fragments_.back().elements += elements;
  } else {
    fragments_.push_back({number, elements});
  }
}

PlacedBoxes& CallPlacement::at_time(std::uint64_t time) {
  // Boxes mostly come record by record.
  for (auto placed = placed_.rbegin(); placed != placed_.rend(); ++placed) {
    if (placed->time == time) return *placed;
  }
  PlacedBoxes& placed = placed_.emplace_back();
  placed.path = target_.path;
  placed.definition = target_.definition;
  placed.time = time;
  placed.rank = shape_->extent.size();
  return placed;
}

std::uint64_t CallPlacement::checked(std::int64_t start) const {
  if (start < 0)
    throw InputError(lists_.place() + " are damaged: a box begins before its dataset.");
  return static_cast<std::uint64_t>(start);
}

void CallPlacement::place_all(const std::vector<std::uint64_t>& extent_now) {
  const std::size_t rank = shape_->extent.size();  // what is ever taken whole has no time
  if (extent_now == shape_->extent || extent_now.size() != rank) {
    PlacedBoxes& placed = at_time(0);
    placed.is_all = true;
    placed.elements = 1;
    for (const std::uint64_t length : shape_->extent) placed.elements *= length;
    add_fragment(placed, placed.elements);
    return;
  }
  box_.start.assign(rank, 0);
  box_.count.assign(extent_now.begin(), extent_now.end());
  box_.stride.assign(rank, 1);
  box_.block.assign(rank, 1);
  place_box();
}

void CallPlacement::place_list() {
  const KnownList& known = known_list(event_->list);
  const BoxArray& boxes = known.boxes;
  if (boxes.rank != event_->rank) {
    throw InputError(lists_.place() + " are damaged: one has other dimensions than its dataset.");
  }
  const std::vector<std::int64_t>& origin = event_->origin;
  if (boxes.count > 0 && (!shape_->has_time || known.one_record)) {
    PlacedBoxes& placed = at_time(shape_->has_time ? checked(origin[0]) : 0);
    placed.list = event_->list;
    placed.origin.assign(origin.begin() + static_cast<std::ptrdiff_t>(skipped()), origin.end());
    placed.elements = boxes.elements();
    add_fragment(placed, placed.elements);
    return;
  }
  for (std::size_t i = 0; i < boxes.count; ++i) {
    for (auto* const numbers : {&box_.start, &box_.count, &box_.stride, &box_.block}) {
      numbers->resize(boxes.rank);
    }
    for (std::size_t d = 0; d < boxes.rank; ++d) {
      const std::size_t k = i * boxes.rank + d;
      box_.start[d] = boxes.starts[k] + origin[d];
      box_.count[d] = boxes.counts[k];
      box_.stride[d] = boxes.stride(k);
      box_.block[d] = boxes.block(k);
    }
    place_box();
  }
}

void CallPlacement::place_box() {
  std::uint64_t elements = 1;
  for (std::size_t d = skipped(); d < event_->rank; ++d)
    elements *= static_cast<std::uint64_t>(box_.count[d] * box_.block[d]);
  if (elements == 0) return;
  const auto put = [&](std::uint64_t time) {
    PlacedBoxes& placed = at_time(time);
    placed.elements += elements;
    add_fragment(placed, elements);
    for (std::size_t d = skipped(); d < event_->rank; ++d) checked(box_.start[d]);
    for (const auto* numbers : {&box_.start, &box_.count, &box_.stride, &box_.block}) {
      placed.numbers.insert(placed.numbers.end(),
                            numbers->begin() + static_cast<std::ptrdiff_t>(skipped()),
                            numbers->end());
    }
  };
  if (!shape_->has_time) {
    put(0);
    return;
  }
  for (std::int64_t k = 0; k < box_.count[0]; ++k) {
    for (std::int64_t b = 0; b < box_.block[0]; ++b)
      put(checked(box_.start[0] + k * box_.stride[0] + b));
  }
}

}  // namespace slabmark
