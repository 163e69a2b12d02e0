#include "accel/c_library/system.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"
#include "accel/c_library/file_data.hpp"

namespace slabmark::rearrange {

System::System(MPI_Comm comm, int io_ranks) : all_(comm) {
  std::int64_t common[] = {io_ranks, -io_ranks};
  const auto failure = caught([&] {
    if (io_ranks >= 0 && io_ranks < all_.size()) return;
    throw Failure(SLABMARK_EARGUMENT,
                  fmt::format("{} of {} ranks cannot be for I/O alone; leave at least one to the "
                              "program.",
                              io_ranks, all_.size()));
  });
  agree(all_, failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS, "Ranks name different numbers of I/O ranks; name the same.");
  }
  if (io_ranks > 0) io_ranks_.emplace(all_, io_ranks);
}

System::~System() = default;

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
  if (std::exchange(handover_prepared_, true) || !io_ranks_ || options_.in_flight() == 0) {
    return handover();
  }
  auto made = std::make_unique<Handover>(all_, *io_ranks_, options_.of_exchange().node_ranks,
                                         options_.in_flight());
  if (made->is_possible()) handover_ = std::move(made);
  return handover();
}

void System::wait_for_background() {
  background_.wait();
  while (handed_over_ > 0) take(*io_ranks_->answer(true));
}

void System::handed_over() {
  if (comm().is_root()) ++handed_over_;
}

void System::make_room() {
  while (handed_over_ > 0) {
    const auto answer = io_ranks_->answer(handed_over_ >= options_.in_flight());
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
