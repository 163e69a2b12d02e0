#include "captured/captured_pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "capture/recorder.hpp"
#include "captured/round_order.hpp"
#include "geometry/run.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

namespace {

using nlohmann::json;

// More records than that in one call, and the dimension is none of time but one that grows.
constexpr std::uint64_t most_records_a_call = 256;

// ---- Datasets ----------------------------------------------------------------------------------

std::vector<std::uint64_t> lengths_of(const json& definition, const char* key) {
  std::vector<std::uint64_t> lengths;
  if (!definition.contains(key)) return lengths;
  for (const json& length : definition[key]) {
    lengths.push_back(length.is_number_integer() ? length.get<std::uint64_t>() : 0);
  }
  return lengths;
}

bool is_dataset(const json& definition) {
  const std::string kind = definition.value("kind", "");
  return kind == "dataset" || kind == "bytes";
}

bool grows(const json& definition, std::size_t dimension) {
  if (definition.value("kind", "") == "bytes") return true;
  if (!definition.contains("maximum") || dimension >= definition["maximum"].size()) return false;
  const json& most = definition["maximum"][dimension];
  return most.is_null() || most != definition["extent"][dimension];
}

/// What ranks must add up to know the shapes: numbers of a fixed layout, of which the largest
/// counts.
class Survey {
 public:
  Survey(const PatternFile& file, const Paths& paths, const DatasetNumbers& datasets)
      : ranks_(file.ranks()), datasets_(datasets) {
    const json& definitions = file.definitions();
    for (std::uint64_t i = 0; i < definitions.size(); ++i) {
      if (!is_dataset(definitions[i]) || datasets[i] != i) continue;
      const std::size_t rank =
          definitions[i].value("kind", "") == "bytes" ? 1 : definitions[i]["extent"].size();
      begins_[i] = numbers_.size();
      numbers_.resize(numbers_.size() + ends + rank);
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

  void add(const PatternFile& file, const Paths& paths, std::uint64_t recorded_rank) {
    RankReader reader(file, recorded_rank);
    Pending pending;
    std::map<std::uint64_t, std::uint64_t> creations;  // by path
    std::map<std::uint64_t, std::vector<std::uint64_t>>
        of_lists;  // ends, and most records of a box
    for (CapturedEvent event; reader.events.next(event);) {
      const bool waits = event.requests != CapturedEvent::Requests::none;
      if ((event.flags & capture::failed) && !waits) continue;
      note_meeting(event, reader, paths, pending);
      note_path(event, reader, paths.number(reader.file_number(event.file)), recorded_rank,
                pending.effects.at(event.call), creations);
      if (event.moves() && event.selection != CapturedEvent::Selection::nothing) {
        total(event.flags & capture::writes ? any_written : any_read) = 1;
      }
      const bool with_nothing =
          event.moves() && event.selection == CapturedEvent::Selection::nothing;
      if (with_nothing && (event.flags & capture::collective)) total(any_with_nothing) = 1;
      if (event.dataset == CapturedEvent::none) continue;
      const auto begin = begins_.find(datasets_[reader.definition_number(event.dataset)]);
      if (begin == begins_.end()) continue;
      std::uint64_t* const of_dataset = numbers_.data() + begin->second;
      if (!event.moves()) {
        if (reader.definition(event.call).value("effect", "") != "extent") continue;
        const std::size_t rank = rank_of(begin->first, file);
        for (std::size_t d = 0; d < std::min(rank, event.arguments.size()); ++d) {
          reach(of_dataset[ends + d], event.arguments[d]);
        }
        continue;
      }
      add_move(event, reader, rank_of(begin->first, file), of_lists, of_dataset);
    }
  }

  /// The largest of all ranks.
  void combine(const Comm& comm) {
    MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(numbers_.size()), MPI_UINT64_T,
                  MPI_MAX, comm.get());
  }

  /// Collective: all ranks' meetings with requests pending.
  void combine_meetings(const Comm& comm) {
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

  bool writes() { return total(any_written) != 0; }
  bool reads() { return total(any_read) != 0; }

  // Of a path.
  bool is_created(std::uint64_t path) { return number(path, path_created) != 0; }
  bool is_written(std::uint64_t path) { return number(path, path_written) != 0; }
  bool is_created_again(std::uint64_t path) { return number(path, path_creations) > 1; }
  bool is_shared(std::uint64_t path) {
    return number(path, last_opener) + number(path, first_opener) > ranks_ + 1;
  }

  DatasetShapes shapes(const PatternFile& file, std::uint32_t direction) {
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
      const json& text = file.definitions()[definition];
      DatasetShapes::Shape shape;
      std::vector<std::uint64_t> extent = lengths_of(text, "extent");
      extent.resize(rank_of(definition, file));
      shape.has_time = !extent.empty() && text.contains("maximum") && !text["maximum"].empty() &&
                       text["maximum"][0].is_null() && !of_dataset[whole] &&
                       of_dataset[records] <= most_records_a_call;
      for (std::size_t d = 0; d < extent.size(); ++d) {
        if (grows(text, d)) extent[d] = std::max(extent[d], of_dataset[ends + d]);
      }
      if (shape.has_time) extent.erase(extent.begin());
      shape.extent = extent;
      all.of_definition.emplace(definition, std::move(shape));
    }
    return all;
  }

 private:
  enum Number : std::size_t { written, read, whole, records, ends };
  enum Total : std::size_t { any_written, any_read, any_with_nothing, any_nonblocking, totals };
  enum OfPath : std::size_t {
    path_written,
    path_read,
    path_created,
    path_creations,  ///< by one rank
    first_opener,    ///< ranks less its number
    last_opener,     ///< its number and 1
    of_path
  };

  /// What a recorded rank has under way.
  struct Pending {
    std::map<std::uint64_t, std::map<std::uint64_t, bool>>
        requests;                                     ///< by path and number: whether it writes
    std::map<std::uint64_t, std::uint64_t> meetings;  ///< by path
    std::map<std::uint64_t, std::string> effects;     ///< by number of the call
  };

  void note_meeting(const CapturedEvent& event, const RankReader& reader, const Paths& paths,
                    Pending& pending) {
    using Requests = CapturedEvent::Requests;
    const std::uint64_t path = paths.number(reader.file_number(event.file));
    auto& requests = pending.requests[path];
    if (event.request > 0) {
      requests[event.request] = (event.flags & capture::writes) != 0;
      total(any_nonblocking) = 1;
    }
    if (event.requests == Requests::all) requests.clear();
    if (event.requests == Requests::all_writing)
      std::erase_if(requests, [](const auto& entry) { return entry.second; });
    if (event.requests == Requests::all_reading)
      std::erase_if(requests, [](const auto& entry) { return !entry.second; });
    for (const std::uint64_t request : event.listed) requests.erase(request);
    auto effect = pending.effects.find(event.call);
    if (effect == pending.effects.end()) {
      effect = pending.effects
                   .emplace(event.call, reader.definition(event.call).value("effect", "other"))
                   .first;
    }
    if (!ranks_meet(effect->second, (event.flags & capture::collective) != 0)) return;
    const std::uint64_t meeting = pending.meetings[path]++;
    if (!requests.empty() && effect->second != "close") passed_through_.emplace(path, meeting);
  }

  void note_path(const CapturedEvent& event, const RankReader& reader, std::uint64_t path,
                 std::uint64_t recorded_rank, const std::string& effect,
                 std::map<std::uint64_t, std::uint64_t>& creations) {
    const auto note = [&](OfPath which, std::uint64_t value) {
      number(path, which) = std::max(number(path, which), value);
    };
    if (event.moves() && event.selection != CapturedEvent::Selection::nothing)
      note(event.flags & capture::writes ? path_written : path_read, 1);
    if (effect != "create" && effect != "open") return;
    note(first_opener, ranks_ - recorded_rank);
    note(last_opener, recorded_rank + 1);
    if (effect == "create") note(path_created, 1);
    const json& file = reader.file(event.file);
    const json flags = file.value("flags", json::array());  // of POSIX
    const bool empties = file.contains("flags")
                             ? std::find(flags.begin(), flags.end(), "trunc") != flags.end()
                             : effect == "create" && file.value("level", "") != "mpiio";
    if (empties) note(path_creations, ++creations[path]);
  }

  static std::size_t rank_of(std::uint64_t definition, const PatternFile& file) {
    const json& text = file.definitions()[definition];
    return text.value("kind", "") == "bytes" ? 1 : text["extent"].size();
  }
  std::size_t paths_end() const { return numbers_.size() - totals; }
  std::uint64_t& number(std::uint64_t path, OfPath which) {
    return numbers_[paths_begin_ + path * of_path + which];
  }
  std::uint64_t& total(Total which) { return numbers_[numbers_.size() - totals + which]; }
  static void reach(std::uint64_t& end, std::int64_t value) {
    if (value > 0) end = std::max(end, static_cast<std::uint64_t>(value));
  }

  static void add_move(const CapturedEvent& event, const RankReader& reader, std::size_t rank,
                       std::map<std::uint64_t, std::vector<std::uint64_t>>& of_lists,
                       std::uint64_t* of_dataset) {
    using Selection = CapturedEvent::Selection;
    if (event.selection == Selection::nothing) return;
    of_dataset[event.flags & capture::writes ? written : read] = 1;
    if (event.selection == Selection::all) {
      of_dataset[whole] = 1;
      return;
    }
    if (event.origin.size() != rank) return;  // told when it is placed
    if (event.selection == Selection::box) {
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

  /// For each dimension, how far boxes reach from the origin; then the most records that one has.
  static std::vector<std::uint64_t> ends_of(const BoxArray& boxes) {
    std::vector<std::uint64_t> all(boxes.rank + 1);
    for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
      const std::int64_t count = boxes.counts[k];
      const std::int64_t block = boxes.blocks.empty() ? 1 : boxes.blocks[k];
      if (count == 0 || block == 0) continue;
      const std::int64_t length =
          (count - 1) * (boxes.strides.empty() ? 1 : boxes.strides[k]) + block;
      reach(all[k % boxes.rank], boxes.starts[k] + length);
      if (k % boxes.rank == 0) reach(all[boxes.rank], count * block);
    }
    return all;
  }

  std::uint64_t ranks_;
  const DatasetNumbers& datasets_;
  std::map<std::uint64_t, std::size_t> begins_;
  std::size_t paths_begin_ = 0;
  std::vector<std::uint64_t> numbers_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> passed_through_;
};

struct ElementShape {
  ElementType type = ElementType::uint8;
  std::uint64_t bytes = 0;  ///< of one more dimension; 0: there is none
};

ElementShape element_of(const json& definition, const std::string& path) {
  if (definition.value("kind", "") == "bytes") return {};
  const json type = definition.value("type", json());
  if (type.is_string()) {
    if (const auto known = find_element_type(type.get<std::string>())) return {*known, 0};
  }
  if (type.is_object() && type.value("bytes", std::uint64_t{0}) > 0) {
    const std::uint64_t bytes = type["bytes"];
    return {ElementType::uint8, bytes};
  }
  throw InputError(fmt::format("Dataset '{}' of '{}' has the type {}, whose size is not said.",
                               definition.value("name", ""), path, type.dump()));
}

// ---- What a rank does --------------------------------------------------------------------------

/// A transfer before datasets are numbered.
struct Move {
  RoundKey round;
  std::uint64_t path = 0;
  std::uint64_t definition = 0;
  std::uint64_t time = 0;

  auto operator<=>(const Move&) const = default;
};

/// Makes selections, the same object for the same one.
class Selections {
 public:
  Selections(const DatasetShapes& shapes, const std::map<std::uint64_t, ElementShape>& elements)
      : shapes_(shapes), elements_(elements) {}

  SelectionPtr all(std::uint64_t definition) {
    SelectionPtr& known = all_[extent_of(definition)];
    if (!known) known = select_all(extent_of(definition));
    return known;
  }
  SelectionPtr none(std::uint64_t definition) {
    SelectionPtr& known = none_[extent_of(definition)];
    if (!known) known = select_none(extent_of(definition));
    return known;
  }

  /// Boxes as PlacedBoxes::numbers has them.
  SelectionPtr of(std::uint64_t definition, std::size_t rank, std::vector<std::int64_t> numbers) {
    const Extent extent = extent_of(definition);
    SelectionPtr& known =
        known_[{extent, hash(numbers, 0x9E3779B97F4A7C15), hash(numbers, 0xD1342543DE82EF95)}];
    if (!known) known = make(extent, rank, elements_.at(definition).bytes, std::move(numbers));
    return known;
  }

  Extent extent_of(std::uint64_t definition) const {
    Extent extent = shapes_.of_definition.at(definition).extent;
    if (elements_.at(definition).bytes > 0) extent.push_back(elements_.at(definition).bytes);
    return extent;
  }

 private:
  static SelectionPtr make(const Extent& extent, std::size_t rank, std::uint64_t bytes,
                           std::vector<std::int64_t> all) {
    if (bytes == 0 && are_rows(all, rank))
      return select_row_runs(extent, runs_of(all, rank, extent));
    const auto numbers = std::make_shared<const std::vector<std::int64_t>>(std::move(all));
    const std::size_t per_box = 4 * rank;
    const std::uint64_t boxes = rank == 0 ? 1 : numbers->size() / per_box;
    return select_generated(extent, boxes, [=](std::uint64_t i, Hyperslab& slab) {
      const std::int64_t* const at = numbers->data() + i * per_box;
      const auto fill = [&](Extent& to, std::size_t row, std::uint64_t more) {
        to.assign(at + row * rank, at + (row + 1) * rank);
        if (bytes > 0) to.push_back(more);
      };
      fill(slab.start, 0, 0);
      fill(slab.count, 1, 1);
      fill(slab.stride, 2, 1);
      fill(slab.block, 3, bytes);
      for (std::size_t d = 0; d < rank; ++d) {  // count indices are one block of that many
        if (slab.stride[d] != 1 || slab.block[d] != 1) continue;
        std::swap(slab.count[d], slab.block[d]);
        slab.stride[d] = slab.block[d] > 0 ? slab.block[d] : 1;
      }
    });
  }

  /// Whether all boxes are runs within a row, which take less memory.
  static bool are_rows(const std::vector<std::int64_t>& numbers, std::size_t rank) {
    for (std::size_t at = 0; at < numbers.size(); at += 4 * rank) {
      for (std::size_t d = 0; d < rank; ++d) {
        const bool is_one = numbers[at + 2 * rank + d] == 1 && numbers[at + 3 * rank + d] == 1;
        if (!is_one || numbers[at + rank + d] < 1 || (d + 1 < rank && numbers[at + rank + d] > 1))
          return false;
      }
    }
    return true;
  }

  static RunList runs_of(const std::vector<std::int64_t>& numbers, std::size_t rank,
                         const Extent& extent) {
    RunList runs;
    runs.reserve(numbers.size() / (4 * rank));
    for (std::size_t at = 0; at < numbers.size(); at += 4 * rank) {
      std::uint64_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        const auto start = static_cast<std::uint64_t>(numbers[at + d]);
        const auto length = static_cast<std::uint64_t>(numbers[at + rank + d]);
        if (start >= extent[d] || length > extent[d] - start) {
          throw InputError(
              fmt::format("A call moves {} elements at {} in a dimension of length {}.", length,
                          start, extent[d]));
        }
        offset = offset * extent[d] + start;
      }
      runs.push_back({offset, static_cast<std::uint64_t>(numbers[at + 2 * rank - 1])});
    }
    return runs;
  }

  static std::uint64_t hash(const std::vector<std::int64_t>& numbers, std::uint64_t factor) {
    std::uint64_t value = numbers.size();
    for (const std::int64_t number : numbers) {
      value = (value ^ static_cast<std::uint64_t>(number)) * factor;
      value ^= value >> 29;
    }
    return value;
  }

  const DatasetShapes& shapes_;
  const std::map<std::uint64_t, ElementShape>& elements_;
  std::map<Extent, SelectionPtr> all_, none_;
  std::map<std::tuple<Extent, std::uint64_t, std::uint64_t>, SelectionPtr> known_;
};

/// Several selections of one shape, one after another.
SelectionPtr concatenated(const std::vector<SelectionPtr>& parts) {
  if (parts.size() == 1) return parts.front();
  std::vector<std::uint64_t> ends;
  std::uint64_t count = 0;
  for (const SelectionPtr& part : parts) ends.push_back(count += part->hyperslab_count());
  return select_generated(parts.front()->extent(), count, [=](std::uint64_t i, Hyperslab& slab) {
    const auto part =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin());
    parts[part]->hyperslab(i - (part > 0 ? ends[part - 1] : 0), slab);
  });
}

/// What some recorded ranks do together.
class Doing {
 public:
  Doing(const CapturedRun& run, Selections& selections) : run_(run), selections_(selections) {}

