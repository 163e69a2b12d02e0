#include "accel/c_library/handover.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"

namespace slabmark::rearrange {

namespace {

constexpr int count_tag = 13, pieces_tag = 14;
constexpr std::size_t pieces_of_message = std::size_t{1} << 20;
constexpr std::uint64_t alignment = 64;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Calls visit(first, count) for messages of so many pieces.
template <class Visit>
void for_each_message(std::size_t pieces, const Visit& visit) {
  for (std::size_t first = 0; first < pieces; first += pieces_of_message) {
    const std::size_t count = std::min(pieces_of_message, pieces - first);
    visit(first, static_cast<int>(count * sizeof(Piece)));
  }
}

}  // namespace

// One more than may be unwritten is filled meanwhile.
Handover::Handover(const Comm& all, const IoRanks& io_ranks, std::uint64_t node_ranks,
                   std::uint64_t in_flight)
    : all_(all),
      io_ranks_(io_ranks),
      node_ranks_(node_ranks),
      flushes_(std::min<std::uint64_t>(in_flight, most_flushes - 1) + 1),
      ranks_(all, io_ranks, node_ranks) {}

// The memory that is freed counted all elements written before.
bool Handover::reserve(std::uint64_t bytes) {
  staging_.reset();
  bytes_ = 0;
  filling_ = {};
  handed_over_ = known_written_ = 0;
  last_ = expected_ = {};
  auto wider = std::make_unique<SharedStaging>(all_, node_ranks_);
  wider->allocate(io_ranks_.ranks(), flushes_ * aligned(bytes));
  const std::byte* const mine = wider->of(ranks_.server());
  if (all_.any(mine == nullptr)) return false;
  staging_ = std::move(wider);
  bytes_ = aligned(bytes);
  return true;
}

void Handover::share(std::int64_t number, const std::vector<Piece>& pieces, std::uint64_t count,
                     const std::weak_ptr<const void>& owner) {
  std::vector<std::uint64_t> counts(ranks_.of_program().size());
  check_mpi(MPI_Allgather(&count, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T,
                          io_ranks_.group().get()),
            "MPI_Allgather");
  Known known{.count = count, .owner = owner};
  std::vector<std::uint64_t> together(io_ranks_.ranks().size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::uint64_t& of_server = together[ranks_.servers()[i]];
    if (ranks_.of_program()[i] == all_.rank()) known.before = of_server;
    of_server += counts[i];
  }
  known.together = std::ranges::max(together);

  const int server = io_ranks_.ranks()[ranks_.server()];
  const std::uint64_t length = pieces.size();
  check_mpi(MPI_Send(&length, 1, MPI_UINT64_T, server, count_tag, all_.get()), "MPI_Send");
  std::vector<Piece> moved;
  agreed(all_, SLABMARK_EARGUMENT, [&] {
    moved = pieces;
    for (Piece& piece : moved) piece.buffer += known.before;
  });
  for_each_message(moved.size(), [&](std::size_t first, int bytes) {
    check_mpi(MPI_Send(moved.data() + first, bytes, MPI_BYTE, server, pieces_tag, all_.get()),
              "MPI_Send");
  });
  known_.insert_or_assign(number, known);
}

void Handover::learn(std::int64_t number) {
  const std::vector<int> sources = ranks_.served();
  std::vector<std::uint64_t> lengths(sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    check_mpi(MPI_Recv(&lengths[s], 1, MPI_UINT64_T, sources[s], count_tag, all_.get(),
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
  }
  std::vector<Piece> all;
  agreed(all_, SLABMARK_EARGUMENT,
         [&] { all.resize(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0})); });
  Piece* next = all.data();
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for_each_message(lengths[s], [&](std::size_t first, int bytes) {
      check_mpi(MPI_Recv(next + first, bytes, MPI_BYTE, sources[s], pieces_tag, all_.get(),
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
    });
    next += lengths[s];
  }
  std::ranges::sort(all, {}, &Piece::file);
  learnt_.insert_or_assign(number, std::make_shared<const std::vector<Piece>>(std::move(all)));
}

std::vector<std::int64_t> Handover::forgotten() {
  std::vector<std::int64_t> gone;
  for (const auto& [number, known] : known_) {
    if (known.owner.expired()) gone.push_back(number);
  }
  for (const std::int64_t number : gone) known_.erase(number);
  return gone;
}

std::uint64_t Handover::bytes_of(std::int64_t pieces, std::uint64_t element_bytes) const {
  return aligned(known_.at(pieces).together * element_bytes);
}

bool Handover::claim(std::int64_t file) {
  if (filling_.file == 0) filling_.file = file;
  return filling_.file == file;
}

void Handover::drop(std::int64_t file) {
  if (filling_.file == file) filling_ = {};
}

std::optional<Handover::Copy> Handover::copy(std::int64_t file, std::int64_t pieces,
                                             const std::byte* data, std::uint64_t element_bytes) {
  const auto found = known_.find(pieces);
  if (!claim(file) || found == known_.end() || !staging_) return {};
  const Known& its = found->second;
  const std::uint64_t position = filling_.used;
  const std::uint64_t bytes = aligned(its.together * element_bytes);
  if (bytes > bytes_ - position) return {};
  filling_.used += bytes;
  if (!filling_.memory) choose_memory();
  std::byte* const place = memory(*filling_.memory) + position + its.before * element_bytes;
  if (its.count > 0) std::memcpy(place, data, its.count * element_bytes);
  return Copy{position, place};
}

// Takes memory that all know to be free, and always the same of it: its pages are there, and
// perhaps in the caches. All ranks must choose alike, so it is not asked which one is free by now.
void Handover::choose_memory() {
  const auto all = std::span(last_).first(flushes_);
  auto chosen =
      std::ranges::find_if(all, [&](std::uint64_t last) { return last <= known_written_; });
  if (chosen == all.end()) chosen = std::ranges::min_element(all);
  IoRanks::wait_until([&] { return written() >= *chosen; });
  filling_.memory = static_cast<std::size_t>(chosen - all.begin());
}

std::uint64_t Handover::written() const {
  return staging_ ? counts().accessed.load(std::memory_order_acquire) : 0;
}

std::int64_t Handover::hand_over() {
  const std::size_t filled = filling_.memory.value();
  last_[filled] = ++handed_over_;
  counts().moved[filled].fetch_add(1, std::memory_order_release);
  filling_ = {};
  return static_cast<std::int64_t>(filled);
}

std::byte* Handover::await(std::int64_t memory) {
  const auto which = static_cast<std::size_t>(memory);
  expected_[which] += ranks_.served().size();
  IoRanks::wait_until(
      [&] { return counts().moved[which].load(std::memory_order_acquire) >= expected_[which]; });
  return this->memory(which);
}

void Handover::set_written() { counts().accessed.fetch_add(1, std::memory_order_release); }

}  // namespace slabmark::rearrange
