#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/method/as_captured/collective_writes.hpp"
#include "bench/method/as_captured/files.hpp"
#include "bench/method/as_captured/replay.hpp"
#include "bench/method/registry.hpp"
#include "bench/method/shared/data_sieving.hpp"
#include "bench/pattern/captured/captured_pattern.hpp"
#include "bench/pattern/content.hpp"
#include "capture/format/recorder.hpp"
#include "core/base/error.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark {

namespace {

/// A call of the program, with what it moves.
struct CapturedCall {
  struct Part {
    CapturedEvent event;
    std::vector<PlacedBoxes> placed;
    std::vector<CapturedWalk::Fragment> fragments;
    std::uint64_t elements = 0;
  };
  std::vector<Part> parts;
  std::string effect;
  std::string name;
  RoundKey round;
  bool orders_rounds = false;  ///< see CapturedWalk
  bool is_made_by_all = false;

  bool moves() const { return parts.front().event.moves(); }
  /// A collective one that failed on this rank may have been well on others: it takes part, with
  /// nothing. A wait fails by what is waited for, which is others' elements now.
  bool is_left_out() const {
    const CapturedEvent& event = parts.front().event;
    if (!(event.flags & capture::failed)) return false;
    const bool waits = event.requests != CapturedEvent::Requests::none;
    return !waits && !(moves() && (event.flags & capture::collective));
  }
};

/// Goes through the calls of a rank that are about some files.
class CallsOfFile {
 public:
  CallsOfFile(const CapturedRun& run, std::set<std::uint64_t> paths)
      : walk_(run.walk(*run.recorded_rank)), paths_(std::move(paths)) {
    has_event_ = find();
  }

  /// The next call, or null after the last.
  const CapturedCall* ahead() {
    if (!ahead_) read();
    return ahead_->parts.empty() ? nullptr : &*ahead_;
  }
  CapturedCall take() {
    ahead();
    CapturedCall call = std::move(*ahead_);
    ahead_.reset();
    return call;
  }
  const RankReader& rank() const { return walk_.rank(); }

 private:
  bool find() {
    while (walk_.next()) {
      if (paths_.contains(walk_.path())) return true;
    }
    return false;
  }

  void read() {
    ahead_.emplace();
    if (!has_event_) return;
    ahead_->effect = walk_.effect();
    ahead_->round = walk_.round();
    ahead_->orders_rounds = walk_.orders_rounds();
    ahead_->is_made_by_all = walk_.is_made_by_all();
    ahead_->name = walk_.rank().definition(walk_.event().call).value("name", "");
    do {
      const CapturedEvent& event = walk_.event();
      ahead_->parts.push_back(
          {event, walk_.placed(), walk_.fragments(), event.moves() ? walk_.elements() : 0});
      has_event_ = find();
    } while (has_event_ && (walk_.event().flags & capture::one_more_part));
  }

  CapturedWalk walk_;
  std::set<std::uint64_t> paths_;
  bool has_event_ = false;
  std::optional<CapturedCall> ahead_;
};

/// Memory laid out as a list says, for a call whose elements do not lie one after another.
class LaidOut {
 public:
  LaidOut(const BoxArray& boxes, std::size_t element_bytes) : boxes_(boxes), bytes_(element_bytes) {
    std::int64_t low = 0, high = 0;
    for_each([&](std::int64_t offset, std::uint64_t) {
      low = std::min(low, offset);
      high = std::max(high, offset + 1);
    });
    first_ = low;
    memory_.resize(static_cast<std::size_t>(high - low) * bytes_);
  }

  /// What the library is given.
  std::byte* address() { return memory_.data() - first_ * static_cast<std::int64_t>(bytes_); }
  void fill(const std::byte* dense) {
    for_each([&](std::int64_t offset, std::uint64_t i) {
      std::memcpy(at(offset), dense + i * bytes_, bytes_);
    });
  }
  void empty(std::byte* dense) {
    for_each([&](std::int64_t offset, std::uint64_t i) {
      std::memcpy(dense + i * bytes_, at(offset), bytes_);
    });
  }

 private:
  std::byte* at(std::int64_t offset) {
    return memory_.data() + (offset - first_) * static_cast<std::int64_t>(bytes_);
  }