  void add(std::uint64_t recorded_rank) {
    CapturedWalk walk = run_.walk(recorded_rank);
    double thought = 0;
    constexpr double microsecond = 1e-6;
    std::uint64_t together = 1;
    std::optional<RoundKey> last;
    while (walk.next()) {
      if (walk.event().begins_block)
        thought += static_cast<double>(walk.event().thought) * microsecond;
      const RoundKey& round = walk.round();
      if (run_.shapes.moved_paths.contains(walk.path()) && walk.orders_rounds()) {
        if (walk.is_made_by_all()) count_together(together, round);
        if (last != round) add_step({last.value_or(round), round});
        // A call is in one round with all its parts.
        if (walk.event().flags & capture::one_more_part) add_step({round, *last});
        last = round;
      }
      for (const PlacedBoxes& placed : walk.placed()) {
        thought_[round] += std::exchange(thought, 0.0);
        add(walk, placed);
      }
      if (!pending_.empty() && walk.effect() != "write" && walk.effect() != "read") finish();
    }
    finish();
    least_together_ = std::min(least_together_, together);
    most_together_ = std::max(most_together_, together);
  }

  /// In the order in which they first came.
  const std::vector<Move>& moves() const { return order_; }
  SelectionPtr selection(const Move& move) const {
    const auto found = parts_.find(move);
    return found == parts_.end() ? nullptr : concatenated(found->second);
  }
  /// From which round it came to which, in the order in which that first was so.
  const std::vector<RoundStep>& steps() const { return steps_; }
  /// Numbers that all recorded ranks have in common if their common calls are in the same rounds.
  std::uint64_t least_together() const { return least_together_; }
  std::uint64_t most_together() const { return most_together_; }
  double thought(const RoundKey& round) const {
    const auto found = thought_.find(round);
    return found == thought_.end() ? 0.0 : found->second;
  }

