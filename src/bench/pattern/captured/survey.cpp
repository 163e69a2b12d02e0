#include "bench/pattern/captured/survey.hpp"

#include <algorithm>
#include <utility>

#include <mpi.h>

#include "capture/format/event_flags.hpp"

namespace slabmark {

namespace {

// More records than that in one call, and the dimension is none of time but one that grows.
constexpr std::uint64_t most_records_a_call = 256;

bool is_bytes(const Json& definition) { return definition.value("kind", "") == "bytes"; }

bool is_dataset(const Json& definition) {
  return is_bytes(definition) || definition.value("kind", "") == "dataset";
}

bool grows(const Json& definition, std::size_t dimension) {
  if (is_bytes(definition)) return true;
  if (!definition.contains("maximum") || dimension >= definition["maximum"].size()) return false;
  const Json& most = definition["maximum"][dimension];
  return most.is_null() || most != definition["extent"][dimension];
}

std::size_t rank_of(std::uint64_t definition, const PatternFile& file) {
  const Json& text = file.definitions()[definition];
  return is_bytes(text) ? 1 : text["extent"].size();
}

void reach(std::uint64_t& end, std::int64_t value) {
  if (value > 0) end = std::max(end, static_cast<std::uint64_t>(value));
}

/// For each dimension, how far boxes reach from the origin; then the most records that one has.
std::vector<std::uint64_t> ends_of(const BoxArray& boxes) {
  std::vector<std::uint64_t> all(boxes.rank + 1);
  for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
    const std::int64_t count = boxes.counts[k], block = boxes.block(k);
    if (count == 0 || block == 0) continue;
    reach(all[k % boxes.rank], boxes.starts[k] + boxes.length(k));
    if (k % boxes.rank == 0) reach(all[boxes.rank], count * block);
  }
  return all;
}

}  // namespace

std::vector<std::uint64_t> lengths_of(const Json& definition, const char* key) {
  std::vector<std::uint64_t> lengths;
  if (!definition.contains(key)) return lengths;
  for (const Json& length : definition[key]) {
    lengths.push_back(length.is_number_integer() ? length.get<std::uint64_t>() : 0);
  }
  return lengths;
}

Survey::Survey(const PatternFile& file, const Paths& paths, const DatasetNumbers& datasets)
    : ranks_(file.ranks()), datasets_(datasets) {
  const Json& definitions = file.definitions();
  for (std::uint64_t i = 0; i < definitions.size(); ++i) {
    if (!is_dataset(definitions[i]) || datasets[i] != i) continue;
    begins_[i] = numbers_.size();
    numbers_.resize(numbers_.size() + ends + rank_of(i, file));
  }
  for (std::uint64_t i = 0; i < definitions.size(); ++i) {  // as it was when it was opened again
    if (!is_dataset(definitions[i]) || datasets[i] == i) continue;
    const std::vector<std::uint64_t> extent = lengths_of(definitions[i], "extent");
    for (std::size_t d = 0; d < extent.size(); ++d) {
      reach(numbers_[begins_.at(datasets[i]) + ends + d], static_cast<std::int64_t>(extent[d]));
    }
  }
  paths_begin_ = numbers_.size();
  numbers_.resize(numbers_.size() + paths.all().size() * of_path + totals);
}

void Survey::add(const PatternFile& file, const Paths& paths, std::uint64_t recorded_rank) {
  RankReader reader(file, recorded_rank);
  Pending pending;
  std::map<std::uint64_t, std::uint64_t> creations;              // by path
  std::map<std::uint64_t, std::vector<std::uint64_t>> of_lists;  // ends, and most records of a box
  for (CapturedEvent event; reader.next(event);) {
    const bool waits = event.requests != CapturedEvent::Requests::none;
    if ((event.flags & capture::failed) && !waits) continue;
    note_meeting(event, reader, paths, pending);
    const std::uint64_t path = paths.number(reader.file_number(event.file));
    const bool moves = event.moves() && event.selection != CapturedEvent::Selection::nothing;
    if (moves && paths.is_left_out(path, event.flags)) {
      total(event.flags & capture::writes ? left_out_written : left_out_read) = 1;
      continue;
    }
    note_path(event, reader, path, recorded_rank, creations);
    if (moves) total(event.flags & capture::writes ? any_written : any_read) = 1;
    const bool with_nothing = event.moves() && event.selection == CapturedEvent::Selection::nothing;
    if (with_nothing && (event.flags & capture::collective)) total(any_with_nothing) = 1;
    if (event.dataset == CapturedEvent::none) continue;
    const auto begin = begins_.find(datasets_[reader.definition_number(event.dataset)]);
    if (begin == begins_.end()) continue;
    std::uint64_t* const of_dataset = numbers_.data() + begin->second;
    if (!event.moves()) {
      if (reader.call(event.call).effect != "extent") continue;
      const std::size_t rank = rank_of(begin->first, file);
      // The bytes of all files have one definition, also of those in which MPI shares memory.
      if (is_bytes(file.definitions()[begin->first])) {
        if (!event.arguments.empty()) reach(number(path, path_length), event.arguments[0]);
        continue;
      }
      for (std::size_t d = 0; d < std::min(rank, event.arguments.size()); ++d) {
        reach(of_dataset[ends + d], event.arguments[d]);
      }
      continue;
    }
    add_move(event, reader, rank_of(begin->first, file), of_lists, of_dataset);
  }
}

void Survey::combine(const Comm& comm) {
  MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(numbers_.size()), MPI_UINT64_T,
                MPI_MAX, comm.get());
}

