#include "accel/hdf5_connector/selection.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "accel/hdf5_connector/refusal.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::own;
using hdf5::Space;

const std::string a_space = "a dataspace";

// Fewer are walked as fast as they are compared.
constexpr hssize_t least_elements = 64;
constexpr std::size_t most_kept_selections = 16;

Space copy_of(hid_t space) { return Space(own(H5Scopy(space), H5Sclose, "H5Scopy", a_space)); }

/// The same elements in an array of `extent`: a program may hold the dataspace of a dataset that
/// has grown since.
Space within(const Space& given, const Extent& extent) {
  const auto old = given.extent();
  Space space = copy_of(given.get());
  const bool all = H5Sget_select_type(given.get()) == H5S_SEL_ALL;
  const std::vector<hsize_t> dims(extent.begin(), extent.end());
  check(H5Sset_extent_simple(space.get(), static_cast<int>(dims.size()), dims.data(), nullptr),
        "H5Sset_extent_simple", a_space);
  if (all && element_count(old) > 0) space.select(make_box(Extent(old.size(), 0), old));
  return space;
}

}  // namespace

void for_each_sequence(const Space& space, const std::function<void(Run)>& visit) {
  const auto elements = space.selected();
  if (elements == 0) return;
  const auto iterator =
      own(H5Ssel_iter_create(space.get(), 1, 0), H5Ssel_iter_close, "H5Ssel_iter_create", a_space);
  constexpr std::size_t most = 1024;
  std::array<hsize_t, most> offsets;
  std::array<std::size_t, most> lengths;
  for (std::uint64_t done = 0; done < elements;) {
    std::size_t sequences = 0;
    std::size_t visited = 0;
    check(H5Ssel_iter_get_seq_list(iterator.get(), most, elements - done, &sequences, &visited,
                                   offsets.data(), lengths.data()),
          "H5Ssel_iter_get_seq_list", a_space);
    for (std::size_t i = 0; i < sequences; ++i) visit({offsets[i], lengths[i]});
    done += visited;
  }
}

RunList runs_of(const Space& space) {
  RunList runs;
  for_each_sequence(space, [&](Run run) { append(runs, run); });
  return runs;
}

Space file_selection(hid_t given, const Extent& extent) {
  if (given == H5S_ALL) return Space(extent);
  if (given == H5S_PLIST || given == H5S_BLOCK) {
    throw Refusal(H5E_DATASPACE, H5E_UNSUPPORTED,
                  "slablog takes no H5S_PLIST or H5S_BLOCK as the selection in a dataset; give a "
                  "dataspace.");
  }
  auto space = copy_of(given);
  if (H5Sget_simple_extent_ndims(given) != static_cast<int>(extent.size())) {
    throw Refusal(H5E_DATASPACE, H5E_BADRANGE,
                  "file selection has another number of dimensions than the dataset");
  }
  if (space.extent() != extent) space = within(space, extent);
  if (H5Sselect_valid(space.get()) <= 0) {
    throw Refusal(H5E_DATASPACE, H5E_BADRANGE, "file selection+offset not within extent");
  }
  return space;
}

Elements elements_of(RunList in_dataset, RunList in_buffer) {
  const auto count = total_length(in_dataset);
  return {std::make_shared<const RunList>(std::move(in_dataset)),
          std::make_shared<const RunList>(std::move(in_buffer)), count};
}

SelectionCache::Bounds SelectionCache::bounds_of(hid_t space, std::size_t rank) {
  Bounds bounds(2 * rank);
  if (H5Sget_select_bounds(space, bounds.data(), bounds.data() + rank) < 0) bounds.clear();
  return bounds;
}

// Equal shapes with equal bounds are equal.
RunsPtr SelectionCache::find(hid_t given, const Extent& extent) {
  if (kept_.empty() || H5Sget_select_type(given) != H5S_SEL_HYPERSLABS) return nullptr;
  const auto elements = H5Sget_select_npoints(given);
  if (elements < least_elements) return nullptr;
  std::array<hsize_t, H5S_MAX_RANK> dims;
  const auto rank = H5Sget_simple_extent_dims(given, dims.data(), nullptr);
  if (!std::equal(extent.begin(), extent.end(), dims.begin(), dims.begin() + std::max(0, rank))) {
    return nullptr;
  }
  const auto bounds = bounds_of(given, extent.size());
  for (auto one = kept_.begin(); one != kept_.end(); ++one) {
    if (one->elements != elements || one->extent != extent || one->bounds != bounds ||
        H5Sselect_shape_same(one->space.get(), given) <= 0) {
      continue;
    }
    std::rotate(kept_.begin(), one, one + 1);
    return kept_.front().runs;
  }
  return nullptr;
}

void SelectionCache::keep(Space space, const RunsPtr& runs) {
  const auto elements = H5Sget_select_npoints(space.get());
  if (elements < least_elements || H5Sget_select_type(space.get()) != H5S_SEL_HYPERSLABS) return;
  auto extent = space.extent();
  auto bounds = bounds_of(space.get(), extent.size());
  if (bounds.empty()) return;
  if (kept_.size() == most_kept_selections) kept_.pop_back();
  kept_.push_front({std::move(space), std::move(extent), elements, std::move(bounds), runs});
}

namespace {

RunsPtr line(std::uint64_t elements) {
  return std::make_shared<const RunList>(elements > 0 ? RunList{{0, elements}} : RunList{});
}

RunsPtr runs_and_keep(Space space, SelectionCache* kept) {
  auto runs = std::make_shared<const RunList>(runs_of(space));
  if (kept != nullptr) kept->keep(std::move(space), runs);
  return runs;
}

RunsPtr in_file(const Extent& extent, hid_t given, SelectionCache* kept) {
  if (given == H5S_ALL) return line(element_count(extent));
  const bool is_space = given != H5S_PLIST && given != H5S_BLOCK;
  auto runs = kept == nullptr || !is_space ? nullptr : kept->find(given, extent);
  return runs ? runs : runs_and_keep(file_selection(given, extent), kept);
}

RunsPtr runs_in_memory(hid_t given, hid_t given_file, const RunsPtr& file, std::uint64_t elements,
                       SelectionCache* kept) {
  if (given == H5S_BLOCK || (given == H5S_ALL && given_file == H5S_ALL)) return line(elements);
  if (given == H5S_ALL) return file;
  if (static_cast<std::uint64_t>(std::max<hssize_t>(0, H5Sget_select_npoints(given))) != elements) {
    throw Refusal(H5E_ARGS, H5E_BADVALUE,
                  "src and dest dataspaces have different number of elements selected");
  }
  if (H5Sget_select_type(given) == H5S_SEL_ALL) return line(elements);
  auto space = copy_of(given);
  if (H5Sselect_valid(space.get()) <= 0) {
    throw Refusal(H5E_DATASPACE, H5E_BADRANGE, "memory selection+offset not within extent");
  }
  auto runs = kept == nullptr ? nullptr : kept->find(given, space.extent());
  return runs ? runs : runs_and_keep(std::move(space), kept);
}

}  // namespace

Elements selected(const Extent& extent, hid_t memory, hid_t file, SelectionCache* kept) {
  Elements elements;
  elements.in_dataset = in_file(extent, file, kept);
  elements.count = file == H5S_ALL ? element_count(extent)
                                   : static_cast<std::uint64_t>(H5Sget_select_npoints(file));
  elements.in_memory = runs_in_memory(memory, file, elements.in_dataset, elements.count, kept);
  elements.ascending = file == H5S_ALL || H5Sget_select_type(file) != H5S_SEL_POINTS;
  return elements;
}

}  // namespace slabmark::slablog