  /// visit(offset in elements, number of the element), in the order of the selection.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const std::size_t rank = boxes_.rank;
    std::uint64_t number = 0;
    std::vector<std::int64_t> weight(rank, 1);
    for (std::size_t d = rank; d-- > 1 && !boxes_.extent.empty();)
      weight[d - 1] = weight[d] * boxes_.extent[d];
    for (std::size_t i = 0; i < boxes_.count; ++i) {
      std::vector<std::int64_t> index(rank,
                                      0);  // of all indices of the box, the last dimension fastest
      const auto length = [&](std::size_t d) {
        return boxes_.counts[i * rank + d] *
               (boxes_.blocks.empty() ? 1 : boxes_.blocks[i * rank + d]);
      };
      bool more = true;
      for (std::size_t d = 0; d < rank; ++d) more = more && length(d) > 0;
      while (more) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < rank; ++d) {
          const std::size_t k = i * rank + d;
          if (boxes_.is_map) {
            offset += index[d] * boxes_.starts[k];
            continue;
          }
          const std::int64_t block = boxes_.blocks.empty() ? 1 : boxes_.blocks[k];
          const std::int64_t stride = boxes_.strides.empty() ? 1 : boxes_.strides[k];
          const std::int64_t origin = boxes_.origin.empty() ? 0 : boxes_.origin[d];
          offset += (origin + boxes_.starts[k] + index[d] / block * stride + index[d] % block) *
                    weight[d];
        }
        visit(offset, number++);
        more = false;
        for (std::size_t d = rank; d-- > 0 && !more;) {
          if (++index[d] < length(d)) {
            more = true;
          } else {
            index[d] = 0;
          }
        }
      }
    }
  }

  const BoxArray boxes_;
  std::size_t bytes_;
  std::int64_t first_ = 0;
  std::vector<std::byte> memory_;
};

/// The calls of the program, in its order: what it does before its first transfer is creating and
/// defining, what follows its last is closing. Think times are not made: who runs rounds does.
class AsCaptured : public Method {
 public:
  AsCaptured(const MethodContext& context, MakeReplay make)
      : Method(context), run_(*context.pattern.captured), make_(make), alone_(MPI_COMM_SELF) {
    for (std::size_t r = 0; r < run_.rounds.size(); ++r) numbers_[run_.rounds[r]] = r;
  }
  ~AsCaptured() override {
    if (replay_) replay_->end();
  }

