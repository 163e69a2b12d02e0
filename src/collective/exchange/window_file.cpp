#include "collective/exchange/window_file.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/stopwatch.hpp"

namespace slabmark {

namespace {

// The units in a window of which some rank has something.
void access_units(const ArrayFlush& flush, const Window& window, std::byte* memory,
                  const UnitAccess& units) {
  RunList missing;
  for (const FileDomain::Part& part : flush.domain.parts_in(window.begin, window.end)) {
    const FileDomain::Array& array = flush.domain.arrays()[part.array];
    const std::uint64_t unit = array.place.unit;
    if (unit == 0) continue;
    for (std::uint64_t begin = part.elements.offset; begin < part.elements.end(); begin += unit) {
      missing.clear();
      std::uint64_t end = begin;  // of what is covered
      flush.plan.for_each_covered(part.array, {begin, unit}, [&](Run run) {
        if (run.offset > end) missing.push_back({end - begin, run.offset - end});
        end = run.end();
      });
      if (end == begin) continue;
      if (end < begin + unit) missing.push_back({end - begin, begin + unit - end});
      const std::uint64_t bytes = begin * array.place.element_bytes;
      units(array.place.offset + bytes, memory + (array.begin + bytes - window.begin), missing);
    }
  }
}

}  // namespace

// True if the bytes between two covered extents may be written as well: padding between arrays is
// nobody's, and what no rank has of an array may be zero until something was written there.
bool WindowFile::may_join(const ArrayFlush& flush, Extent before, std::size_t its_array,
                          Extent after, std::size_t array) const {
  const std::uint64_t hole = after.begin - before.end;
  const bool contiguous_in_file =
      flush.domain.file_offset(after.begin) - flush.domain.file_offset(before.begin) ==
      after.begin - before.begin;
  if (!contiguous_in_file || hole > bridged_hole_) return false;
  if (hole == 0) return true;
  const auto& arrays = flush.domain.arrays();
  if (array == its_array + 1 && before.end == arrays[its_array].end() &&
      after.begin == arrays[array].begin) {
    return true;
  }
  return std::all_of(flush.fresh.begin() + static_cast<std::ptrdiff_t>(its_array),
                     flush.fresh.begin() + static_cast<std::ptrdiff_t>(array) + 1,
                     [](bool fresh) { return fresh; });
}

// The positions of a window that are to be moved, as extents that are contiguous in the file.
// Holes that are to be written are set to zero. A land model has a hole every few hundred bytes, so
// only the first run of an array asks all that may_join() does.
std::vector<WindowFile::Extent> WindowFile::extents(const ArrayFlush& flush, const Window& window,
                                                    std::byte* memory, Flow flow) const {
  std::vector<Extent> all;
  std::size_t last_array = 0;
  for (const FileDomain::Part& part : flush.domain.parts_in(window.begin, window.end)) {
    const FileDomain::Array& array = flush.domain.arrays()[part.array];
    if (array.place.unit > 0) continue;
    const std::uint64_t size = array.place.element_bytes;
    const std::uint64_t most = flush.fresh[part.array] ? bridged_hole_ : 0;
    bool first = true;
    flush.plan.for_each_covered(part.array, part.elements, [&](Run run) {
      const Extent next{array.begin + run.offset * size, array.begin + run.end() * size};
      const bool joins =
          first ? !all.empty() && may_join(flush, all.back(), last_array, next, part.array)
                : next.begin - all.back().end <= most;
      first = false;
      last_array = part.array;
      if (!joins) {
        all.push_back(next);
        return;
      }
      if (flow == Flow::to_file) {
        std::memset(memory + (all.back().end - window.begin), 0, next.begin - all.back().end);
      }
      all.back().end = next.end;
    });
  }
  return all;
}

bool WindowFile::starts_writing(WindowCounts::Count& writing) const {
  std::uint64_t writing_now = writing.load(std::memory_order_relaxed);
  while (writing_now < writers_) {
    if (writing.compare_exchange_weak(writing_now, writing_now + 1)) return true;
  }
  return false;
}

// Work that disturbs nobody is done before it is asked who writes. Holes are not set to zero before
// the window is full: that would bring the window into this core's cache twice.
bool WindowFile::move(const ArrayFlush& flush, const Window& window, std::byte* memory,
                      const Transfer& transfer, FlushTally& tally) {
  try {
    const Stopwatch watch(tally.units);
    if (!is_prepared_ && !failure_) access_units(flush, window, memory, transfer.units);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const Stopwatch watch(tally.file);
  if (!is_prepared_) extents_ = extents(flush, window, memory, transfer.flow);
  is_prepared_ = true;
  const bool writes = transfer.flow == Flow::to_file && !extents_.empty();
  if (writes && !starts_writing(transfer.writing)) return false;
  try {
    for (const Extent& extent : extents_) {
      if (failure_) break;
      transfer.access(flush.domain.file_offset(extent.begin),
                      memory + (extent.begin - window.begin), extent.end - extent.begin);
      ++tally.file_calls;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (writes) transfer.writing.fetch_sub(1);
  is_prepared_ = false;
  return true;
}

}  // namespace slabmark
