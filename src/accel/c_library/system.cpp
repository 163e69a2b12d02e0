#include "accel/c_library/system.hpp"

#include <exception>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"
#include "accel/c_library/file_data.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark::rearrange {

namespace {

// Messages are counted in int.
constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;

std::optional<std::uint64_t> size_or_auto(const std::string& value, const std::string& what) {
  if (value == "auto") return std::nullopt;
  const std::uint64_t size = parse_size(value, what);
  if (size == 0) throw InputError(what + " is at least 1, or auto.");
  return size;
}

}  // namespace

System::System(MPI_Comm comm, int io_ranks) : all_(comm) {
  std::int64_t common[] = {io_ranks, -io_ranks};
  const auto failure = caught([&] {
    if (io_ranks >= 0 && io_ranks < all_.size()) return;
    throw Failure(SLABMARK_EARGUMENT,
                  fmt::format("Of {} ranks {} cannot be for I/O alone; leave one to the program at "
                              "least.",
                              all_.size(), io_ranks));
  });
  agree(all_, failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS, "Ranks name different numbers of I/O ranks; name the same.");
  }
  if (io_ranks > 0) io_ranks_.emplace(all_, io_ranks);
}

System::~System() = default;

void System::refuse_without_threads(std::uint64_t in_flight) const {
  int level = MPI_THREAD_MULTIPLE;
  if (in_flight > 0 && !io_ranks_) MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return;
  throw Failure(SLABMARK_ETHREADS,
                "A thread can write only where MPI_Init_thread was asked for, and gave, "
                "MPI_THREAD_MULTIPLE; I/O ranks need no thread.");
}

void System::set_option(const std::string& name, const std::string& value) {
  if (options_agreed_) {
    throw Failure(SLABMARK_EARGUMENT, "Options are set before the first file is opened.");
  }
  const std::string what = "Option " + name;
  try {
    if (name == "aggregators") {
      options_.aggregators = size_or_auto(value, what);
    } else if (name == "window") {
      const auto window = size_or_auto(value, what);
      if (window > largest_window) throw InputError(what + " is at most 1G.");
      options_.window = window;
    } else if (name == "align") {
      options_.align = size_or_auto(value, what);
    } else if (name == "writers") {
      options_.writers = size_or_auto(value, what);
    } else if (name == "holes") {
      options_.holes = parse_size(value, what);
    } else if (name == "node_ranks") {
      options_.node_ranks = parse_size(value, what);
    } else if (name == "held") {
      held_ = parse_size(value, what);
    } else if (name == "in_flight") {
      const std::uint64_t in_flight = parse_size(value, what);
      refuse_without_threads(in_flight);
      in_flight_ = in_flight;
    } else {
      throw InputError(fmt::format(
          "There is no option '{}', but aggregators, window, align, writers, holes, node_ranks, "
          "held and in_flight.",
          name));
    }
  } catch (const InputError& error) {
    throw Failure(SLABMARK_EARGUMENT, error.what());
  }
  set_options_.emplace_back(name, value);
}

void System::agree_on_options() {
  if (options_agreed_) return;
  const auto text = fmt::format("{} {} {} {} {} {} {} {}", options_.aggregators.value_or(0),
                                options_.window.value_or(0), options_.align.value_or(0),
                                options_.writers.value_or(0), options_.holes, options_.node_ranks,
                                held_, in_flight_);
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1);
  std::int64_t common[] = {hash, -hash};
  agree(comm(), nullptr, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS, "Ranks have set different options; set the same on all.");
  }
  options_agreed_ = true;
}

void System::share_options() {
  if (!io_ranks_ || std::exchange(options_shared_, true)) return;
  set_options_.resize(all_.broadcast(static_cast<std::uint64_t>(set_options_.size())));
  for (auto [name, value] : std::exchange(set_options_, {})) {
    name = all_.broadcast(name);
    value = all_.broadcast(value);
    if (io_ranks_->has_me()) set_option(name, value);
  }
}

LayoutContext& System::layout_context(const Comm& ranks, const RearrangerSettings& settings) {
  for (const auto& known : contexts_) {
    if (known->settings() == settings) return *known;
  }
  std::unique_ptr<LayoutContext> made;
  agreed(ranks, SLABMARK_EIO,
         [&] { made = std::make_unique<LayoutContext>(ranks.get(), settings, most_plans); });
  return *contexts_.emplace_back(std::move(made));
}

Handover* System::prepare_handover() {
  if (std::exchange(handover_prepared_, true) || !io_ranks_ || in_flight_ == 0) {
    return handover();
  }
  auto made = std::make_unique<Handover>(all_, *io_ranks_, options_.node_ranks, in_flight_);
  if (made->is_possible()) handover_ = std::move(made);
  return handover();
}

void System::submit(std::function<void()> work, std::uint64_t bytes) {
  if (!thread_) thread_ = std::make_unique<WorkerThread>();
  while (!under_way_.empty() && under_way_.front().number <= thread_->completed()) {
    wait_for_oldest();
  }
  while (under_way_.size() >= in_flight_ ||
         (held_ > 0 && !under_way_.empty() && bytes_under_way_ + bytes > held_)) {
    wait_for_oldest();
  }
  under_way_.push_back({thread_->submit(std::move(work)), bytes});
  bytes_under_way_ += bytes;
}

void System::wait_for_oldest() {
  thread_->wait(under_way_.front().number);
  bytes_under_way_ -= under_way_.front().bytes;
  under_way_.pop_front();
}

void System::wait_for_background() {
  while (!under_way_.empty()) wait_for_oldest();
  while (handed_over_ > 0) take(*io_ranks_->answer(true));
}

void System::handed_over() {
  if (comm().is_root()) ++handed_over_;
}

void System::make_room() {
  while (handed_over_ > 0) {
    const auto answer = io_ranks_->answer(handed_over_ >= in_flight_);
    if (!answer) return;
    take(*answer);
  }
}

void System::take(const IoRanks::Answer& answer) {
  --handed_over_;
  std::exception_ptr failure;
  if (answer.code != SLABMARK_OK) {
    failure = std::make_exception_ptr(Failure(static_cast<int>(answer.code), answer.message));
  }
  files_.at(answer.file)->answered(failure);
}

PiecesPtr System::no_pieces(std::int64_t number) {
  auto& known = no_pieces_[number];
  if (!known) known = std::make_shared<const std::vector<Piece>>();
  return known;
}

}  // namespace slabmark::rearrange
