#include "collective/data_file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

namespace slabmark::rearrange {

// The user's come later and so win.
mpiio::Hints with_own_hints(const mpiio::Hints& user) {
  mpiio::Hints all = {{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}};
  all.insert(all.end(), user.begin(), user.end());
  return all;
}

DataFile::DataFile(MPI_Comm ranks, const std::string& path, Access access, const mpiio::Hints& user)
    : file_(mpiio::File::open(ranks, path, access, with_own_hints(user))) {}

/// Whether nothing was written to the array before; then something is.
bool DataFile::take_fresh(const ArrayPlace& place) {
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

std::vector<bool> DataFile::take_fresh(const FileDomain& domain, bool writing) {
  std::vector<bool> fresh;
  for (const FileDomain::Array& array : domain.arrays()) {
    fresh.push_back(!writing || take_fresh(array.place));
  }
  return fresh;
}

Rearranger::Tally DataFile::move(Engine& engine, const FileDomain& domain,
                                 std::span<std::byte* const> buffers, bool writing, bool swap,
                                 const Mover& mover) {
  const auto memory_of = [](std::byte* memory, std::uint64_t bytes) {
    return mpiio::Memory{memory, static_cast<int>(bytes), MPI_BYTE, bytes};
  };
  const std::vector<bool> fresh = take_fresh(domain, writing);
  const Rearranger::Flush flush{domain, engine.plan(), buffers, fresh, swap};
  const auto write = [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
    file_.write_at(offset, memory_of(memory, bytes));
  };
  const bool reaches_end = !writing && end_is_zero_ && file_.is_open();
  const std::uint64_t end = reaches_end ? file_.size() : std::numeric_limits<std::uint64_t>::max();
  const auto read = [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
    const std::uint64_t there = std::min(bytes, end - std::min(end, offset));
    if (there > 0) file_.read_at(offset, memory_of(memory, there));
    std::memset(memory + there, 0, bytes - there);
  };
  if (mover) {
    return writing ? mover(engine.rearranger(), flush, write)
                   : mover(engine.rearranger(), flush, read);
  }
  return writing ? engine.write(flush, write) : engine.read(flush, read);
}

}  // namespace slabmark::rearrange
