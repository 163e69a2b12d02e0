#include "accel/hdf5_connector/connector/virtual_dataset.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/closing.hpp"
#include "accel/hdf5_connector/connector/find_dataset.hpp"
#include "accel/hdf5_connector/selection.hpp"
#include "accel/hdf5_connector/transfer.hpp"

namespace slabmark::slablog {

namespace {

namespace fs = std::filesystem;
using hdf5::check;
using hdf5::own;
using hdf5::Space;

const std::string a_virtual = "a virtual dataset";

H5VL_dataset_get_args_t get(const Object& mine, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t args{};
  args.op_type = what;
  check(H5VLdataset_get(mine.under, mine.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5VLdataset_get", a_virtual);
  return args;
}

Extent extent_of(const Object& mine) {
  const Space space(
      hdf5::Handle(get(mine, H5VL_DATASET_GET_SPACE).args.get_space.space_id, H5Sclose));
  return space.extent();
}

std::string text_of(const std::function<ssize_t(char*, std::size_t)>& call) {
  std::string text(static_cast<std::size_t>(std::max<ssize_t>(0, call(nullptr, 0))), '\0');
  call(text.data(), text.size() + 1);
  return text;
}

/// A name in which %% stands for %; nothing where it stands for several (%b).
std::optional<std::string> one_name(const std::string& pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    name += pattern[i];
    if (pattern[i] != '%') continue;
    if (++i == pattern.size() || pattern[i] != '%') return std::nullopt;
  }
  return name;
}

Mapping mapping_at(hid_t creation, std::size_t i) {
  const Space shown(
      own(H5Pget_virtual_vspace(creation, i), H5Sclose, "H5Pget_virtual_vspace", a_virtual));
  const Space source(
      own(H5Pget_virtual_srcspace(creation, i), H5Sclose, "H5Pget_virtual_srcspace", a_virtual));
  const auto file = text_of(
      [&](char* to, std::size_t size) { return H5Pget_virtual_filename(creation, i, to, size); });
  const auto dataset = text_of(
      [&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(creation, i, to, size); });
  Mapping mapping{one_name(file), one_name(dataset), shown.extent(), source.extent(), std::nullopt};
  const auto elements = H5Sget_select_npoints(shown.get());
  if (elements >= 0 && H5Sget_select_npoints(source.get()) == elements) {
    mapping.elements = last_wins(paired(runs_of(shown), runs_of(source)), 1);
  }
  return mapping;
}

std::string prefix_of(const Object& mine) {
  const hdf5::Handle access(get(mine, H5VL_DATASET_GET_DAPL).args.get_dapl.dapl_id, H5Pclose);
  return text_of(
      [&](char* to, std::size_t size) { return H5Pget_virtual_prefix(access.get(), to, size); });
}

fs::path folder_of(const Object& mine) {
  return fs::path(file_name(mine.under, mine.type, mine.connector)).parent_path();
}

/// Where HDF5 looks for the file of a source, in its order: as it is where that is absolute, in the
/// folders that the user and the program said, beside the virtual dataset's file, and in the folder
/// of the process.
std::vector<fs::path> places_of(const Object& mine, fs::path name) {
  std::vector<fs::path> places;
  if (name.is_absolute()) {
    places.push_back(name);
    name = name.filename();
  }
  const auto folder = folder_of(mine);
  const auto add = [&](std::string prefix) {
    constexpr std::string_view origin = "${ORIGIN}";
    if (prefix.empty() || prefix == ".") return;
    places.push_back(prefix.starts_with(origin)
                         ? fs::path(folder.string() + prefix.substr(origin.size())) / name
                         : prefix / name);
  };
  const auto* users = std::getenv("HDF5_VDS_PREFIX");
  std::istringstream prefixes(users == nullptr ? "" : users);
  for (std::string prefix; std::getline(prefixes, prefix, ':');) add(prefix);
  add(prefix_of(mine));
  places.push_back(folder / name);
  places.push_back(name);
  return places;
}

/// The open log of the file of that name; null: none.
std::shared_ptr<TrackedFile> file_of_source(const Object& mine, const std::string& name) {
  if (name == ".") return mine.tracked;
  std::error_code none;
  const auto places = places_of(mine, name);
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const auto& place) { return fs::exists(place, none); });
  if (found == places.end()) return nullptr;
  for (const auto& [number, open] : tracked_files()) {
    const auto tracked = open.lock();
    if (tracked && fs::equivalent(*found, tracked->file->path(), none)) return tracked;
  }
  return nullptr;
}

/// Null where there is no such dataset. Of a file that is mounted, absolute names begin in another
/// file; so this goes by the root itself.
std::shared_ptr<Object> open_source(const Object& mine, const TrackedFile& tracked,
                                    const std::string& name) {
  const auto location = tracked.location();
  auto token = tracked.root();
  auto root = self(location.type);
  root.type = H5VL_OBJECT_BY_TOKEN;
  root.loc_data.loc_by_token.token = &token;
  const auto in_root = self(H5I_GROUP);
  H5I_type_t type = H5I_BADID;
  void* found = nullptr;
  H5E_BEGIN_TRY {
    auto* group = H5VLobject_open(location.object, &root, location.connector, &type,
                                  H5P_DATASET_XFER_DEFAULT, nullptr);
    if (group != nullptr) {
      found = H5VLdataset_open(group, &in_root, location.connector,
                               name.c_str() + name.find_first_not_of('/'),
                               H5P_DATASET_ACCESS_DEFAULT, H5P_DATASET_XFER_DEFAULT, nullptr);
      H5VLgroup_close(group, location.connector, H5P_DATASET_XFER_DEFAULT, nullptr);
    }
  }
  H5E_END_TRY
  if (found == nullptr) return nullptr;
  std::shared_ptr<Object> source(
      static_cast<Object*>(wrapped(found, mine, H5I_DATASET)),
      [](Object* object) { close_object(object, H5VLdataset_close, H5P_DATASET_XFER_DEFAULT); });
  find_dataset(*source, true);
  return source;
}

/// The mapped ones of `pairs`, which are elements of the virtual dataset with their places in
/// memory.
Elements mapped(const Mapping& mapping, const LogRuns& pairs, std::uint64_t source_elements) {
  RunList in_dataset;
  RunList in_memory;
  for (const auto& pair : pairs) {
    auto one =
        std::lower_bound(mapping.elements->begin(), mapping.elements->end(), pair.offset,
                         [](const LogRun& run, std::uint64_t at) { return run.end() <= at; });
    for (; one != mapping.elements->end() && one->offset < pair.end(); ++one) {
      const auto from = std::max(one->offset, pair.offset);
      const auto position = one->position + (from - one->offset);
      if (position >= source_elements) continue;  // HDF5 has put the fill value there
      const auto length =
          std::min(std::min(one->end(), pair.end()) - from, source_elements - position);
      append(in_dataset, {position, length});
      append(in_memory, {pair.position + (from - pair.offset), length});
    }
  }
  return elements_of(std::move(in_dataset), std::move(in_memory));
}

struct Part {
  std::shared_ptr<Object> source;
  Elements elements;
};

bool can_be_followed(const Mapping& mapping, const Extent& shown, const Extent& source) {
  return same_rows(mapping.shown_extent, shown) && same_rows(mapping.source_extent, source);
}

bool all_show_all() {
  return std::all_of(tracked_files().begin(), tracked_files().end(), [](const auto& one) {
    const auto tracked = one.second.lock();
    return !tracked || tracked->file->shows_all();
  });
}

void refuse_to_follow() {
  throw Refusal(
      H5E_DATASET, H5E_UNSUPPORTED,
      "slablog does not follow mappings of virtual datasets with H5S_UNLIMITED or %b, or to a "
      "shape other than the source's. Close the files of its sources, and open them again "
      "before");
}

/// Adds what of a selection leads to datasets of open logs, also through other virtual ones.
/// `may_see`: what the views show will do where they show all.
void add_parts(Object& mine, const Elements& wanted, bool may_see, std::vector<Part>& parts) {
  const auto pairs = paired(*wanted.in_dataset, *wanted.in_memory);
  for (const auto& mapping : *mine.mappings) {
    if (!mapping.file) {
      if (!may_see || !all_show_all()) refuse_to_follow();
      continue;
    }
    const auto tracked = file_of_source(mine, *mapping.file);
    if (!tracked) continue;
    constexpr auto no_end = std::numeric_limits<std::uint64_t>::max();
    const bool has_end = mapping.elements && mapping.dataset;
    if (has_end && mapped(mapping, pairs, no_end).in_dataset->empty()) continue;
    auto source = has_end ? open_source(mine, *tracked, *mapping.dataset) : nullptr;
    if (has_end && !source) continue;
    const auto extent = !source           ? Extent()
                        : source->dataset ? source->dataset->extent()
                                          : extent_of(*source);
    if (!source || !can_be_followed(mapping, extent_of(mine), extent)) {
      if (!may_see || !tracked->file->shows_all()) refuse_to_follow();
      continue;
    }
    auto elements = mapped(mapping, pairs, element_count(extent));
    if (source->dataset) {
      parts.push_back({std::move(source), std::move(elements)});
    } else if (source->mappings) {
      add_parts(*source, elements, may_see, parts);
    }
  }
}

/// HDF5 itself reads and writes the ordinary files that this process has open alone.
bool may_be_mapped(const Object& mine) {
  return mine.mappings &&
         std::any_of(tracked_files().begin(), tracked_files().end(), [](const auto& one) {
           const auto tracked = one.second.lock();
           return tracked && (!tracked->canonical || tracked->canonical->is_parallel());
         });
}

}  // namespace