 private:
  struct Pending {
    bool is_all = false;
    std::size_t rank = 0;
    std::vector<std::int64_t> numbers;
  };

  void add_step(const RoundStep& step) {
    if (known_steps_.insert(step).second) steps_.push_back(step);
  }

  static void count_together(std::uint64_t& together, const RoundKey& round) {
    for (const std::uint64_t number : {round.file, round.phase, round.time}) {
      together = (together ^ number) * 0x9E3779B97F4A7C15;
      together ^= together >> 29;
    }
  }

  void add(CapturedWalk& walk, const PlacedBoxes& placed) {
    const Move move{placed.round, placed.path, placed.definition, placed.time};
    if (parts_.find(move) == parts_.end() && pending_.find(move) == pending_.end())
      order_.push_back(move);
    // All of a dataset stands for itself, so that the order stays.
    const auto before = pending_.find(move);
    if (before != pending_.end() && (placed.is_all || before->second.is_all)) finish();
    Pending& pending = pending_[move];
    pending.rank = placed.rank;
    if (placed.is_all) {
      pending.is_all = true;
    } else if (placed.list != CapturedEvent::none) {
      const BoxArray boxes = walk.rank().lists.get(placed.list);
      const std::size_t skipped = boxes.rank - placed.rank;
      pending.numbers.reserve(pending.numbers.size() + 4 * placed.rank * boxes.count);
      for (std::size_t i = 0; i < boxes.count; ++i) {
        const std::size_t at = i * boxes.rank + skipped;
        for (std::size_t d = 0; d < placed.rank; ++d) {
          pending.numbers.push_back(boxes.starts[at + d] + placed.origin[d]);
        }
        const auto put = [&](const std::vector<std::int64_t>& of_list) {
          for (std::size_t d = 0; d < placed.rank; ++d) {
            pending.numbers.push_back(of_list.empty() ? 1 : of_list[at + d]);
          }
        };
        put(boxes.counts);
        put(boxes.strides);
        put(boxes.blocks);
      }
    } else {
      pending.numbers.insert(pending.numbers.end(), placed.numbers.begin(), placed.numbers.end());
    }
  }

