#include "bench/pattern/captured/captured_pattern.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "bench/pattern/captured/overlaps.hpp"
#include "bench/pattern/captured/recorded_moves.hpp"
#include "bench/pattern/captured/round_order.hpp"
#include "bench/pattern/captured/survey.hpp"
#include "capture/format/event_flags.hpp"
#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

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
      : comm_(comm), request_(request), run_(open(comm, request)) {}

  CapturedPattern make() {
    std::optional<Survey> first(surveyed());
    run_->paths.set_others(first->directions());
    if (first->left_out() & ~first->directions()) first.emplace(surveyed());
    Survey& survey = *first;
    survey.combine_meetings(comm_);
    choose_direction(survey);
    run_->shapes = survey.shapes(run_->file, run_->direction);
    for (const auto& [definition, shape] : run_->shapes.of_definition) {
      elements_[definition] = element_of(run_->file.definitions()[definition], run_->file.path());
    }
    selections_ = std::make_shared<Selections>(run_->shapes, elements_);
    std::shared_ptr<RecordedMoves> moved = read(comm_.rank());
    // A rank that makes a common call for another record than the others would wait for them in
    // another round.
    if (comm_.min(moved->least_together()) != comm_.max(moved->most_together()) &&
        std::exchange(run_->shapes.records_are_rounds, false)) {
      moved = read(comm_.rank());
    }
    if (put_in_order(moved->steps())) moved = read(comm_.rank());
    std::vector<Move> moves = agree_on(comm_, moved->moves());
    std::stable_sort(moves.begin(), moves.end(), [&](const Move& a, const Move& b) {
      return run_->places.at(a.round) < run_->places.at(b.round);
    });
    const Schedule schedule(moves);
    describe(schedule, *moved);
    for (const std::uint64_t path : run_->files) {
      if (survey.is_shared(path)) run_->shared_paths.insert(path);
    }
    find_repeats(schedule, *moved);
    find_overlaps_of(schedule, *moved);
    run_->unsupported_reason = unsupported_reason(survey);

    CapturedPattern made{pattern_of(schedule, *moved), std::nullopt, {}};
    if (request_.with_neighbours) {
      const std::shared_ptr<RecordedMoves> other = read((comm_.rank() + 1) % comm_.size());
      made.neighbours = pattern_of(schedule, *other);
    }
    return made;
  }

 private:
  static std::shared_ptr<CapturedRun> open(const Comm& comm,
                                           const CapturedPatternRequest& request) {
    std::shared_ptr<CapturedRun> run;
    agreed(comm, [&] { run = std::make_shared<CapturedRun>(request.path, request.choice); });
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

  /// Collective.
  Survey surveyed() const {
    Survey survey(run_->file, run_->paths, run_->numbers);
    const Run block = mine(comm_.rank());
    agreed(comm_, [&] {
      for (std::uint64_t rank = block.offset; rank < block.end(); ++rank)
        survey.add(run_->file, run_->paths, rank);
    });
    survey.combine(comm_);
    return survey;
  }

  void choose_direction(Survey& survey) {
    using Moves = CapturedPatternRequest::Moves;
    const bool writes = request_.moves == Moves::writes || (request_.moves == Moves::automatic &&
                                                            survey.directions() & capture::writes);
    run_->direction = writes ? capture::writes : capture::reads;
    run_->reads_too = writes && (survey.directions() & capture::reads) != 0;
    if (survey.directions() & run_->direction) return;
    throw InputError(fmt::format("In '{}' the program {} nothing, so there is nothing to play.",
                                 run_->file.path(),
                                 request_.moves == Moves::automatic ? "wrote and read"
                                 : writes                           ? "wrote"
                                                                    : "read"));
  }

  /// Collective. The calls of the recorded ranks that `rank` stands for.
  std::shared_ptr<RecordedMoves> read(int rank) {
    auto moved = std::make_shared<RecordedMoves>(*run_, *selections_);
    const Run block = mine(rank);
    agreed(comm_, [&] {
      for (std::uint64_t recorded = block.offset; recorded < block.end(); ++recorded)
        moved->add(recorded);
    });
    return moved;
  }

  /// Of this rank: whether every round moves as many, so that each can be a trial.
  bool moves_as_many_bytes(const Schedule& schedule, const RecordedMoves& moved) const {
    std::set<std::uint64_t> all;
    for (const std::vector<Move>& round : schedule.moves) {
      std::uint64_t bytes = 0;
      for (const Move& move : round) {
        const EachOnce* const made = moved.selection(move);
        if (made)
          bytes += made->selection->element_count() * size_of(elements_.at(move.definition).type);
      }
      all.insert(bytes);
    }
    return all.size() <= 1;
  }

  /// Files, datasets and think times of the run.
  void describe(const Schedule& schedule, const RecordedMoves& moved) {
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
      run_->think_times.push_back(comm_.max(moved.think_time(schedule.rounds[r])));
    }
    file_a_round_ = run_->files.size() > 1 && is_one_round_each &&
                    comm_.min(std::uint64_t{moves_as_many_bytes(schedule, moved)}) == 1;
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
    for (const std::uint64_t path : run_->files) levels.insert(run_->paths.all()[path].level);
    if (levels.size() == 1) run_->level = *levels.begin();
    if (run_->file.ranks() == static_cast<std::uint64_t>(comm_.size())) {
      run_->recorded_rank = static_cast<std::uint64_t>(comm_.rank());
    }
  }

  /// Collective.
  void find_repeats(const Schedule& schedule, const RecordedMoves& moved) {
    for (std::size_t r = 0; r < schedule.moves.size(); ++r) {
      for (std::size_t i = 0; i < schedule.moves[r].size(); ++i) {
        const EachOnce* const made = moved.selection(schedule.moves[r][i]);
        if (made && !made->places.empty()) run_->repeats[{r, i}] = made->places;
      }
    }
    repeats_ = comm_.any(!run_->repeats.empty());
  }

  /// Collective. Where ranks move the same elements, and what of a call is moved again later.
  void find_overlaps_of(const Schedule& schedule, const RecordedMoves& moved) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> epochs;  // by file and phase
    for (const auto& [round, place] : run_->places) {
      std::uint64_t& epoch = epochs.try_emplace({round.file, round.phase}, place).first->second;
      epoch = std::min(epoch, place);
    }
    using Record = std::tuple<std::uint64_t, std::size_t, std::uint64_t>;  // file, dataset, time
    std::map<Record, std::size_t> known;
    std::vector<std::vector<MovedStream>> targets;
    std::vector<std::uint64_t> elements;
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> moves;  // rounds and transfers
    for (std::size_t r = 0; r < schedule.moves.size(); ++r) {
      for (std::size_t i = 0; i < schedule.moves[r].size(); ++i) {
        const Move& move = schedule.moves[r][i];
        const auto [target, is_new] =
            known.try_emplace({move.path, places_.at(target_of(move)), move.time}, targets.size());
        if (is_new) {
          targets.emplace_back();
          moves.emplace_back();
          elements.push_back(element_count(selections_->extent_of(move.definition)));
        }
        MovedStream stream = moved.stream(move);
        // Ranks that opened a file each for itself have met nowhere.
        const bool have_met = !run_->paths.is_private(move.path);
        for (auto& [stamp, count] : stream.calls) {
          stamp.epoch = have_met ? epochs.at({move.round.file, move.round.phase}) : 0;
          count *= std::max<std::uint64_t>(elements_.at(move.definition).bytes, 1);
        }
        targets[target->second].push_back(std::move(stream));
        moves[target->second].emplace_back(r, i);
      }
    }
    Overlaps found = find_overlaps(comm_, targets, elements);
    ranks_overlap_ = found.of_ranks;
    run_->overlaps_in_a_call = found.in_a_call;
    if (run_->direction != capture::writes) return;
    rewritten_ = found.moved;
    for (auto& [stream, runs] : found.superseded)
      run_->superseded[moves[stream.first][stream.second]] = std::move(runs);
    rewrites_ = comm_.any(!run_->superseded.empty());
  }

  std::string unsupported_reason(Survey& survey) {
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

  /// Where what methods move is less, or lies otherwise, than what the program moved: sentences.
  std::string caveats() const {
    const char* const did = run_->direction == capture::writes ? "wrote" : "read";
    std::vector<std::string> all;
    if (tells_files_apart_) {
      all.push_back(fmt::format(
          "The program {} {} files; methods other than as-captured have one with the datasets of "
          "all.",
          did, run_->files.size()));
    }
    if (repeats_) {
      all.push_back(fmt::format(
          "The program {} some elements more than once in a round; methods other than as-captured "
          "move them once, and all bytes are counted so.",
          did));
    }
    if (rewritten_ > 0) {
      all.push_back(fmt::format(
          "Different ranks write {} of the elements in different calls, so what stays depends on "
          "the order of calls; methods other than as-captured write the same from each rank.",
          rewritten_));
    }
    std::set<std::string> addresses;
    for (const std::uint64_t definition : run_->datasets) {
      const Json type = run_->file.definitions()[definition].value("type", Json());
      if (type.is_object() && type.value("addresses", false)) addresses.insert(name_of(definition));
    }
    if (!addresses.empty()) {
      const std::string which =
          addresses.size() == 1
              ? fmt::format("'{}'", *addresses.begin())
              : fmt::format("{} datasets (such as '{}')", addresses.size(), *addresses.begin());
      all.push_back(fmt::format(
          "The elements of {} hold addresses (variable length, references): what they lead to is "
          "not recorded, so the bytes of the addresses are moved alone.",
          which));
    }
    return fmt::format("{}", fmt::join(all, " "));
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
    const Json& definition = run_->file.definitions()[target.definition];
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
    const Json dimensions = definition.value("dimensions", Json::array());
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

  Pattern pattern_of(const Schedule& schedule, const RecordedMoves& moved) const {
    Pattern pattern;
    pattern.name = "captured";
    pattern.settings = {{"pattern", run_->file.path()},
                        {"recorded_ranks", std::to_string(run_->file.ranks())},
                        {"origin", run_->file.origin()},
                        {"levels", run_->level},
                        {"moves", run_->direction == capture::writes ? "writes" : "reads"}};
    const FileChoice& choice = request_.choice;
    if (!choice.library.empty()) pattern.settings["library"] = choice.library;
    if (!choice.paths.empty()) {
      pattern.settings["files"] = fmt::format("{}", fmt::join(choice.paths, ", "));
    }
    if (!run_->file.guess().empty()) pattern.settings["guess"] = run_->file.guess();
    if (rewritten_ > 0) pattern.settings["rewritten_elements"] = std::to_string(rewritten_);
    if (const std::string text = caveats(); !text.empty()) pattern.settings["caveats"] = text;
    std::set<std::string> names;
    for (const auto& [target, place] : places_)
      pattern.datasets.push_back(dataset_of(target, names));
    pattern.rounds = schedule.rounds.size();
    pattern.file_policy = file_a_round_ ? FilePolicy::a_round : FilePolicy::one;
    pattern.captured = run_;
    pattern.ranks_overlap = ranks_overlap_;
    pattern.rewrites = rewrites_;
    auto rounds = std::make_shared<std::vector<std::vector<Transfer>>>();
    for (const auto& moves : schedule.moves) {
      rounds->emplace_back();
      for (const Move& move : moves) {
        const EachOnce* const made = moved.selection(move);
        rounds->back().push_back({places_.at(target_of(move)), move.time,
                                  made ? made->selection : selections_->none(move.definition),
                                  nullptr});
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
  bool ranks_overlap_ = false;   ///< see Pattern
  bool rewrites_ = false;        ///< see Pattern
  std::uint64_t rewritten_ = 0;  ///< elements that different ranks write in different calls
  bool repeats_ = false;         ///< some rank moves an element more than once in a round
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
