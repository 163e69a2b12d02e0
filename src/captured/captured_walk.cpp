#include "captured/captured_walk.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/recorder.hpp"

namespace slabmark {

namespace {

constexpr std::size_t most_held = std::size_t{1} << 24;  // numbers of lists that are taken apart

}  // namespace

bool ranks_meet(const std::string& effect, bool collective) {
  return effect == "step" || (collective && (effect == "flush" || effect == "close"));
}

Paths::Paths(const PatternFile& file) {
  std::map<std::string, std::uint64_t> known;
  for (const nlohmann::json& entry : file.files()) {
    const std::string path = entry.value("path", "");
    const auto [place, is_new] = known.try_emplace(path, all_.size());
    if (is_new) all_.push_back(path);
    numbers_.push_back(place->second);
  }
}

CapturedWalk::CapturedWalk(const PatternFile& file, const Paths& paths, const DatasetShapes& shapes,
                           std::uint64_t recorded_rank, std::uint32_t direction)
    : rank_(file, recorded_rank), paths_(paths), shapes_(shapes), direction_(direction) {}

const std::string& CapturedWalk::effect() const { return effects_.at(event_.call); }

bool CapturedWalk::next() {
  if (!rank_.events.next(event_)) return false;
  auto known = effects_.find(event_.call);
  if (known == effects_.end()) {
    known =
        effects_.emplace(event_.call, rank_.definition(event_.call).value("effect", "other")).first;
  }
  std::uint64_t& phase = phases_[path()];
  phase_ = phase;
  placed_.clear();
  fragments_.clear();
  if (event_.flags & capture::failed) return true;
  if ((event_.flags & direction_) && event_.dataset != CapturedEvent::none) place();
  const std::string& effect = known->second;
  const bool together = (event_.flags & capture::collective) != 0;
  if (ranks_meet(effect, together) &&
      !shapes_.passed_through.contains({path(), meetings_[path()]++})) {
    ++phase;
  }
  return true;
}

const CapturedWalk::ListShape& CapturedWalk::list(std::uint64_t number) {
  const auto known = lists_.find(number);
  if (known != lists_.end()) return known->second;
  if (held_ > most_held) {
    lists_.clear();
    held_ = 0;
  }
  ListShape shape{rank_.lists.get(number), true};
  const BoxArray& boxes = shape.boxes;
  for (std::size_t i = 0; boxes.rank > 0 && i < boxes.count; ++i) {
    const std::size_t k = i * boxes.rank;
    shape.one_record = shape.one_record && boxes.starts[k] == 0 && boxes.counts[k] <= 1 &&
                       (boxes.blocks.empty() || boxes.blocks[k] <= 1);
  }
  held_ += boxes.starts.size() * 4;
  return lists_.emplace(number, std::move(shape)).first->second;
}

void CapturedWalk::place() {
  const std::uint64_t definition = rank_.definition_number(event_.dataset);
  const auto shape = shapes_.of_definition.find(definition);
  if (shape == shapes_.of_definition.end() || event_.selection == CapturedEvent::Selection::nothing)
    return;
  const std::size_t rank = shape->second.extent.size() + (shape->second.has_time ? 1 : 0);
  if (event_.rank != rank) {
    throw InputError(
        fmt::format("{} are damaged: a call selects in {} dimensions of a dataset of {}.",
                    rank_.lists.place(), event_.rank, rank));
  }
  place_in(shape->second, definition);
  if (placed_.size() > 1) {  // one call is in one round, whatever records it takes
    for (PlacedBoxes& placed : placed_) placed.round.time = 0;
  }
}

void CapturedWalk::add_fragment(const PlacedBoxes& placed, std::uint64_t elements) {
  const auto number = static_cast<std::size_t>(&placed - placed_.data());
  if (!fragments_.empty() && fragments_.back().placed == number) {
    fragments_.back().elements += elements;
  } else {
    fragments_.push_back({number, elements});
  }
}

std::uint64_t CapturedWalk::elements() {
  using Selection = CapturedEvent::Selection;
  std::uint64_t all = 1;
  switch (event_.selection) {
    case Selection::nothing:
      return 0;
    case Selection::list:
      return list(event_.list).boxes.elements();
    case Selection::box:
      for (const std::uint64_t count : event_.counts) all *= count;
      return all;
    case Selection::all:
      break;
  }
  const nlohmann::json& definition = rank_.definition(event_.dataset);
  if (!definition.contains("extent")) return 0;
  for (const nlohmann::json& length : definition["extent"]) all *= length.get<std::uint64_t>();
  return all;
}

PlacedBoxes& CapturedWalk::at_time(std::uint64_t definition, std::uint64_t time, bool has_time) {
  // Boxes mostly come record by record.
  for (auto placed = placed_.rbegin(); placed != placed_.rend(); ++placed) {
    if (placed->time == time) return *placed;
  }
  PlacedBoxes placed;
  const bool by_record =
      has_time && shapes_.records_are_rounds && !(event_.flags & capture::nonblocking);
  placed.round = {path(), phase_, by_record ? time + 1 : 0};
  placed.definition = definition;
  placed.time = time;
  placed_.push_back(std::move(placed));
  return placed_.back();
}

void CapturedWalk::place_in(const DatasetShapes::Shape& shape, std::uint64_t definition) {
  using Selection = CapturedEvent::Selection;
  const std::size_t skipped = shape.has_time ? 1 : 0;
  const std::size_t rank = shape.extent.size();
  if (event_.selection == Selection::all && !shape.has_time) {
    PlacedBoxes& placed = at_time(definition, 0, false);
    placed.is_all = true;
    placed.rank = rank;
    placed.elements = 1;
    for (const std::uint64_t length : shape.extent) placed.elements *= length;
    add_fragment(placed, placed.elements);
    return;
  }
  const auto time_of = [&](std::int64_t start) {
    if (start < 0)
      throw InputError(rank_.lists.place() + " are damaged: a box begins before its dataset.");
    return static_cast<std::uint64_t>(start);
  };
  const BoxArray* boxes = nullptr;
  if (event_.selection == Selection::list) {
    const ListShape& whole = list(event_.list);
    boxes = &whole.boxes;
    if (boxes->rank != event_.rank) {
      throw InputError(rank_.lists.place() +
                       " are damaged: one has other dimensions than its dataset.");
    }
    if (boxes->count > 0 && (!shape.has_time || whole.one_record)) {
      PlacedBoxes& placed =
          at_time(definition, shape.has_time ? time_of(event_.origin[0]) : 0, shape.has_time);
      placed.list = event_.list;
      placed.origin.assign(event_.origin.begin() + static_cast<std::ptrdiff_t>(skipped),
                           event_.origin.end());
      placed.rank = rank;
      placed.elements = boxes->elements();
      add_fragment(placed, placed.elements);
      return;
    }
  }
  const std::size_t count = boxes ? boxes->count : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = [&](std::size_t d) {
      if (event_.selection == Selection::all) return std::int64_t{0};
      return boxes ? event_.origin[d] + boxes->starts[i * event_.rank + d] : event_.origin[d];
    };
    const auto number = [&](const std::vector<std::int64_t>& of_list, std::size_t d,
                            std::int64_t otherwise) {
      return boxes && !of_list.empty() ? of_list[i * event_.rank + d] : otherwise;
    };
    const std::vector<std::int64_t> none;
    const auto count_in = [&](std::size_t d) {
      if (boxes) return boxes->counts[i * event_.rank + d];
      if (event_.selection == Selection::all)
        return d < skipped ? std::int64_t{0} : static_cast<std::int64_t>(shape.extent[d - skipped]);
      return static_cast<std::int64_t>(event_.counts[d]);
    };
    const auto stride_in = [&](std::size_t d) {
      return number(boxes ? boxes->strides : none, d, 1);
    };
    const auto block_in = [&](std::size_t d) { return number(boxes ? boxes->blocks : none, d, 1); };
    std::uint64_t elements = 1;
    for (std::size_t d = skipped; d < event_.rank; ++d)
      elements *= static_cast<std::uint64_t>(count_in(d) * block_in(d));
    const auto put = [&](std::uint64_t time) {
      PlacedBoxes& placed = at_time(definition, time, shape.has_time);
      placed.rank = rank;
      placed.elements += elements;
      add_fragment(placed, elements);
      for (std::size_t d = skipped; d < event_.rank; ++d)
        placed.numbers.push_back(static_cast<std::int64_t>(time_of(start(d))));
      for (std::size_t d = skipped; d < event_.rank; ++d) placed.numbers.push_back(count_in(d));
      for (std::size_t d = skipped; d < event_.rank; ++d) placed.numbers.push_back(stride_in(d));
      for (std::size_t d = skipped; d < event_.rank; ++d) placed.numbers.push_back(block_in(d));
    };
    if (elements == 0) continue;
    if (!shape.has_time) {
      put(0);
      continue;
    }
    for (std::int64_t k = 0; k < count_in(0); ++k) {
      for (std::int64_t b = 0; b < block_in(0); ++b) put(time_of(start(0) + k * stride_in(0) + b));
    }
  }
}

}  // namespace slabmark
