#include "capture/read/captured_walk.hpp"

#include <fmt/format.h>

#include "capture/format/recorder.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

constexpr std::size_t most_held = std::size_t{1} << 24;  // numbers of lists that are taken apart

}  // namespace

bool ranks_meet(const std::string& effect, bool collective) {
  return effect == "step" || effect == "close" || (collective && effect == "flush");
}

std::string highest_level(const PatternFile& file) {
  std::set<std::string> asked_for, all;
  for (const nlohmann::json& entry : file.files()) {
    if (!file.takes(entry)) continue;
    all.insert(entry.value("level", ""));
    if (!entry.value("unasked", false)) asked_for.insert(entry.value("level", ""));
  }
  for (const char* const level : {"pnetcdf", "hdf5", "mpiio", "posix"}) {
    if ((asked_for.empty() ? all : asked_for).contains(level)) return level;
  }
  return "";
}

Paths::Paths(const PatternFile& file) : recorded_ranks_(file.ranks()) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> known;
  for (const nlohmann::json& entry : file.files()) {
    const std::string path = entry.value("path", "");
    const std::string level = entry.value("level", "");
    const auto [place, is_new] = known.try_emplace({path, level}, all_.size());
    if (is_new) all_.push_back({.name = path, .level = level, .ranks = {}});
    numbers_.push_back(place->second);
    Path& known_path = all_[place->second];
    known_path.is_unasked = known_path.is_unasked && entry.value("unasked", false);
    known_path.ranks.insert(entry.value("ranks", std::uint64_t{1}));
  }
}

DatasetNumbers::DatasetNumbers(const PatternFile& file) {
  std::map<std::string, std::uint64_t> known;
  for (const nlohmann::json& definition : file.definitions()) {
    const std::uint64_t number = first_.size();
    first_.push_back(number);
    if (definition.value("kind", "") != "dataset") continue;
    const auto part = [&](const char* key) { return definition.value(key, nlohmann::json()); };
    // Lengths that may change are those of some moment.
    const nlohmann::json shape = definition.contains("maximum") ? part("maximum") : part("extent");
    const nlohmann::json identity = {part("name"), part("type"), shape};
    first_.back() = known.try_emplace(identity.dump(), number).first->second;
  }
}

CapturedWalk::CapturedWalk(const PatternFile& file, const Paths& paths,
                           const DatasetNumbers& datasets, const DatasetShapes& shapes,
                           std::uint64_t recorded_rank, std::uint32_t direction)
    : rank_(file, recorded_rank),
      recorded_ranks_(file.ranks()),
      paths_(paths),
      datasets_(datasets),
      shapes_(shapes),
      direction_(direction) {
  for (std::uint64_t number = 0; number < rank_.part->definitions.size(); ++number) {
    if (rank_.definition(number).value("name", "") == "ncmpi_cancel") {
      find_cancelled(file, recorded_rank);
      break;
    }
  }
}

void CapturedWalk::find_cancelled(const PatternFile& file, std::uint64_t recorded_rank) {
  RankReader reader(file, recorded_rank);
  std::map<std::uint64_t, std::set<std::uint64_t>> pending;  // by opening
  for (CapturedEvent event; reader.next(event);) {
    std::set<std::uint64_t>& mine = pending[event.file];
    if (event.request > 0) mine.insert(event.request);
    if (event.requests == CapturedEvent::Requests::none) continue;
    const bool cancels = (event.flags & capture::cancels) != 0;
    if (event.requests == CapturedEvent::Requests::listed) {
      for (const std::uint64_t request : event.listed) {
        mine.erase(request);
        if (cancels) cancelled_.insert(request);
      }
    } else {
      if (cancels) cancelled_.insert(mine.begin(), mine.end());
      if (event.requests == CapturedEvent::Requests::all) mine.clear();
    }
  }
}

const std::string& CapturedWalk::effect() const { return effects_.at(event_.call); }

