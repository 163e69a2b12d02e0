#include "accel/hdf5_connector/log/view.hpp"

#include <algorithm>
#include <utility>

#include "accel/hdf5_connector/log/mapping_groups.hpp"
#include "core/geometry/run.hpp"
#include "storage/hdf5/union.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;
using hdf5::Space;

// Below this HDF5 finds out quickly enough which elements no mapping covers.
constexpr std::size_t few_hyperslabs = 1024;

// Some 40 MB, as each hyperslab takes HDF5 400 bytes; programs have fewer maps.
constexpr std::uint64_t most_kept_hyperslabs = 100'000;
constexpr std::size_t most_kept_views = 16;

RunList coalesced(const LogRuns& runs) {
  auto result = elements_of(runs);
  coalesce(result);
  return result;
}

/// The writes of one rank in one flush: their elements lie in the segment in the order of the
/// dataset.
struct Block {
  std::uint32_t source;
  std::uint64_t position;
  LogRuns runs;
};

std::vector<Block> blocks_of(LogDataset& dataset) {
  std::vector<Block> blocks;
  for (auto& [source, starts] : dataset.blocks) {
    for (const auto position : starts) blocks.push_back({source, position, {}});
  }
  for (const auto& run : dataset.flushed()) {
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), run, [](const LogRun& one, const Block& block) {
          return std::pair(one.source, one.position) < std::pair(block.source, block.position);
        });
    std::prev(after)->runs.push_back(run);
  }
  return blocks;
}

/// The elements of the segment that `wanted` of the dataset are.
Space in_segment_of(const RunList& wanted, const LogRuns& runs, std::uint64_t elements,
                    std::size_t element_bytes) {
  hdf5::UnionBuilder builder({elements});
  RunList lines;
  for (const auto& part : parts_within(runs, wanted, element_bytes)) {
    append(lines, {part.position / element_bytes, part.length});
  }
  for (const auto line : lines) builder.add(line);
  return builder.finish();
}

Handle create(hid_t file, const std::string& name, const LogDataset& dataset, const Handle& list) {
  const Space space(dataset.extent());
  return own(H5Dcreate2(file, name.c_str(), dataset.type(), space.get(), H5P_DEFAULT, list.get(),
                        H5P_DEFAULT),
             H5Dclose, "H5Dcreate2", name);
}

/// A virtual dataset without mappings reads as fill value and refuses to be written, as HDF5 does
/// where no mapping is.
void create_holes(hid_t file, const Location& location, const LogDataset& dataset) {
  const auto name = holes_name(dataset.number());
  const auto list = creation_list(dataset, name);
  check(H5Pset_layout(list.get(), H5D_VIRTUAL), "H5Pset_layout", name);
  remove_link_if_there(location, name);
  create(file, name, dataset, list);
}

/// Unwritten elements, if they must be mapped: HDF5 would otherwise subtract all mappings from the
/// elements to read, and 10^5 scattered hyperslabs took 4.9 s to read instead of 0.06 s.
RunList holes_of(LogDataset& dataset) {
  const auto covered = coalesced(dataset.flushed());
  if (covered.size() < few_hyperslabs) return {};
  return complement(covered, element_count(dataset.extent()));
}

}  // namespace

Handle creation_list(const LogDataset& dataset, const std::string& name) {
  auto list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", name);
  const auto& fill = dataset.fill();
  const bool is_zero =
      std::all_of(fill.begin(), fill.end(), [](std::byte one) { return one == std::byte{0}; });
  if (is_zero) return list;
  check(H5Pset_fill_value(list.get(), dataset.type(), fill.data()), "H5Pset_fill_value", name);
  return list;
}

bool is_current(const Location& location, const LogDataset& dataset, std::uint64_t flushes) {
  const auto name = view_name(dataset.number());
  return link_exists(location, name) &&
         number(location, name, "flushes") == static_cast<std::int64_t>(flushes) &&
         number(location, name, "elements") ==
             static_cast<std::int64_t>(element_count(dataset.extent()));
}

void publish_view(const Location& location, const LogDataset& dataset, std::uint64_t flushes) {
  const auto name = view_name(dataset.number());
  remove_link_if_there(location, name);
  rename_link(location, new_view_name(dataset.number()), name);
  set_number(location, name, "flushes", static_cast<std::int64_t>(flushes));
  set_number(location, name, "elements",
             static_cast<std::int64_t>(element_count(dataset.extent())));
}

void VirtualViews::write(LogDataset& dataset) {
  const auto name = new_view_name(dataset.number());
  const auto list = creation_list(dataset, name);
  map_all(list, dataset);
  remove_link_if_there(location_, name);
  // Open until it has its attributes: HDF5 would read all mappings to open it again.
  const auto view = create(file_, name, dataset, list);
  publish_view(location_, dataset, flushes_);
}

void VirtualViews::map_all(const Handle& list, LogDataset& dataset) {
  bool has_holes = false;
  const auto map = [&](const Mapping& one) {
    const auto source =
        one.flush ? segment_name(dataset.number(), *one.flush) : holes_name(dataset.number());
    const auto& from = one.flush ? one.from : one.to;
    check(H5Pset_virtual(list.get(), one.to.get(), ".", source.c_str(), from.get()),
          "H5Pset_virtual", source);
    has_holes = has_holes || !one.flush;
  };
  auto writes = dataset.writes();
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& one) { return one.writes == writes; });
  if (known != known_.end()) {
    for (const auto& one : known->mappings) map(one);
  } else {
    std::vector<Mapping> made;
    const bool keeps = writes && writes->hyperslabs() <= most_kept_hyperslabs;
    const auto visit = [&](Mapping one) {
      map(one);
      if (keeps) made.push_back(std::move(one));
    };
    for (const auto& block : blocks_of(dataset)) {
      for_each_mapping_group(coalesced(block.runs), dataset.extent(), [&](MappingGroup&& group) {
        auto from =
            in_segment_of(group.runs, block.runs, dataset.segments.at(block.source).elements,
                          dataset.element_bytes());
        visit({block.source - in_segment, std::move(group.selection), std::move(from)});
      });
    }
    for_each_mapping_group(holes_of(dataset), dataset.extent(), [&](MappingGroup&& group) {
      visit({std::nullopt, std::move(group.selection), {}});
    });
    if (keeps) keep({std::move(*writes), std::move(made)});
  }
  if (has_holes) create_holes(file_, location_, dataset);
}

void VirtualViews::keep(Known known) {
  kept_hyperslabs_ += known.writes.hyperslabs();
  known_.push_back(std::move(known));
  while (known_.size() > most_kept_views || kept_hyperslabs_ > most_kept_hyperslabs) {
    kept_hyperslabs_ -= known_.front().writes.hyperslabs();
    known_.pop_front();
  }
}

}  // namespace slabmark::slablog
