#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/comm.hpp"
#include "parallel/worker_thread.hpp"
#include "rearrange/choices.hpp"
#include "rearrange/engine.hpp"

namespace slabmark::rearrange {

/// The ranks that work together, with what their files share.
class System {
 public:
  /// A program that writes several files in turn has a plan for each of them.
  static constexpr std::size_t most_plans = 8;

  explicit System(MPI_Comm comm) : comm_(comm) {}
  ~System();

  const Comm& comm() const { return comm_; }
  const Options& options() const { return options_; }
  std::uint64_t held() const { return held_; }  ///< most bytes of copies; 0: no bound

  /// Throws Failure for an option or value that there is not.
  void set_option(const std::string& name, const std::string& value);
  /// Collective. Throws Failure where ranks have set different ones. They stay as they are then.
  void agree_on_options();

  /// Collective: the engine of these settings.
  Engine& engine(const RearrangerSettings& settings);

  /// A number for what all ranks make together.
  std::int64_t next_number() { return ++number_; }

  bool writes_in_background() const { return in_flight_ > 0; }
  /// Has `work`, which does not throw, done by the thread, one after another. Waits while more than
  /// in_flight of them, or more than held() bytes, would be under way.
  void submit(std::function<void()> work, std::uint64_t bytes);
  void wait_for_background();

 private:
  void wait_for_oldest();

  struct UnderWay {
    std::uint64_t number, bytes;
  };

  Comm comm_;
  Options options_;
  std::uint64_t held_ = 0;
  std::uint64_t in_flight_ = 0;
  bool options_agreed_ = false;
  std::int64_t number_ = 0;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::deque<UnderWay> under_way_;
  std::uint64_t bytes_under_way_ = 0;
  std::unique_ptr<WorkerThread> thread_;  ///< made when first needed
};

}  // namespace slabmark::rearrange