bool CapturedWalk::next() {
  if (!rank_.next(event_)) return false;
  auto known = effects_.find(event_.call);
  if (known == effects_.end()) {
    known =
        effects_.emplace(event_.call, rank_.definition(event_.call).value("effect", "other")).first;
  }
  const std::string& effect = known->second;
  std::uint64_t& phase = phases_[path()];
  const RoundKey begin{file_of_round(), phase, 0};
  RoundKey& last = last_rounds_.try_emplace(path(), begin).first->second;
  if (last.file != begin.file || last.phase != begin.phase) last = begin;
  placed_.clear();
  fragments_.clear();
  const bool failed = (event_.flags & capture::failed) != 0;
  const bool counts =
      !failed && !cancelled_.contains(event_.request) && !paths_.is_left_out(path(), event_.flags);
  if (counts && (event_.flags & direction_) && event_.dataset != CapturedEvent::none) place();
  round_ = placed_.empty() ? last : placed_.front().round;
  const bool closes = effect == "close" && !is_aside();
  if (closes) round_.time = RoundKey::closing;
  if (!closes) last = round_;
  round_ = united(round_);
  for (PlacedBoxes& placed : placed_) placed.round = round_;
  // A wait that reports what others had to say has been one of all ranks.
  if (failed && event_.requests == CapturedEvent::Requests::none) return true;
  if (effect == "extent" && event_.dataset != CapturedEvent::none) {
    extents_[{path(), datasets_[rank_.definition_number(event_.dataset)]}].assign(
        event_.arguments.begin(), event_.arguments.end());
  }
  const bool together = (event_.flags & capture::collective) != 0;
  if (ranks_meet(effect, together) && !is_aside() &&
      !shapes_.passed_through.contains({path(), meetings_[path()]++})) {
    ++phase;
  }
  return true;
}

std::uint64_t CapturedWalk::file_of_round() {
  const std::uint64_t mine = path();
  if (!paths_.is_private(mine) || !shapes_.moved_paths.contains(mine)) return mine;
  return private_files_.try_emplace(mine, paths_.all().size() + private_files_.size())
      .first->second;
}

RoundKey CapturedWalk::united(const RoundKey& round) const {
  const auto found = shapes_.united.find(round);
  return found == shapes_.united.end() ? round : found->second;
}

bool CapturedWalk::is_made_by_all() const {
  if (rank_.file(event_.file).value("ranks", std::uint64_t{1}) != recorded_ranks_) return false;
  if (event_.flags & capture::collective) return true;
  if (event_.moves() || event_.requests != CapturedEvent::Requests::none) return false;
  const std::string& what = effect();
  if (what != "other") return true;
  return rank_.definition(event_.call).value("name", "").starts_with("MPI_File_set_");
}

std::vector<std::uint64_t> CapturedWalk::extent_now() const {
  const auto set = extents_.find({path(), datasets_[rank_.definition_number(event_.dataset)]});
  if (set != extents_.end()) return set->second;
  std::vector<std::uint64_t> extent;
  for (const nlohmann::json& length :
       rank_.definition(event_.dataset).value("extent", nlohmann::json::array())) {
    extent.push_back(length.is_number_integer() ? length.get<std::uint64_t>() : 0);
  }
  return extent;
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
  const std::uint64_t definition = datasets_[rank_.definition_number(event_.dataset)];
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
  using Selected = CapturedEvent::Selection;
  std::uint64_t all = 1;
  switch (event_.selection) {
    case Selected::nothing:
      return 0;
    case Selected::list:
      return list(event_.list).boxes.elements();
    case Selected::box:
      for (const std::uint64_t count : event_.counts) all *= count;
      return all;
    case Selected::all:
      break;
  }
  if (!rank_.definition(event_.dataset).contains("extent")) return 0;
  for (const std::uint64_t length : extent_now()) all *= length;
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
  placed.round = {file_of_round(), phases_[path()], by_record ? time + 1 : 0};
  placed.path = path();
  placed.definition = definition;
  placed.time = time;
  placed_.push_back(std::move(placed));
  return placed_.back();
}

std::uint64_t CapturedWalk::place_of(std::int64_t start) const {
  if (start < 0)
    throw InputError(rank_.lists.place() + " are damaged: a box begins before its dataset.");
  return static_cast<std::uint64_t>(start);
}

