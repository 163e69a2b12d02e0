#include "slablog/selection.hpp"

#include <array>
#include <vector>

#include "slablog/refusal.hpp"

namespace slabmark::slablog {

namespace {

using hdf5::check;
using hdf5::own;
using hdf5::Space;

const std::string a_space = "a dataspace";

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

Space memory_selection(hid_t given, hid_t given_file, const Space& file) {
  if (given == H5S_BLOCK || (given == H5S_ALL && given_file == H5S_ALL)) {
    Space line({std::max<std::uint64_t>(1, file.selected())});
    if (file.selected() == 0) line.select_none();
    return line;
  }
  auto space = copy_of(given == H5S_ALL ? file.get() : given);
  if (space.selected() != file.selected()) {
    throw Refusal(H5E_ARGS, H5E_BADVALUE,
                  "src and dest dataspaces have different number of elements selected");
  }
  if (H5Sselect_valid(space.get()) <= 0) {
    throw Refusal(H5E_DATASPACE, H5E_BADRANGE, "memory selection+offset not within extent");
  }
  return space;
}

}  // namespace slabmark::slablog