  void finish() {
    for (auto& [move, pending] : pending_) {
      auto& parts = parts_[move];
      if (pending.is_all || pending.rank == 0) {
        parts.push_back(selections_.all(move.definition));
      } else if (!pending.numbers.empty()) {
        parts.push_back(selections_.of(move.definition, pending.rank, std::move(pending.numbers)));
      }
      if (parts.empty()) parts.push_back(selections_.none(move.definition));
    }
    pending_.clear();
  }

  const CapturedRun& run_;
  Selections& selections_;
  std::vector<Move> order_;
  std::map<Move, Pending> pending_;
  std::map<Move, std::vector<SelectionPtr>> parts_;
  std::map<RoundKey, double> thought_;
  std::vector<RoundStep> steps_;
  std::set<RoundStep> known_steps_;
  std::uint64_t least_together_ = ~std::uint64_t{0}, most_together_ = 0;
};

// ---- What all ranks do -------------------------------------------------------------------------

/// Collective. The items of all ranks, in the order of the first that has them.
template <class Item>
std::vector<Item> agree_on(const Comm& comm, const std::vector<Item>& mine) {
  constexpr std::size_t numbers = sizeof(Item) / sizeof(std::uint64_t);
  static_assert(std::is_trivially_copyable_v<Item> &&
                sizeof(Item) == numbers * sizeof(std::uint64_t));
  std::vector<Item> all;
  std::set<Item> known;
  // Mostly ranks do the same: who has something new tells.
  for (int rank = 0; rank < comm.size(); ++rank) {
    const bool has_new = std::any_of(mine.begin(), mine.end(),
                                     [&](const Item& item) { return !known.contains(item); });
    std::uint64_t next =
        has_new ? static_cast<std::uint64_t>(comm.rank()) : static_cast<std::uint64_t>(comm.size());
    next = comm.min(next);
    if (next == static_cast<std::uint64_t>(comm.size())) break;
    const bool tells = next == static_cast<std::uint64_t>(comm.rank());
    const std::uint64_t count =
        comm.broadcast(static_cast<std::uint64_t>(mine.size()), static_cast<int>(next));
    std::vector<Item> told = tells ? mine : std::vector<Item>(count);
    check_mpi(MPI_Bcast(told.data(), static_cast<int>(count * numbers), MPI_UINT64_T,
                        static_cast<int>(next), comm.get()),
              "MPI_Bcast");
    for (const Item& item : told) {
      if (known.insert(item).second) all.push_back(item);
    }
  }
  return all;
}

/// Rounds in order, and what is moved in each.
struct Schedule {
  std::vector<RoundKey> rounds;
  std::vector<std::vector<Move>> moves;