  void create(const std::string& path) override { begin(path); }
  void define() override {
    while (const CapturedCall* const call = calls_->ahead()) {
      if (ends_definition(*call) || is_of_later_phase(*call, common_.defined)) break;
      make_next();
    }
  }
  void open(const std::string& path) override {
    begin(path);
    define();
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    Round& now = rounds_[round_in_run(round)];
    now.buffers.assign(buffers.begin(), buffers.end());
    now.done.assign(buffers.size(), 0);
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      now.places[{transfers[i].dataset, transfers[i].time}] = i;
    }
    while (const CapturedCall* const call = calls_->ahead()) {
      if (is_later(*call) || completes_round(*call)) break;
      make_next();
    }
  }

  void flush() override {
    while (const CapturedCall* const call = calls_->ahead()) {
      if (is_later(*call)) break;
      make_next();
    }
    for (auto& [laid, dense] : to_empty_) laid->empty(dense);
    // What a call moved goes to a part of its own first, and from there to the round's buffers.
    for (auto copy = to_scatter_.rbegin(); copy != to_scatter_.rend(); ++copy) (*copy)();
    to_empty_.clear();
    to_scatter_.clear();
    memory_.clear();
    laid_out_.clear();
    rounds_.clear();
  }

  void sync() override { replay_->sync(); }

  void close() override {
    while (calls_->ahead()) make_next();
    replay_->end();
    replay_.reset();
  }

  void inspect() override {
    may_lose_ = context_.comm.size() > 2 && collective_writes_.some_rank_is_idle(context_.comm);
  }

  nlohmann::json effective() const override {
    nlohmann::json effective = {{"calls", counts_}};
    if (may_lose_) effective["lacks_hint"] = hint_against_sieving();
    return effective;
  }

 private:
  struct Round {
    std::vector<std::byte*> buffers;
    std::vector<std::uint64_t> done;  ///< elements of each that calls have moved
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> places;  ///< by dataset and time
  };

  /// Files of one round each are passes of their own.
  bool is_file_a_round() const { return run_.files.size() > 1 && run_.dataset_paths.empty(); }

  void begin(const std::string& path) {
    std::map<std::uint64_t, std::string> places;
    if (is_file_a_round()) {
      places[run_.files.at(context_.pattern.file)] = path;
    } else {
      const std::vector<std::string> files = captured_files(context_.pattern, path);
      for (std::size_t f = 0; f < files.size(); ++f) places[run_.files[f]] = files[f];
    }
    std::set<std::uint64_t> paths;
    for (const auto& [number, place] : places) paths.insert(number);
    common_ = common_calls(paths);
    made_together_ = 0;
    calls_.emplace(run_, std::move(paths));
    replay_ = make_({context_.comm, alone_, calls_->rank(), context_.settings, run_.paths,
                     std::move(places), run_.shared_paths});
    while (const CapturedCall* const call = calls_->ahead()) {
      if (!creates(*call) || is_of_later_phase(*call, common_.created)) break;
      make_next();
    }
  }

  static bool creates(const CapturedCall& call) {
    return call.effect == "create" || call.effect == "open";
  }
  static bool ends_definition(const CapturedCall& call) {
    return call.moves() || call.effect == "flush" || call.effect == "close";
  }

  /// How many of the calls that all ranks make together are made when a phase ends.
  struct CommonCalls {
    std::uint64_t created = 0, defined = 0;
  };

  /// Collective. A rank may have more to do before such a call than others, such as writing a
  /// header through an opening of its own: who makes the call in an earlier phase would wait for it
  /// for ever.
  CommonCalls common_calls(const std::set<std::uint64_t>& paths) const {
    CallsOfFile calls(run_, paths);
    CommonCalls mine;
    bool is_created = false;
    while (const CapturedCall* const call = calls.ahead()) {
      if (ends_definition(*call)) break;
      is_created = is_created || !creates(*call);
      if (call->is_made_by_all) {
        ++mine.defined;
        if (!is_created) ++mine.created;
      }
      calls.take();
    }
    return {context_.comm.min(mine.created), context_.comm.min(mine.defined)};
  }
  bool is_of_later_phase(const CapturedCall& call, std::uint64_t common) const {
    return call.is_made_by_all && made_together_ >= common;
  }

  /// A file of one round has the round of that number alone.
  std::uint64_t round_in_run(std::uint64_t round) const {
    return is_file_a_round() ? context_.pattern.file : round;
  }
  /// In the order of calls, of the round that was posted last.
  std::uint64_t place() const { return run_.places.at(run_.rounds[rounds_.rbegin()->first]); }
  /// Whether it belongs to a round that is not posted yet, or ends a file. All ranks say the same
  /// of what they make together; what they do not waits for nothing.
  bool is_later(const CapturedCall& call) const {
    if (!call.orders_rounds) return false;
    return rounds_.empty() || run_.places.at(call.round) > place();
  }
  /// Whether all ranks wait in it for what was posted.
  bool completes_round(const CapturedCall& call) const {
    return call.effect == "flush" && call.is_made_by_all &&
           (rounds_.empty() || run_.places.at(call.round) >= place());
  }

  void make_next() {
    const CapturedCall call = calls_->take();
    if (call.is_made_by_all) ++made_together_;
    if (call.is_left_out()) return;
    std::vector<CapturedEvent> events;
    std::vector<std::byte*> memory;
    for (const CapturedCall::Part& part : call.parts) {
      events.push_back(part.event);
      memory.push_back(part.event.moves() ? memory_of(part) : nullptr);
    }
    replay_->make(events, memory);
    ++counts_[call.name];
    note_for_idle_ranks(call);
  }

  void note_for_idle_ranks(const CapturedCall& call) {
    const CapturedEvent& event = call.parts.front().event;
    const bool has_elements = std::any_of(call.parts.begin(), call.parts.end(),
                                          [](const auto& part) { return part.elements > 0; });
    const bool in_collective = call.is_made_by_all && event.has(capture::collective);
    if (event.requests != CapturedEvent::Requests::none) {
      const bool writes = pending_.take(event);
      if (in_collective && replay_->waits_write_together()) note_collective_write(event, writes);
    } else if (event.has(capture::writes)) {
      if (event.request != 0 && has_elements) pending_.add(event);
      if (in_collective) note_collective_write(event, has_elements);
    }
  }
  void note_collective_write(const CapturedEvent& event, bool has_elements) {
    const auto [opening, is_new] = sieved_.try_emplace(event.file, false);
    if (is_new) {
      const auto hints = hints_of(calls_->rank().file(event.file), context_.settings);
      opening->second = may_be_sieved(mpiio::hints_effective_in_romio(hints));
    }
    if (opening->second) collective_writes_.add(has_elements);
  }

  std::size_t element_bytes(const CapturedCall::Part& part) const {
    const std::uint64_t definition =
        run_.numbers[calls_->rank().definition_number(part.event.dataset)];
    for (std::size_t i = 0; i < run_.datasets.size(); ++i) {
      if (run_.datasets[i] != definition) continue;
      const Dataset& dataset = context_.pattern.datasets[i];
      const bool in_bytes =
          dataset.dimensions.size() > run_.shapes.of_definition.at(definition).extent.size();
      return size_of(dataset.type) * (in_bytes ? dataset.dimensions.back().length : 1);
    }
    constexpr std::size_t largest = 16;
    const nlohmann::json type =
        calls_->rank().definition(part.event.dataset).value("type", nlohmann::json());
    if (type.is_string()) {
      if (const auto known = find_element_type(type.get<std::string>())) return size_of(*known);
    }
    return type.is_object() ? type.value("bytes", largest) : 1;
  }

  std::byte* allocate(std::size_t bytes) {
    memory_.emplace_back(bytes);
    return memory_.back().data();
  }

  std::byte* memory_of(const CapturedCall::Part& part) {
    if (part.elements == 0) return nullptr;
    const std::size_t bytes = element_bytes(part);
    std::byte* dense = nullptr;
    if (part.fragments.size() == 1) {
      dense = take(part, part.fragments.front(), bytes);
    } else if (part.fragments.empty()) {
      dense = allocate(part.elements * bytes);  // moved the other way than the pattern
    } else {
      dense = gathered(part, bytes);
    }
    if (!part.event.memory) return dense;
    const BoxLists& lists = calls_->rank().lists;
    const BoxArray boxes = lists.get(*part.event.memory);
    if (boxes.elements() != part.elements) {
      throw InputError(
          fmt::format("{} are damaged: a call moves {} elements, and its memory has {}.",
                      lists.place(), part.elements, boxes.elements()));
    }
    laid_out_.emplace_back(boxes, bytes);
    LaidOut& laid = laid_out_.back();
    if (part.event.flags & capture::writes) {
      laid.fill(dense);
    } else {
      to_empty_.emplace_back(&laid, dense);
    }
    return laid.address();
  }

  /// The place of the next elements in the round's buffer.
  std::byte* take(const CapturedCall::Part& part, const CapturedWalk::Fragment& fragment,
                  std::size_t bytes) {
    const PlacedBoxes& placed = part.placed[fragment.placed];
    Round& round = rounds_.at(numbers_.at(placed.round));
    std::size_t dataset = 0;
    while (run_.datasets[dataset] != placed.definition ||
           (!run_.dataset_paths.empty() && run_.dataset_paths[dataset] != placed.path)) {
      ++dataset;
    }
    const std::size_t i = round.places.at({dataset, placed.time});
    const std::uint64_t first = round.done[i];
    round.done[i] += fragment.elements;
    const std::uint64_t unit = size_of(context_.pattern.datasets[dataset].type);
    const Run taken{first * bytes / unit, fragment.elements * bytes / unit};
    const bool writes = (part.event.flags & capture::writes) != 0;
    const std::pair<std::size_t, std::size_t> transfer{numbers_.at(placed.round), i};
    const auto repeats = run_.repeats.find(transfer);
    std::byte* const own = repeats == run_.repeats.end()
                               ? round.buffers[i] + taken.offset * unit
                               : repeated(repeats->second, taken, unit, round.buffers[i], writes);
    const auto superseded = run_.superseded.find(transfer);
    if (!writes || superseded == run_.superseded.end()) return own;
    return outdated(superseded->second, taken, unit, own);
  }

  /// The elements, outdated where a later call writes them again.
  std::byte* outdated(const RunList& superseded, Run taken, std::uint64_t unit, std::byte* own) {
    auto run = std::upper_bound(superseded.begin(), superseded.end(), taken.offset,
                                [](std::uint64_t at, const Run& of) { return at < of.end(); });
    if (run == superseded.end() || run->offset >= taken.end()) return own;
    std::byte* const elements = allocate(taken.length * unit);
    std::memcpy(elements, own, taken.length * unit);
    for (; run != superseded.end() && run->offset < taken.end(); ++run) {
      const Run part = common_part(*run, taken);
      make_outdated({elements + (part.offset - taken.offset) * unit, part.length * unit});
    }
    return elements;
  }

  /// Elements of a buffer that has each once, as the program's call has them.
  std::byte* repeated(const std::vector<Piece>& places, Run taken, std::uint64_t unit,
                      std::byte* buffer, bool writes) {
    std::byte* const dense = allocate(taken.length * unit);
    auto piece = std::upper_bound(places.begin(), places.end(), taken.offset,
                                  [](std::uint64_t at, const Piece& of) { return at < of.file; }) -
                 1;
    for (std::uint64_t at = taken.offset; at < taken.end(); ++piece) {
      const std::uint64_t skipped = at - piece->file;
      const std::uint64_t length = std::min(piece->length - skipped, taken.end() - at);
      std::byte* const there = dense + (at - taken.offset) * unit;
      std::byte* const own = buffer + (piece->buffer + skipped) * unit;
      if (writes) {
        std::memcpy(there, own, length * unit);
      } else {
        to_scatter_.push_back([=] { std::memcpy(own, there, length * unit); });
      }
      at += length;
    }
    return dense;
  }

  /// Elements of several records, which lie in buffers of their own.
  std::byte* gathered(const CapturedCall::Part& part, std::size_t bytes) {
    std::byte* const dense = allocate(part.elements * bytes);
    std::byte* at = dense;
    for (const CapturedWalk::Fragment& fragment : part.fragments) {
      std::byte* const own = take(part, fragment, bytes);
      const std::size_t length = fragment.elements * bytes;
      if (part.event.flags & capture::writes) {
        std::memcpy(at, own, length);
      } else {
        to_scatter_.push_back([=] { std::memcpy(own, at, length); });
      }
      at += length;
    }
    return dense;
  }

  const CapturedRun& run_;
  MakeReplay make_;
  const Comm alone_;
  std::map<RoundKey, std::uint64_t> numbers_;
  std::optional<CallsOfFile> calls_;
  CommonCalls common_;
  std::uint64_t made_together_ = 0;  ///< of the file at hand
  std::unique_ptr<Replay> replay_;
  std::map<std::uint64_t, Round> rounds_;
  std::deque<std::vector<std::byte>> memory_;
  std::deque<LaidOut> laid_out_;
  std::vector<std::pair<LaidOut*, std::byte*>> to_empty_;
  std::vector<std::function<void()>> to_scatter_;
  std::map<std::string, std::uint64_t> counts_;
  PendingWrites pending_;
  CollectiveWrites collective_writes_;
  std::map<std::uint64_t, bool>
      sieved_;             ///< by opening: whether ROMIO may read and write its holes
  bool may_lose_ = false;  ///< what some rank writes, to ROMIO
};

}  // namespace