void CapturedWalk::place_in(const DatasetShapes::Shape& shape, std::uint64_t definition) {
  using Selected = CapturedEvent::Selection;
  if (event_.selection == Selected::list) {
    place_list(shape, definition);
  } else if (event_.selection == Selected::all) {
    place_all(shape, definition);
  } else {
    box_.start = event_.origin;
    box_.count.assign(event_.counts.begin(), event_.counts.end());
    box_.stride.assign(event_.rank, 1);
    box_.block.assign(event_.rank, 1);
    place_box(shape, definition);
  }
}

void CapturedWalk::place_all(const DatasetShapes::Shape& shape, std::uint64_t definition) {
  const std::vector<std::uint64_t> now = extent_now();
  const std::size_t rank = shape.extent.size();  // a dataset that is ever taken whole has no time
  if (now == shape.extent || now.size() != rank) {
    PlacedBoxes& placed = at_time(definition, 0, false);
    placed.is_all = true;
    placed.rank = rank;
    placed.elements = 1;
    for (const std::uint64_t length : shape.extent) placed.elements *= length;
    add_fragment(placed, placed.elements);
    return;
  }
  box_.start.assign(rank, 0);
  box_.count.assign(now.begin(), now.end());
  box_.stride.assign(rank, 1);
  box_.block.assign(rank, 1);
  place_box(shape, definition);
}

void CapturedWalk::place_list(const DatasetShapes::Shape& shape, std::uint64_t definition) {
  const ListShape& whole = list(event_.list);
  const BoxArray& boxes = whole.boxes;
  if (boxes.rank != event_.rank) {
    throw InputError(rank_.lists.place() +
                     " are damaged: one has other dimensions than its dataset.");
  }
  if (boxes.count > 0 && (!shape.has_time || whole.one_record)) {
    PlacedBoxes& placed =
        at_time(definition, shape.has_time ? place_of(event_.origin[0]) : 0, shape.has_time);
    placed.list = event_.list;
    placed.origin.assign(event_.origin.begin() + (shape.has_time ? 1 : 0), event_.origin.end());
    placed.rank = shape.extent.size();
    placed.elements = boxes.elements();
    add_fragment(placed, placed.elements);
    return;
  }
  for (std::size_t i = 0; i < boxes.count; ++i) {
    const auto take = [&](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& numbers) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(i * boxes.rank);
      if (numbers.empty()) {
        to.assign(boxes.rank, 1);
      } else {
        to.assign(first, first + static_cast<std::ptrdiff_t>(boxes.rank));
      }
    };
    take(box_.start, boxes.starts);
    for (std::size_t d = 0; d < boxes.rank; ++d) box_.start[d] += event_.origin[d];
    take(box_.count, boxes.counts);
    take(box_.stride, boxes.strides);
    take(box_.block, boxes.blocks);
    place_box(shape, definition);
  }
}

void CapturedWalk::place_box(const DatasetShapes::Shape& shape, std::uint64_t definition) {
  const std::size_t skipped = shape.has_time ? 1 : 0;
  std::uint64_t elements = 1;
  for (std::size_t d = skipped; d < event_.rank; ++d)
    elements *= static_cast<std::uint64_t>(box_.count[d] * box_.block[d]);
  if (elements == 0) return;
  const auto put = [&](std::uint64_t time) {
    PlacedBoxes& placed = at_time(definition, time, shape.has_time);
    placed.rank = shape.extent.size();
    placed.elements += elements;
    add_fragment(placed, elements);
    for (std::size_t d = skipped; d < event_.rank; ++d) place_of(box_.start[d]);
    for (const auto* numbers : {&box_.start, &box_.count, &box_.stride, &box_.block}) {
      placed.numbers.insert(placed.numbers.end(), numbers->begin() + (shape.has_time ? 1 : 0),
                            numbers->end());
    }
  };
  if (!shape.has_time) {
    put(0);
    return;
  }
  for (std::int64_t k = 0; k < box_.count[0]; ++k) {
    for (std::int64_t b = 0; b < box_.block[0]; ++b)
      put(place_of(box_.start[0] + k * box_.stride[0] + b));
  }
}

}  // namespace slabmark