Mappings mappings_in(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_VIRTUAL) return nullptr;
  auto mappings = std::make_shared<std::vector<Mapping>>();
  std::size_t count = 0;
  check(H5Pget_virtual_count(creation, &count), "H5Pget_virtual_count", a_virtual);
  for (std::size_t i = 0; i < count; ++i) mappings->push_back(mapping_at(creation, i));
  return mappings;
}

void read_mapped(Object& mine, hid_t type, hid_t memory, hid_t file, hid_t list, void* data) {
  if (!may_be_mapped(mine)) return;
  std::vector<Part> parts;
  add_parts(mine, selected(extent_of(mine), memory, file, nullptr), true, parts);
  for (const auto& part : parts) {
    read_elements({*part.source->tracked->file, *part.source->dataset, type, list}, part.elements,
                  data);
  }
}

bool write_mapped(Object& mine, hid_t type, hid_t memory, hid_t file, hid_t list,
                  const void* data) {
  if (!may_be_mapped(mine)) return false;
  const auto wanted = selected(extent_of(mine), memory, file, nullptr);
  std::vector<Part> parts;
  add_parts(mine, wanted, false, parts);
  if (parts.empty()) return false;
  std::uint64_t elements = 0;
  for (const auto& part : parts) elements += total_length(*part.elements.in_dataset);
  if (elements != total_length(*wanted.in_dataset)) {
    throw Refusal(H5E_DATASET, H5E_UNSUPPORTED,
                  "only a part of what is written to this virtual dataset is mapped onto datasets "
                  "of slablog's log; write the others in a call of their own");
  }
  for (const auto& part : parts) {
    if (part.source->tracked != mine.tracked) part.source->tracked->file->begin_write(false);
    write_elements({*part.source->tracked->file, *part.source->dataset, type, list}, part.elements,
                   data);
  }
  return true;
}

}  // namespace slabmark::slablog