  explicit Schedule(const std::vector<Move>& all) {
    std::map<RoundKey, std::size_t> place;
    for (const Move& move : all) {
      const auto [found, is_new] = place.try_emplace(move.round, rounds.size());
      if (is_new) {
        rounds.push_back(move.round);
        moves.emplace_back();
      }
      moves[found->second].push_back(move);
    }
  }
};

/// The datasets of the pattern: definitions, or definitions in files where these are put together.
struct Target {
  std::uint64_t path = 0;  ///< 0 where files are not told apart
  std::uint64_t definition = 0;

  auto operator<=>(const Target&) const = default;
};

class Maker {
 public:
  Maker(const Comm& comm, const CapturedPatternRequest& request)
      : comm_(comm), request_(request), run_(open(comm, request.path)) {}

  CapturedPattern make() {
    Survey survey(run_->file, run_->paths, run_->numbers);
    const Run block = mine(comm_.rank());
    agreed(comm_, [&] {
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank)
        survey.add(run_->file, run_->paths, rank);
    });
    survey.combine(comm_);
    survey.combine_meetings(comm_);
    choose_direction(survey);
    run_->shapes = survey.shapes(run_->file, run_->direction);
    for (const auto& [definition, shape] : run_->shapes.of_definition) {
      elements_[definition] = element_of(run_->file.definitions()[definition], run_->file.path());
    }
    selections_ = std::make_shared<Selections>(run_->shapes, elements_);
    std::shared_ptr<Doing> doing = read(comm_.rank());
    // Who makes a common call for another record than others would wait for them in another round.
    if (comm_.min(doing->least_together()) != comm_.max(doing->most_together()) &&
        std::exchange(run_->shapes.records_are_rounds, false)) {
      doing = read(comm_.rank());
    }
    if (put_in_order(doing->steps())) doing = read(comm_.rank());
    std::vector<Move> moves = agree_on(comm_, doing->moves());
    std::stable_sort(moves.begin(), moves.end(), [&](const Move& a, const Move& b) {
      return run_->places.at(a.round) < run_->places.at(b.round);
    });
    const Schedule schedule(moves);
    describe(schedule, *doing);
    run_->why_not = why_not(survey);

