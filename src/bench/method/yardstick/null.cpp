#include <array>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "bench/method/options.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }

struct NullOptions {
  std::array<double, phase_count> delay{};
  std::optional<std::uint64_t> slow_rank;
  double slow_factor = 2.0;
  std::optional<Phase> fail_phase;
  std::uint64_t fail_rank = 0;
  bool peers_wait = false;
};

OptionTable<NullOptions> null_options() {
  OptionTable<NullOptions> table;
  Words<std::optional<Phase>> phases{{{"", std::nullopt}}};
  for (const auto phase : all_phases) {
    const std::string name(name_of(phase));
    phases.words.emplace_back(name_of(phase), phase);
    table.add(
        "null.delay_" + name,
        [phase](NullOptions& options) -> double& { return options.delay[index(phase)]; },
        fmt::format("seconds that each {} takes", name));
  }
  table.add("null.slow_rank", &NullOptions::slow_rank,
            "rank whose delays are multiplied by null.slow_factor", SizeOr{""});
  table.add("null.slow_factor", &NullOptions::slow_factor, "see null.slow_rank");
  table.add("null.fail_phase", &NullOptions::fail_phase, "phase in which null.fail_rank fails",
            phases);
  table.add("null.fail_rank", &NullOptions::fail_rank, "see null.fail_phase");
  table.add("null.peers_wait", &NullOptions::peers_wait,
            "the other ranks wait for null.fail_rank in a barrier");
  return table;
}

/// Moves nothing. Delays and failures at will prove what stands around a method: clock, statistics
/// over ranks, error agreement.
class Null : public Method {
 public:
  explicit Null(const MethodContext& context)
      : Method(context), options_(null_options().read(context.settings)) {
    if (!options_.slow_rank || !is_rank(*options_.slow_rank)) return;
    for (auto& seconds : options_.delay) seconds *= options_.slow_factor;
  }

  void create(const std::string&) override { pass(Phase::create); }
  void define() override { pass(Phase::define); }
  void open(const std::string&) override { pass(Phase::open); }
  void prepare() override { pass(Phase::prepare); }
  void post(std::uint64_t, std::span<std::byte* const>) override { pass(Phase::post); }
  void flush() override { pass(Phase::flush); }
  void sync() override { pass(Phase::sync); }
  void close() override { pass(Phase::close); }

  Json effective() const override { return {{"calls", Json::object()}}; }

 private:
  bool is_rank(std::uint64_t rank) const {
    return rank == static_cast<std::uint64_t>(context_.comm.rank());
  }

  void pass(Phase phase) const {
    const auto seconds = options_.delay[index(phase)];
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (options_.fail_phase != phase) return;
    if (is_rank(options_.fail_rank)) {
      throw IoError(fmt::format(
          "The null method failed in phase {} because null.fail_phase and null.fail_rank say so.",
          name_of(phase)));
    }
    // The effect of a collective call on the ranks that make it while one never comes.
    if (options_.peers_wait) context_.comm.barrier();
  }

  NullOptions options_;
};

}  // namespace

MethodInfo null_method() {
  return {.name = "null",
          .summary = "moves nothing; delays and failures at will, to test what measures methods",
          .kind = MethodKind::yardstick,
          .options = null_options(),
          .supports = [](const Pattern&, const Settings&) { return std::nullopt; },
          .make = make_method<Null>};
}

}  // namespace slabmark
