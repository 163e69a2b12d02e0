#include <array>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/method.hpp"

namespace slabmark {

namespace {

/// Moves nothing. Delays and failures at will prove what stands around a method: clock, statistics
/// over ranks, error agreement.
class Null : public Method {
 public:
  explicit Null(const MethodContext& context) : comm_(context.comm), rank_(context.comm.rank()) {
    const auto& settings = context.settings;
    for (const auto phase : all_phases) {
      delay_[index(phase)] = settings.real(fmt::format("null.delay_{}", name_of(phase)), 0.0);
    }
    if (settings.options.contains("null.slow_rank") &&
        is_rank(settings.count("null.slow_rank", 0))) {
      for (auto& seconds : delay_) seconds *= settings.real("null.slow_factor", 2.0);
    }
    fail_phase_ = settings.text("null.fail_phase", "");
    if (!fail_phase_.empty()) require_phase(fail_phase_);
    peers_wait_ = settings.flag("null.peers_wait", false);
    fails_ = !fail_phase_.empty() && is_rank(settings.count("null.fail_rank", 0));
  }

  void create(const std::string&) override { pass(Phase::create); }
  void define() override { pass(Phase::define); }
  void open(const std::string&) override { pass(Phase::open); }
  void prepare() override { pass(Phase::prepare); }
  void post(std::uint64_t, std::span<std::byte* const>) override { pass(Phase::post); }
  void flush() override { pass(Phase::flush); }
  void sync() override { pass(Phase::sync); }
  void close() override { pass(Phase::close); }

  nlohmann::json effective() const override { return {{"calls", nlohmann::json::object()}}; }

 private:
  static std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }

  static void require_phase(const std::string& name) {
    std::string known;
    for (const auto phase : all_phases) {
      if (name == name_of(phase)) return;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(phase));
    }
    throw InputError(fmt::format("Option null.fail_phase is '{}'; it takes {}.", name, known));
  }

  bool is_rank(std::uint64_t rank) const { return rank == static_cast<std::uint64_t>(rank_); }

  void pass(Phase phase) const {
    const auto seconds = delay_[index(phase)];
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (fails_ && fail_phase_ == name_of(phase)) {
      throw IoError(fmt::format(
          "The null method failed in phase {} because null.fail_phase and null.fail_rank say so.",
          fail_phase_));
    }
    // What a collective call does to the ranks that make it while one never comes.
    if (peers_wait_ && fail_phase_ == name_of(phase)) comm_.barrier();
  }

  const Comm& comm_;
  int rank_;
  std::array<double, phase_count> delay_{};
  std::string fail_phase_;
  bool fails_ = false;
  bool peers_wait_ = false;
};

std::vector<OptionInfo> options() {
  std::vector<OptionInfo> list;
  for (const auto phase : all_phases) {
    list.push_back({fmt::format("null.delay_{}", name_of(phase)), "0",
                    fmt::format("seconds that each {} takes", name_of(phase))});
  }
  list.push_back({"null.slow_rank", "", "rank whose delays are multiplied by null.slow_factor"});
  list.push_back({"null.slow_factor", "2", "see null.slow_rank"});
  list.push_back({"null.fail_phase", "", "phase in which null.fail_rank fails"});
  list.push_back({"null.fail_rank", "0", "see null.fail_phase"});
  list.push_back(
      {"null.peers_wait", "off", "the other ranks wait for null.fail_rank in a barrier"});
  return list;
}

}  // namespace

MethodInfo null_method() {
  return {.name = "null",
          .summary = "moves nothing; delays and failures at will, to test what measures methods",
          .format = FileFormat::none,
          .options = options(),
          .supports = [](const Pattern&, const Settings&) { return std::nullopt; },
          .make = [](const MethodContext& context) { return std::make_unique<Null>(context); },
          .missing = {}};
}

}  // namespace slabmark
