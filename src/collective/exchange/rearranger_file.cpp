// What an aggregator moves between its window and the file.

#include <algorithm>
#include <cstring>

#include "collective/exchange/rearranger.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark {

// Whether the bytes between two covered extents may be written as well: padding between arrays is
// nobody's, and what no rank has of an array may be zero until something was written there.
bool Rearranger::may_join(const Flush& flush, Extent before, std::size_t its_array, Extent after,
                          std::size_t array) const {
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

// What is to be moved between a window and the file, as positions that are contiguous in the file.
// Holes that are to be written are set to zero. A land model has a hole every few hundred bytes, so
// only the first run of an array asks all that may_join() does.
std::vector<Rearranger::Extent> Rearranger::extents(const Flush& flush, const Window& window,
                                                    std::byte* staging, Flow flow) const {
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
        std::memset(staging + (all.back().end - window.begin), 0, next.begin - all.back().end);
      }
      all.back().end = next.end;
    });
  }
  return all;
}

// The units in a window of which some rank has something.
void Rearranger::access_units(const Flush& flush, const Window& window, std::byte* staging,
                              const UnitAccess& units) {
  const Stopwatch watch(tally_.units);
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
      units(array.place.offset + bytes, staging + (array.begin + bytes - window.begin), missing);
    }
  }
}

// False where others of the node write: then this one can move elements meanwhile. What disturbs
// nobody is done before. Holes are not set to zero before the window is full, though that
// would be off the others' way: it would bring the window into this core's cache twice.
bool Rearranger::access_file(const Flush& flush, std::uint64_t cycle, Flow flow,
                             const FileAccess& access, const UnitAccess& units) {
  const Window now = window(flush, me_, cycle);
  std::byte* const memory = staging(me_, cycle);
  try {
    if (!prepared_ && !failure_) access_units(flush, now, memory, units);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const Stopwatch watch(tally_.file);
  if (!prepared_) extents_ = extents(flush, now, memory, flow);
  prepared_ = true;
  if (flow == Flow::to_file && !extents_.empty() && !starts_writing()) return false;
  try {
    for (const Extent& extent : extents_) {
      if (failure_) break;
      access(flush.domain.file_offset(extent.begin), memory + (extent.begin - now.begin),
             extent.end - extent.begin);
      ++tally_.file_calls;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (flow == Flow::to_file && !extents_.empty()) stops_writing();
  prepared_ = false;
  return true;
}

}  // namespace slabmark
