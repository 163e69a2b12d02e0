#include "capture/read/captured_walk.hpp"

#include "capture/format/event_flags.hpp"
#include "capture/read/pending_requests.hpp"

namespace slabmark {

bool ranks_meet(const std::string& effect, bool collective) {
  return effect == "step" || effect == "close" || (collective && effect == "flush");
}

CapturedWalk::CapturedWalk(const PatternFile& file, const Paths& paths,
                           const DatasetNumbers& datasets, const DatasetShapes& shapes,
                           std::uint64_t recorded_rank, std::uint32_t direction)
    : rank_(file, recorded_rank),
      recorded_ranks_(file.ranks()),
      paths_(paths),
      datasets_(datasets),
      shapes_(shapes),
      direction_(direction),
      placement_(rank_.lists) {
  for (std::uint64_t number = 0; number < rank_.part->definitions.size(); ++number) {
    if (rank_.definition(number).value("name", "") == "ncmpi_cancel") {
      find_cancelled(file, recorded_rank);
      break;
    }
  }
}

void CapturedWalk::find_cancelled(const PatternFile& file, std::uint64_t recorded_rank) {
  RankReader reader(file, recorded_rank);
  std::map<std::uint64_t, PendingRequests> pending;  // by opening
  for (CapturedEvent event; reader.next(event);) {
    const auto taken = pending[event.file].note(event);
    if (event.has(capture::cancels)) cancelled_.insert(taken.begin(), taken.end());
  }
}

bool CapturedWalk::next() {
  if (!rank_.next(event_)) return false;
  const std::string& effect = this->effect();
  FileState& file = files_[path()];
  const RoundKey begin{file_of_round(), file.phase, 0};
  if (!file.last || file.last->file != begin.file || file.last->phase != begin.phase) {
    file.last = begin;
  }
  placement_.clear();
  if (is_played()) place();
  round_ = placed().empty() ? *file.last : round_of_event();
  const bool closes = effect == "close" && !is_aside();
  if (closes) round_.time = RoundKey::closing;
  if (!closes) file.last = round_;
  round_ = united(round_);
  placement_.set_round(round_);
  // A wait that reports what others had to say has been one of all ranks.
  if (event_.has(capture::failed) && event_.requests == CapturedEvent::Requests::none) return true;
  if (effect == "extent" && event_.dataset != CapturedEvent::none) {
    extents_[{path(), dataset()}].assign(event_.arguments.begin(), event_.arguments.end());
  }
  if (ranks_meet(effect, event_.has(capture::collective)) && !is_aside() &&
      !shapes_.passed_through.contains({path(), file.meetings++})) {
    ++file.phase;
  }
  return true;
}

/// True if its elements are among those that are played.
bool CapturedWalk::is_played() const {
  return event_.has(direction_) && event_.dataset != CapturedEvent::none &&
         !event_.has(capture::failed) && !cancelled_.contains(event_.request) &&
         !paths_.is_left_out(path(), event_.flags);
}

void CapturedWalk::place() {
  using Selected = CapturedEvent::Selection;
  const auto shape = shapes_.of_definition.find(dataset());
  if (shape == shapes_.of_definition.end() || event_.selection == Selected::nothing) return;
  placement_.place(event_, {path(), dataset()}, shape->second,
                   event_.selection == Selected::all ? extent_now() : std::vector<std::uint64_t>{});
}

/// Returns the round of an event that is placed. A blocking call may be in the round of its record,
/// but each call is in one round, whatever records it takes.
RoundKey CapturedWalk::round_of_event() {
  const PlacedBoxes& first = placed().front();
  const bool by_record = shapes_.records_are_rounds && placed().size() == 1 &&
                         shapes_.of_definition.at(first.definition).has_time &&
                         !event_.has(capture::nonblocking);
  return {file_of_round(), files_[path()].phase, by_record ? first.time + 1 : 0};
}

std::uint64_t CapturedWalk::file_of_round() {
  const std::uint64_t mine = path();
  if (!paths_.is_private(mine) || !shapes_.moved_paths.contains(mine)) return mine;
  std::optional<std::uint64_t>& number = files_[mine].private_number;
  if (!number) number = paths_.all().size() + private_files_++;
  return *number;
}

RoundKey CapturedWalk::united(const RoundKey& round) const {
  const auto found = shapes_.united.find(round);
  return found == shapes_.united.end() ? round : found->second;
}

bool CapturedWalk::is_made_by_all() const {
  if (rank_.file(event_.file).value("ranks", std::uint64_t{1}) != recorded_ranks_) return false;
  if (event_.has(capture::collective)) return true;
  if (event_.moves() || event_.requests != CapturedEvent::Requests::none) return false;
  if (effect() != "other") return true;
  return rank_.call(event_.call).name.starts_with("MPI_File_set_");
}

std::vector<std::uint64_t> CapturedWalk::extent_now() const {
  const auto set = extents_.find({path(), dataset()});
  if (set != extents_.end()) return set->second;
  std::vector<std::uint64_t> extent;
  for (const Json& length : rank_.definition(event_.dataset).value("extent", Json::array())) {
    extent.push_back(length.is_number_integer() ? length.get<std::uint64_t>() : 0);
  }
  return extent;
}

std::uint64_t CapturedWalk::elements() {
  using Selected = CapturedEvent::Selection;
  std::uint64_t all = 1;
  switch (event_.selection) {
    case Selected::nothing:
      return 0;
    case Selected::list:
      return placement_.list(event_.list).elements();
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

}  // namespace slabmark