void Survey::combine_meetings(const Comm& comm) {
  std::vector<std::uint64_t> mine;
  for (const auto& [path, number] : passed_through_) mine.insert(mine.end(), {path, number});
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(comm.size())), begins;
  check_mpi(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.get()),
            "MPI_Allgather");
  int all_count = 0;
  for (const int of_rank : counts) {
    begins.push_back(all_count);
    all_count += of_rank;
  }
  std::vector<std::uint64_t> all(static_cast<std::size_t>(all_count));
  check_mpi(MPI_Allgatherv(mine.data(), count, MPI_UINT64_T, all.data(), counts.data(),
                           begins.data(), MPI_UINT64_T, comm.get()),
            "MPI_Allgatherv");
  for (std::size_t i = 0; i < all.size(); i += 2) passed_through_.emplace(all[i], all[i + 1]);
}

std::uint32_t Survey::directions_of(Total writing, Total reading) {
  return (total(writing) ? unsigned{capture::writes} : 0) |
         (total(reading) ? unsigned{capture::reads} : 0);
}

DatasetShapes Survey::shapes(const PatternFile& file, std::uint32_t direction) {
  DatasetShapes all;
  all.records_are_rounds = total(any_with_nothing) == 0 && total(any_nonblocking) == 0;
  all.passed_through = passed_through_;
  for (std::uint64_t path = 0; path * of_path < paths_end() - paths_begin_; ++path) {
    if (number(path, direction == capture::writes ? path_written : path_read) != 0)
      all.moved_paths.insert(path);
  }
  for (const auto& [definition, begin] : begins_) {
    const std::uint64_t* const of_dataset = numbers_.data() + begin;
    if (!of_dataset[direction == capture::writes ? written : read]) continue;
    const Json& text = file.definitions()[definition];
    DatasetShapes::Shape shape;
    std::vector<std::uint64_t> extent = lengths_of(text, "extent");
    extent.resize(rank_of(definition, file));
    shape.has_time = !extent.empty() && text.contains("maximum") && !text["maximum"].empty() &&
                     text["maximum"][0].is_null() && !of_dataset[whole] &&
                     of_dataset[records] <= most_records_a_call;
    for (std::size_t d = 0; d < extent.size(); ++d) {
      if (grows(text, d)) extent[d] = std::max(extent[d], of_dataset[ends + d]);
    }
    if (is_bytes(text)) {
      for (const std::uint64_t path : all.moved_paths)
        extent[0] = std::max(extent[0], number(path, path_length));
    }
    if (shape.has_time) extent.erase(extent.begin());
    shape.extent = extent;
    all.of_definition.emplace(definition, std::move(shape));
  }
  return all;
}

void Survey::note_meeting(const CapturedEvent& event, const RankReader& reader, const Paths& paths,
                          Pending& pending) {
  const std::uint64_t path = paths.number(reader.file_number(event.file));
  PendingRequests& requests = pending.requests[path];
  requests.note(event);
  if (event.request > 0) total(any_nonblocking) = 1;
  const std::string& effect = reader.call(event.call).effect;
  if (!ranks_meet(effect, event.has(capture::collective))) return;
  if (paths.is_aside(path, reader.file(event.file))) return;
  const std::uint64_t meeting = pending.meetings[path]++;
  if (!requests.is_empty() && effect != "close") passed_through_.emplace(path, meeting);
}

void Survey::note_path(const CapturedEvent& event, const RankReader& reader, std::uint64_t path,
                       std::uint64_t recorded_rank,
                       std::map<std::uint64_t, std::uint64_t>& creations) {
  const std::string& effect = reader.call(event.call).effect;
  const auto note = [&](OfPath which, std::uint64_t value) {
    number(path, which) = std::max(number(path, which), value);
  };
  if (event.moves() && event.selection != CapturedEvent::Selection::nothing)
    note(event.flags & capture::writes ? path_written : path_read, 1);
  if (effect != "create" && effect != "open") return;
  note(first_opener, ranks_ - recorded_rank);
  note(last_opener, recorded_rank + 1);
  if (effect == "create") note(path_created, 1);
  const Json& file = reader.file(event.file);
  const Json flags = file.value("flags", Json::array());  // of POSIX
  const bool empties = file.contains("flags")
                           ? std::find(flags.begin(), flags.end(), "trunc") != flags.end()
                           : effect == "create" && file.value("level", "") != "mpiio";
  if (empties) note(path_creations, ++creations[path]);
}

void Survey::add_move(const CapturedEvent& event, const RankReader& reader, std::size_t rank,
                      std::map<std::uint64_t, std::vector<std::uint64_t>>& of_lists,
                      std::uint64_t* of_dataset) {
  using Selected = CapturedEvent::Selection;
  if (event.selection == Selected::nothing) return;
  of_dataset[event.flags & capture::writes ? written : read] = 1;
  if (event.selection == Selected::all) {
    of_dataset[whole] = 1;
    return;
  }
  if (event.origin.size() != rank) return;  // told when it is placed
  if (event.selection == Selected::box) {
    for (std::size_t d = 0; d < rank; ++d) {
      reach(of_dataset[ends + d], event.origin[d] + static_cast<std::int64_t>(event.counts[d]));
    }
    if (rank > 0) of_dataset[records] = std::max(of_dataset[records], event.counts[0]);
    return;
  }
  auto known = of_lists.find(event.list);
  if (known == of_lists.end())
    known = of_lists.emplace(event.list, ends_of(reader.lists.get(event.list))).first;
  if (known->second.size() != rank + 1) return;
  for (std::size_t d = 0; d < rank; ++d) {
    reach(of_dataset[ends + d], event.origin[d] + static_cast<std::int64_t>(known->second[d]));
  }
  of_dataset[records] = std::max(of_dataset[records], known->second[rank]);
}

}  // namespace slabmark