    CapturedPattern made{pattern_of(schedule, *doing), std::nullopt, {}};
    if (request_.with_neighbours) {
      const std::shared_ptr<Doing> other = read((comm_.rank() + 1) % comm_.size());
      made.neighbours = pattern_of(schedule, *other);
    }
    return made;
  }

 private:
  static std::shared_ptr<CapturedRun> open(const Comm& comm, const std::string& path) {
    std::shared_ptr<CapturedRun> run;
    agreed(comm, [&] { run = std::make_shared<CapturedRun>(path); });
    return run;
  }

  Run mine(int rank) const {
    return equal_range(run_->file.ranks(), static_cast<std::uint64_t>(rank),
                       static_cast<std::uint64_t>(comm_.size()));
  }

  /// Collective. True if there are rounds that became one.
  bool put_in_order(const std::vector<RoundStep>& mine) {
    const auto order = in_order(agree_on(comm_, mine));
    for (std::size_t place = 0; place < order.size(); ++place) {
      const RoundKey& first = order[place].front();
      run_->places[first] = place;
      if (order[place].size() == 1) continue;
      for (const RoundKey& round : order[place]) run_->shapes.united[round] = first;
    }
    return !run_->shapes.united.empty();
  }

  void choose_direction(Survey& survey) {
    using Moves = CapturedPatternRequest::Moves;
    const bool writes =
        request_.moves == Moves::writes || (request_.moves == Moves::automatic && survey.writes());
    run_->direction = writes ? capture::writes : capture::reads;
    if (writes ? survey.writes() : survey.reads()) return;
    throw InputError(fmt::format("In '{}' the program {} nothing, so there is nothing to play.",
                                 run_->file.path(),
                                 request_.moves == Moves::automatic ? "wrote and read"
                                 : writes                           ? "wrote"
                                                                    : "read"));
  }

