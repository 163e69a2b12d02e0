#include "bench/pattern/captured/selections.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "capture/format/hash.hpp"
#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"

namespace slabmark {

namespace {

/// True if all boxes are runs within a row, which take less memory.
bool are_rows(const std::vector<std::int64_t>& numbers, std::size_t rank) {
  for (std::size_t at = 0; at < numbers.size(); at += 4 * rank) {
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_one = numbers[at + 2 * rank + d] == 1 && numbers[at + 3 * rank + d] == 1;
      if (!is_one || numbers[at + rank + d] < 1 || (d + 1 < rank && numbers[at + rank + d] > 1))
        return false;
    }
  }
  return true;
}

RunList runs_of(const std::vector<std::int64_t>& numbers, std::size_t rank, const Extent& extent) {
  RunList runs;
  runs.reserve(numbers.size() / (4 * rank));
  for (std::size_t at = 0; at < numbers.size(); at += 4 * rank) {
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const auto start = static_cast<std::uint64_t>(numbers[at + d]);
      const auto length = static_cast<std::uint64_t>(numbers[at + rank + d]);
      if (start >= extent[d] || length > extent[d] - start) {
        throw InputError(fmt::format("A call moves {} elements at {} in a dimension of length {}.",
                                     length, start, extent[d]));
      }
      offset = offset * extent[d] + start;
    }
    runs.push_back({offset, static_cast<std::uint64_t>(numbers[at + 2 * rank - 1])});
  }
  return runs;
}

SelectionPtr make(const Extent& extent, std::size_t rank, std::uint64_t bytes,
                  std::vector<std::int64_t> all) {
  if (bytes == 0 && are_rows(all, rank)) return select_row_runs(extent, runs_of(all, rank, extent));
  const auto numbers = std::make_shared<const std::vector<std::int64_t>>(std::move(all));
  const std::size_t per_box = 4 * rank;
  const std::uint64_t boxes = rank == 0 ? 1 : numbers->size() / per_box;
  return select_generated(extent, boxes, [=](std::uint64_t i, Hyperslab& slab) {
    const std::int64_t* const at = numbers->data() + i * per_box;
    const auto fill = [&](Extent& to, std::size_t row, std::uint64_t more) {
      to.assign(at + row * rank, at + (row + 1) * rank);
      if (bytes > 0) to.push_back(more);
    };
    fill(slab.start, 0, 0);
    fill(slab.count, 1, 1);
    fill(slab.stride, 2, 1);
    fill(slab.block, 3, bytes);
    for (std::size_t d = 0; d < rank; ++d) {  // count indices are one block of that many
      if (slab.stride[d] != 1 || slab.block[d] != 1) continue;
      std::swap(slab.count[d], slab.block[d]);
      slab.stride[d] = slab.block[d] > 0 ? slab.block[d] : 1;
    }
  });
}

SelectionPtr concatenated(const std::vector<SelectionPtr>& parts) {
  if (parts.size() == 1) return parts.front();
  std::vector<std::uint64_t> ends;
  std::uint64_t count = 0;
  for (const SelectionPtr& part : parts) ends.push_back(count += part->hyperslab_count());
  return select_generated(parts.front()->extent(), count, [=](std::uint64_t i, Hyperslab& slab) {
    const auto part =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin());
    parts[part]->hyperslab(i - (part > 0 ? ends[part - 1] : 0), slab);
  });
}

/// Runs that ascend and do not touch, of runs that ascend.
RunList united(const RunList& runs) {
  RunList all;
  for (const Run run : runs) {
    if (all.empty() || run.offset > all.back().end()) {
      all.push_back(run);
    } else {
      all.back().length = std::max(all.back().end(), run.end()) - all.back().offset;
    }
  }
  return all;
}

/// Those elements, by one of the hyperslabs if it takes them all.
SelectionPtr taking(const RunList& runs, std::uint64_t elements, const Selection& all) {
  std::vector<Hyperslab> slabs(1);
  for (std::uint64_t i = 0; i < all.hyperslab_count(); ++i) {
    all.hyperslab(i, slabs.front());
    if (element_count(slabs.front()) == elements)
      return select_hyperslabs(all.extent(), std::move(slabs));
  }
  slabs.clear();
  for (const Run run : runs) {
    for (Hyperslab& box : boxes_of_range(run, all.extent())) slabs.push_back(std::move(box));
  }
  return select_hyperslabs(all.extent(), std::move(slabs));
}

EachOnce each_once(SelectionPtr all) {
  if (all->ascending()) return {std::move(all), {}};
  RunList in_order;
  all->for_each_run([&](Run run) { in_order.push_back(run); });
  RunList ascending = in_order;
  std::sort(ascending.begin(), ascending.end());
  const RunList once = united(ascending);
  std::vector<std::uint64_t> before;  // elements, by run
  std::uint64_t elements = 0;
  for (const Run run : once) {
    before.push_back(elements);
    elements += run.length;
  }
  if (elements == all->element_count()) return {std::move(all), {}};
  EachOnce made;
  std::uint64_t taken = 0;
  for (const Run run : in_order) {
    const auto after = std::upper_bound(once.begin(), once.end(), run.offset,
                                        [](std::uint64_t at, Run of) { return at < of.offset; });
    const auto of = static_cast<std::size_t>(after - once.begin()) - 1;
    made.places.push_back({taken, before[of] + run.offset - once[of].offset, run.length});
    taken += run.length;
  }
  made.selection = taking(once, elements, *all);
  return made;
}

}  // namespace

ElementShape element_of(const Json& definition, const std::string& path) {
  if (definition.value("kind", "") == "bytes") return {};
  const Json type = definition.value("type", Json());
  if (type.is_string()) {
    if (const auto known = find_element_type(type.get<std::string>())) return {*known, 0};
  }
  if (type.is_object() && type.value("bytes", std::uint64_t{0}) > 0) {
    const std::uint64_t bytes = type["bytes"];
    return {ElementType::uint8, bytes};
  }
  throw InputError(fmt::format("Dataset '{}' of '{}' has the type {}, whose size is not said.",
                               definition.value("name", ""), path, type.dump()));
}

SelectionPtr Selections::of(std::uint64_t definition, std::size_t rank,
                            std::vector<std::int64_t> numbers) {
  const Extent extent = extent_of(definition);
  const auto hash = capture::Hash::of({reinterpret_cast<const std::uint8_t*>(numbers.data()),
                                       numbers.size() * sizeof(std::int64_t)});
  SelectionPtr& known = known_[{extent, hash.low, hash.high}];
  if (!known) known = make(extent, rank, elements_.at(definition).bytes, std::move(numbers));
  return known;
}

Extent Selections::extent_of(std::uint64_t definition) const {
  Extent extent = shapes_.of_definition.at(definition).extent;
  if (elements_.at(definition).bytes > 0) extent.push_back(elements_.at(definition).bytes);
  return extent;
}

const EachOnce& Selections::together(const std::vector<SelectionPtr>& parts) {
  const auto [known, is_new] = together_.try_emplace(parts);
  if (is_new) known->second = each_once(concatenated(parts));
  return known->second;
}

}  // namespace slabmark
