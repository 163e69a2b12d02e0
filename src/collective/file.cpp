#include "collective/file.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>

#include "collective/settings.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark::collective {

namespace {

mpiio::Memory memory_of(const std::byte* memory, std::uint64_t bytes) {
  return {const_cast<std::byte*>(memory), static_cast<int>(bytes), MPI_BYTE, bytes};
}

/// Calls move(bytes before, bytes of the call) for calls that MPI can count. A filtered chunk may
/// be larger than that.
template <class Move>
void in_calls(std::uint64_t bytes, const Move& move) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  for (std::uint64_t done = 0; done < bytes; done += most) {
    move(done, std::min(most, bytes - done));
  }
}

/// Bytes of this process that may wait. As many processes as the world has share each node, at
/// most.
std::uint64_t memory_for(const Overlap& overlap, const Context& context) {
  if (overlap.memory > 0) return overlap.memory;
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const std::uint64_t nodes = context.rearranger().nodes();
  return memory_to_wait_in((static_cast<std::uint64_t>(processes) + nodes - 1) / nodes);
}

}  // namespace

File::File(MPI_Comm ranks, const std::string& path, Access access, const mpiio::Hints& user,
           const Overlap& overlap)
    : file_(mpiio::File::open(ranks, path, access, with_own_hints(user))), overlap_(overlap) {
  if (!overlap_.is_on || access != Access::write) return;
  try {
    pending_ = std::make_unique<PendingWrites>(path);
  } catch (const std::exception&) {  // then this rank writes at once
  }
}

void File::wait_here() {
  if (pending_) pending_->wait();
}

std::optional<mpiio::Failure> File::take_failure() {
  return pending_ ? pending_->take_failure() : std::nullopt;
}

void File::sync() {
  wait_here();
  file_.sync();
  if (const auto failure = take_failure()) throw *failure;
}

void File::close() {
  wait_here();
  const auto failure = take_failure();
  pending_.reset();
  file_.close();
  if (failure) throw *failure;
}

void File::settle(const Comm& comm) {
  if (!has_pending()) return;
  wait_here();
  comm.barrier();
  ranges_.clear();
  if (const auto failure = take_failure()) throw *failure;
}

void File::write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
  wait_here();  // earlier writes come first
  in_calls(bytes, [&](std::uint64_t done, std::uint64_t now) {
    file_.write_at(offset + done, memory_of(memory + done, now));
  });
}

void File::read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
  wait_here();
  in_calls(bytes, [&](std::uint64_t done, std::uint64_t now) {
    read_at_once(offset + done, memory + done, now);
  });
}

void File::read_at_once(std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
  if (!end_is_zero_) return file_.read_at(offset, memory_of(memory, bytes));
  std::uint64_t moved = file_.read_some_at(offset, memory_of(memory, bytes));
  if (moved == bytes) return;
  // A read may be short within the file as well: bytes that the file has must not become zero.
  const std::uint64_t end = size();
  const std::uint64_t there = std::min(bytes, end - std::min(end, offset));
  if (there > moved) {
    file_.read_at(offset + moved, memory_of(memory + moved, there - moved));
    moved = there;
  }
  std::memset(memory + moved, 0, bytes - moved);
}

// Ranks are between two collective calls, so nothing is thrown.
void File::fresh_from_end() {
  fresh_from_ = nowhere;
  try {
    if (is_open()) fresh_from_ = std::max(size(), ranges_.end());
  } catch (const IoError&) {  // then no array is
  }
}

/// True if nothing was written to the array before; then something is.
bool File::take_fresh(const ArrayPlace& place) {
  constexpr std::uint64_t little = 4096;  // an array in there is too small to be worth its holes
  if (place.offset < fresh_from_) return false;
  const std::uint64_t place_end = place.offset + place.bytes();
  std::uint64_t begin = place.offset, end = place_end;
  auto next = written_.lower_bound(begin);
  if (next != written_.begin() && std::prev(next)->second + little >= begin) --next;
  bool is_fresh = true;
  while (next != written_.end() && next->first <= end + little) {
    is_fresh = is_fresh && (next->first >= place_end || next->second <= place.offset);
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = written_.erase(next);
  }
  written_.emplace_hint(next, begin, end);
  return is_fresh;
}

/// Collective where data wait. Returns whether those of this rank may. A rank throws that failed.
bool File::prepare_to_move(Context& context, const Transfer& transfer) {
  if (!overlap_.is_on) return false;
  const auto& aggregators = context.rearranger().aggregators();
  const bool must_wait = !transfer.writing || ranges_.are_many() ||
                         ranges_.meet_another(transfer.domain, transfer.plan, aggregators);
  Attempt attempt;
  if (must_wait) attempt.run([&] { settle(context.comm()); });
  if (transfer.writing) ranges_.add(transfer.domain, transfer.plan, aggregators);
  if (attempt.failure()) std::rethrow_exception(attempt.failure());
  // Where this process has the file open twice, whoever uses the other handle cannot know of them.
  if (!transfer.writing || !pending_ || FileUse::is_shared(pending_->identity())) return false;
  if (memory_to_wait_in_ == 0) memory_to_wait_in_ = memory_for(overlap_, context);
  pending_->begin_flush(overlap_.flushes);
  return true;
}

Rearranger::Tally File::move(Context& context, const Transfer& transfer, const Mover& mover) {
  bool may_wait = false;
  Attempt earlier;  // what it caught is thrown when all others have what they wait for
  earlier.run([&] { may_wait = prepare_to_move(context, transfer); });
  std::vector<bool> fresh;
  for (const FileDomain::Array& array : transfer.domain.arrays()) {
    fresh.push_back(!transfer.writing || take_fresh(array.place));
  }
  const Rearranger::Flush flush{transfer.domain, transfer.plan, transfer.buffers, fresh,
                                transfer.swap};
  Rearranger::FileAccess access;
  if (transfer.writing) {
    access = [this, may_wait](std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
      if (!may_wait) return write(offset, memory, bytes);
      pending_->add(offset, memory, bytes, memory_to_wait_in_);
    };
  } else {
    access = [this](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
      read(offset, memory, bytes);
    };
  }
  Rearranger& rearranger = context.rearranger();
  const Rearranger::Tally tally = mover              ? mover(rearranger, flush, access)
                                  : transfer.writing ? rearranger.write(flush, access)
                                                     : rearranger.read(flush, access);
  if (earlier.failure()) std::rethrow_exception(earlier.failure());
  return tally;
}

}  // namespace slabmark::collective