  /// Collective. What the recorded ranks did that `rank` stands for.
  std::shared_ptr<Doing> read(int rank) {
    auto doing = std::make_shared<Doing>(*run_, *selections_);
    const Run block = mine(rank);
    agreed(comm_, [&] {
      for (std::uint64_t recorded = block.offset; recorded < block.end(); ++recorded)
        doing->add(recorded);
    });
    return doing;
  }

  /// Files, datasets and thinking of the run.
  void describe(const Schedule& schedule, const Doing& doing) {
    run_->rounds = schedule.rounds;
    std::map<std::uint64_t, std::set<std::uint64_t>> definitions;  // by path
    bool is_one_round_each = true;
    for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
      std::map<Target, std::uint64_t> first_times;
      const std::uint64_t path = schedule.moves[r].front().path;
      is_one_round_each = is_one_round_each && !definitions.contains(path);
      for (const Move& move : schedule.moves[r]) {
        is_one_round_each = is_one_round_each && move.path == path;
        if (definitions[move.path].empty()) run_->files.push_back(move.path);
        definitions[move.path].insert(move.definition);
        std::uint64_t& first =
            first_times.try_emplace({move.path, move.definition}, move.time).first->second;
        first = std::min(first, move.time);
      }
      for (const auto& [target, first] : first_times)
        is_one_round_each = is_one_round_each && first == 0;
      run_->thought.push_back(comm_.max(doing.thought(schedule.rounds[r])));
    }
    file_a_round_ = run_->files.size() > 1 && is_one_round_each;
    for (const std::uint64_t path : run_->files) {
      file_a_round_ = file_a_round_ && definitions[path] == definitions[run_->files.front()];
    }
    tells_files_apart_ = run_->files.size() > 1 && !file_a_round_;
    std::set<Target> targets;
    for (const auto& moves : schedule.moves) {
      for (const Move& move : moves) targets.insert(target_of(move));
    }
    for (const Target& target : targets) {
      places_[target] = run_->datasets.size();
      run_->datasets.push_back(target.definition);
      if (!tells_files_apart_) continue;
      run_->dataset_paths.push_back(target.path);
      run_->dataset_names.push_back(name_of(target.definition));
    }
    std::set<std::string> levels;
    for (const std::uint64_t path : run_->files)
      levels.merge(std::set(run_->paths.all()[path].levels));
    if (levels.size() == 1) run_->level = *levels.begin();
    if (run_->file.ranks() == static_cast<std::uint64_t>(comm_.size())) {
      run_->recorded_rank = static_cast<std::uint64_t>(comm_.rank());
    }
  }

  std::string why_not(Survey& survey) {
    const std::uint64_t ranks = run_->file.ranks();
    if (!run_->recorded_rank) {
      return fmt::format("the program's own calls take as many ranks as were recorded, {}", ranks);
    }
    if (run_->file.origin() != "captured" || run_->level == "described")
      return "no program made calls";
    if (run_->level.empty()) return "the program used several libraries";
    std::set<std::pair<std::uint64_t, std::string>> names;
    for (std::size_t i = 0;
         run_->level != "mpiio" && run_->level != "posix" && i < run_->datasets.size(); ++i) {
      const std::uint64_t path = tells_files_apart_ ? run_->dataset_paths[i] : 0;
      const std::string name = name_of(run_->datasets[i]);
      if (!names.emplace(path, name).second)
        return fmt::format("dataset '{}' was made anew, with another shape or type", name);
    }
    const bool keeps_what_is_there = run_->level == "mpiio" || run_->level == "posix";
    for (const std::uint64_t path : run_->files) {
      const Paths::Path& file = run_->paths.all()[path];
      if (survey.is_shared(path)) run_->shared_paths.insert(path);
      for (const std::uint64_t together : file.ranks) {
        if (together == 1 || together == ranks) continue;
        return fmt::format("'{}' was opened by {} of the {} ranks together", file.name, together,
                           ranks);
      }
      if (survey.is_created_again(path)) {
        return fmt::format("the program made '{}' more than once", file.name);
      }
      const bool writes = run_->direction == capture::writes;
      if (writes && !keeps_what_is_there && !survey.is_created(path))
        return fmt::format("the program added to '{}', which was there before", file.name);
      if (!writes && survey.is_written(path))
        return fmt::format("the program wrote to '{}', too", file.name);
    }
    return "";
  }

  Target target_of(const Move& move) const {
    return {tells_files_apart_ ? move.path : 0, move.definition};
  }

  std::string name_of(std::uint64_t definition) const {
    std::string name = run_->file.definitions()[definition].value("name", "bytes");
    while (name.starts_with('/')) name.erase(0, 1);
    return name;
  }

  Dataset dataset_of(const Target& target, std::set<std::string>& names) const {
    const json& definition = run_->file.definitions()[target.definition];
    const DatasetShapes::Shape& shape = run_->shapes.of_definition.at(target.definition);
    const ElementShape element = elements_.at(target.definition);
    const std::size_t skipped = shape.has_time ? 1 : 0;
    Dataset dataset;
    dataset.type = element.type;
    dataset.has_time = shape.has_time;
    dataset.name = name_of(target.definition);
    if (!names.insert(dataset.name).second || tells_files_apart_) {
      dataset.name = fmt::format("file{}_{}", target.path + 1, dataset.name);
      names.insert(dataset.name);
    }
    const json dimensions = definition.value("dimensions", json::array());
    for (std::size_t d = 0; d < shape.extent.size(); ++d) {
      std::string name = d + skipped < dimensions.size()
                             ? dimensions[d + skipped].get<std::string>()
                             : fmt::format("dim{}_{}", d, shape.extent[d]);
      dataset.dimensions.push_back({std::move(name), shape.extent[d]});
    }
    if (element.bytes > 0)
      dataset.dimensions.push_back({fmt::format("bytes_{}", element.bytes), element.bytes});
    std::vector<std::uint64_t> chunk = lengths_of(definition, "chunk");
    if (chunk.size() == shape.extent.size() + skipped && !chunk.empty()) {
      chunk.erase(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(skipped));
      if (element.bytes > 0) chunk.push_back(element.bytes);
      if (!chunk.empty()) dataset.chunk = chunk;
    }
    return dataset;
  }

  Pattern pattern_of(const Schedule& schedule, const Doing& doing) const {
    Pattern pattern;
    pattern.name = "captured";
    pattern.settings = {{"pattern", run_->file.path()},
                        {"recorded_ranks", std::to_string(run_->file.ranks())},
                        {"origin", run_->file.origin()},
                        {"levels", run_->level},
                        {"moves", run_->direction == capture::writes ? "writes" : "reads"}};
    if (!run_->file.guess().empty()) pattern.settings["guess"] = run_->file.guess();
    std::set<std::string> names;
    for (const auto& [target, place] : places_)
      pattern.datasets.push_back(dataset_of(target, names));
    pattern.rounds = schedule.rounds.size();
    pattern.file_policy = file_a_round_ ? FilePolicy::a_round : FilePolicy::one;
    pattern.captured = run_;
    auto rounds = std::make_shared<std::vector<std::vector<Transfer>>>();
    for (const auto& moves : schedule.moves) {
      rounds->emplace_back();
      for (const Move& move : moves) {
        SelectionPtr selection = doing.selection(move);
        if (!selection) selection = selections_->none(move.definition);
        rounds->back().push_back(
            {places_.at(target_of(move)), move.time, std::move(selection), nullptr});
      }
    }
    pattern.transfers = [rounds](std::uint64_t round) { return rounds->at(round); };
    return pattern;
  }

  const Comm& comm_;
  const CapturedPatternRequest& request_;
  std::shared_ptr<CapturedRun> run_;
  std::map<std::uint64_t, ElementShape> elements_;
  std::shared_ptr<Selections> selections_;
  std::map<Target, std::size_t> places_;
  bool file_a_round_ = false;
  bool tells_files_apart_ = false;
};

}  // namespace

CapturedPattern make_captured_pattern(const Comm& comm, const CapturedPatternRequest& request) {
  double seconds = 0;
  CapturedPattern made;
  timed(seconds, [&] { made = Maker(comm, request).make(); });
  made.setup = {{"pattern_read", comm.max(seconds)}};
  return made;
}

}  // namespace slabmark
