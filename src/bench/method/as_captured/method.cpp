#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/method/as_captured/collective_writes.hpp"
#include "bench/method/as_captured/files.hpp"
#include "bench/method/as_captured/round_buffers.hpp"
#include "bench/method/registry.hpp"
#include "bench/method/shared/data_sieving.hpp"
#include "bench/pattern/captured/captured_pattern.hpp"
#include "capture/replay/captured_calls.hpp"
#include "capture/replay/replay.hpp"
#include "storage/mpiio/romio_hints.hpp"
#if SLABMARK_WITH_PNETCDF
#include "capture/replay/pnetcdf/replay.hpp"
#endif

namespace slabmark {

namespace {

/// The calls of the program, in its order: what it does before its first transfer is creating and
/// defining, what follows its last is closing. The caller sleeps for think times.
class AsCaptured : public Method {
 public:
  AsCaptured(const MethodContext& context, MakeReplay make_replay)
      : Method(context),
        run_(*context.pattern.captured),
        make_replay_(make_replay),
        alone_(MPI_COMM_SELF),
        buffers_(run_, context.pattern),
        collective_writes_([this](std::uint64_t opening) { return may_sieve(opening); }) {}
  ~AsCaptured() override {
    if (replay_) replay_->end();
  }

  void create(const std::string& path) override { begin(path); }
  void define() override {
    make_until([&](const CapturedCall& call) {
      return call.ends_definition() || is_of_later_phase(call, common_.defined);
    });
  }
  void open(const std::string& path) override {
    begin(path);
    define();
  }
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    buffers_.post(round_in_run(round), context_.pattern.transfers(round), buffers);
    make_until([&](const CapturedCall& call) { return is_later(call) || completes_round(call); });
  }
  void flush() override {
    make_until([&](const CapturedCall& call) { return is_later(call); });
    buffers_.take_back();
  }
  void sync() override { replay_->sync(); }
  void close() override {
    make_until([](const CapturedCall&) { return false; });
    replay_->end();
    replay_.reset();
  }
  void inspect() override {
    may_lose_ = context_.comm.size() > 2 && collective_writes_.some_rank_is_idle(context_.comm);
  }
  Json effective() const override {
    Json effective = {{"calls", counts_}};
    if (may_lose_) effective["lacks_hint"] = hint_against_sieving();
    return effective;
  }

 private:
  /// How many of the calls that all ranks make together are made when a phase ends.
  struct CommonCalls {
    std::uint64_t created = 0, defined = 0;
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
    replay_ = make_replay_(
        {context_.comm, alone_, run_, calls_->rank(), context_.settings.hints, std::move(places)});
    make_until([&](const CapturedCall& call) {
      return !call.creates() || is_of_later_phase(call, common_.created);
    });
  }