MethodInfo as_captured_info(const std::string& level, FileFormat format, const char* plain,
                            MakeReplay make, ReasonAgainst reason_against) {
  MethodInfo info{.name = "as-captured-" + level,
                  .summary = "the captured program's own calls, in its order",
                  .format = format,
                  .kind = MethodKind::as_captured,
                  .supports = nullptr};
  info.supports = [level, reason_against](const Pattern& pattern,
                                          const Settings&) -> std::optional<std::string> {
    if (!pattern.captured) return "it is not a captured pattern";
    if (!pattern.captured->why_not.empty()) return pattern.captured->why_not;
    if (pattern.captured->level != level)
      return fmt::format("the program spoke through {}", pattern.captured->level);
    return reason_against ? reason_against(*pattern.captured) : std::nullopt;
  };
  info.overlaps_in_mpiio = [plain](const Pattern& pattern, const Settings& settings) {
    if (pattern.captured->overlaps_in_a_call) return true;
    const auto& of_plain = find_method(plain).overlaps_in_mpiio;
    return pattern.captured->direction == capture::reads && of_plain && of_plain(pattern, settings);
  };
  if (make == nullptr) return info;
  info.make = [make, plain](const MethodContext& context) -> std::unique_ptr<Method> {
    // What a program has read it need not have written: its file is made by another method.
    const bool reads = context.pattern.captured->direction == capture::reads;
    if (reads && context.direction == Direction::write)
      return make_captured_files(find_method(plain), context);
    return std::make_unique<AsCaptured>(context, make);
  };
  return info;
}

}  // namespace slabmark
