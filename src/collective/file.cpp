#include "collective/file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "collective/settings.hpp"
#include "core/base/error.hpp"

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

}  // namespace

File::File(MPI_Comm ranks, const std::string& path, Access access, const mpiio::Hints& user)
    : file_(mpiio::File::open(ranks, path, access, with_own_hints(user))) {}

void File::write(std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
  in_calls(bytes, [&](std::uint64_t done, std::uint64_t now) {
    file_.write_at(offset + done, memory_of(memory + done, now));
  });
}

void File::read(std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
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
    if (is_open()) fresh_from_ = size();
  } catch (const IoError&) {  // then no array is
  }
}

/// Whether nothing was written to the array before; then something is.
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

Rearranger::Tally File::move(Context& context, const Transfer& transfer, const Mover& mover) {
  std::vector<bool> fresh;
  for (const FileDomain::Array& array : transfer.domain.arrays()) {
    fresh.push_back(!transfer.writing || take_fresh(array.place));
  }
  const Rearranger::Flush flush{transfer.domain, transfer.plan, transfer.buffers, fresh,
                                transfer.swap};
  Rearranger::FileAccess access;
  if (transfer.writing) {
    access = [this](std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
      write(offset, memory, bytes);
    };
  } else {
    access = [this](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
      read(offset, memory, bytes);
    };
  }
  Rearranger& rearranger = context.rearranger();
  if (mover) return mover(rearranger, flush, access);
  return transfer.writing ? rearranger.write(flush, access) : rearranger.read(flush, access);
}

}  // namespace slabmark::collective