  /// Collective. A rank may have more to do before such a call than others, such as writing a
  /// header through an opening of its own: who makes the call in an earlier phase would wait for it
  /// for ever.
  CommonCalls common_calls(const std::set<std::uint64_t>& paths) const {
    CapturedCalls calls(run_, paths);
    CommonCalls mine;
    bool is_created = false;
    while (const CapturedCall* const call = calls.ahead()) {
      if (call->ends_definition()) break;
      is_created = is_created || !call->creates();
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
  std::uint64_t place() const { return run_.places.at(run_.rounds[buffers_.last_posted()]); }
  /// True if it belongs to a round that is not posted yet, or ends a file. All ranks say the same
  /// of what they make together; what they do not waits for nothing.
  bool is_later(const CapturedCall& call) const {
    if (!call.orders_rounds) return false;
    return buffers_.is_empty() || run_.places.at(call.round) > place();
  }
  /// True if all ranks wait in it for what was posted.
  bool completes_round(const CapturedCall& call) const {
    return call.effect == "flush" && call.is_made_by_all &&
           (buffers_.is_empty() || run_.places.at(call.round) >= place());
  }

  /// Makes the calls that precede the first for which `ends(call)`.
  template <class Ends>
  void make_until(const Ends& ends) {
    while (const CapturedCall* const call = calls_->ahead()) {
      if (ends(*call)) break;
      make(calls_->take());
    }
  }

  void make(const CapturedCall& call) {
    if (call.is_made_by_all) ++made_together_;
    if (call.is_left_out()) return;
    std::vector<CapturedEvent> events;
    std::vector<std::byte*> memory;
    for (const CapturedCall::Part& part : call.parts) {
      events.push_back(part.event);
      memory.push_back(buffers_.memory_of(part, calls_->rank()));
    }
    replay_->make(events, memory);
    ++counts_[call.name];
    collective_writes_.note(call, *replay_);
  }

  bool may_sieve(std::uint64_t opening) const {
    const auto hints = hints_of(calls_->rank().file(opening), context_.settings.hints);
    return may_be_sieved(mpiio::hints_effective_in_romio(hints));
  }

  const CapturedRun& run_;
  MakeReplay make_replay_;
  const Comm alone_;
  std::optional<CapturedCalls> calls_;
  CommonCalls common_;
  std::uint64_t made_together_ = 0;  ///< of the file at hand
  std::unique_ptr<Replay> replay_;
  RoundBuffers buffers_;
  CollectiveWrites collective_writes_;
  std::map<std::string, std::uint64_t> counts_;  ///< calls made, by name
  bool may_lose_ = false;                        ///< what some rank writes, to ROMIO
};

/// Why this rank's calls cannot be made again, beside what all levels have in common.
using UnsupportedReason = std::optional<std::string> (*)(const RecordedProgram& program);

/// `level` is that of files in a pattern file; `plain` the method that writes what a program has
/// only read.
MethodInfo as_captured_info(const std::string& level, FileFormat format, const char* plain,
                            MakeReplay make, UnsupportedReason own_reason = nullptr) {
  MethodInfo info{.name = "as-captured-" + level,
                  .summary = "the captured program's own calls, in its order",
                  .format = format,
                  .kind = MethodKind::as_captured,
                  .supports = nullptr};
  info.supports = [level, own_reason](const Pattern& pattern,
                                      const Settings&) -> std::optional<std::string> {
    if (!pattern.captured) return "it is not a captured pattern";
    if (!pattern.captured->unsupported_reason.empty()) return pattern.captured->unsupported_reason;
    if (pattern.captured->level != level)
      return fmt::format("the program spoke through {}", pattern.captured->level);
    return own_reason ? own_reason(*pattern.captured) : std::nullopt;
  };
  info.overlaps_in_mpiio = [plain](const Pattern& pattern, const Settings& settings) {
    if (pattern.captured->overlaps_in_a_call) return true;
    const auto& of_plain = find_method(plain).overlaps_in_mpiio;
    return pattern.captured->direction == capture::reads && of_plain && of_plain(pattern, settings);
  };
  if (make == nullptr) return info;
  info.make = [make, plain](const MethodContext& context) -> std::unique_ptr<Method> {
    // A program may read elements that it did not write, so another method makes its file.
    const bool reads = context.pattern.captured->direction == capture::reads;
    if (reads && context.direction == Direction::write)
      return make_captured_files(find_method(plain), context);
    return std::make_unique<AsCaptured>(context, make);
  };
  return info;
}

}  // namespace

MethodInfo as_captured_hdf5_method() {
  return as_captured_info("hdf5", FileFormat::hdf5, "hdf5-slab", make_hdf5_replay,
                          hdf5_unsupported_reason);
}

MethodInfo as_captured_mpiio_method() {
  return as_captured_info("mpiio", FileFormat::raw, "mpiio-independent", make_mpiio_replay);
}

MethodInfo as_captured_pnetcdf_method() {
#if SLABMARK_WITH_PNETCDF
  return as_captured_info("pnetcdf", FileFormat::netcdf, "pnetcdf-varn", make_pnetcdf_replay);
#else
  auto info = as_captured_info("pnetcdf", FileFormat::netcdf, "pnetcdf-varn", nullptr);
  info.missing = "PnetCDF was not found at configure time";
  return info;
#endif
}

MethodInfo as_captured_posix_method() {
  return as_captured_info("posix", FileFormat::raw, "posix", make_posix_replay);
}

}  // namespace slabmark
