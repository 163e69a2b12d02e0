#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/recorder.hpp"
#include "captured/captured_pattern.hpp"
#include "method/as_captured/replay.hpp"
#include "storage/hdf5/older.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/hdf5/union.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;
using hdf5::Space;

constexpr std::size_t most_spaces = 256;

/// What HDF5 coded, in base64. Empty where the pattern does not have it.
std::string code_of(const nlohmann::json& of, const char* key) {
  for (const char* group : {"hdf5", "named"}) {
    if (of.contains(group) && of[group].contains(key)) return of[group][key];
  }
  return {};
}

std::vector<unsigned char> decoded(const std::string& text) {
  std::vector<unsigned char> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<unsigned char>(bits >> held & 255));
  }
  return bytes;
}

/// A property list of the program; `kind`: where its code is empty, the default of this.
Handle list_of(const std::string& code, hid_t kind) {
  if (code.empty()) return own(H5Pcreate(kind), H5Pclose, "H5Pcreate", "");
  return own(H5Pdecode(decoded(code).data()), H5Pclose, "H5Pdecode", "");
}

/// A datatype of the program; bytes of as many where the pattern has no more (--anonymous).
Handle type_of(const nlohmann::json& of) {
  const auto bytes = decoded(code_of(of, "type"));
  if (!bytes.empty()) return own(H5Tdecode2(bytes.data(), bytes.size()), H5Tclose, "H5Tdecode", "");
  const auto& type = of.at("type");
  const auto size = type.is_object() ? type.at("bytes").get<std::size_t>() : std::size_t{1};
  return own(H5Tcreate(H5T_OPAQUE, size), H5Tclose, "H5Tcreate", "");
}

Handle space_of(const nlohmann::json& of) {
  const bool is_attribute = of.contains("space");
  const auto bytes = decoded(is_attribute ? of["space"].get<std::string>() : code_of(of, "space"));
  if (!bytes.empty()) return own(H5Sdecode(bytes.data()), H5Sclose, "H5Sdecode", "");
  const auto extent = of.at("extent").get<std::vector<hsize_t>>();
  auto maximum = extent;
  if (of.contains("maximum")) {
    const auto& lengths = of["maximum"];
    for (std::size_t d = 0; d < extent.size(); ++d) {
      maximum[d] = lengths[d].is_null() ? H5S_UNLIMITED : lengths[d].get<hsize_t>();
    }
  }
  if (extent.empty()) return own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", "");
  return own(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), maximum.data()),
             H5Sclose, "H5Screate_simple", "");
}

bool has_flag(const CapturedEvent& event, unsigned flag) { return (event.flags & flag) != 0; }

bool has_one_box(const BoxArray& boxes) { return boxes.count == 1; }

/// Box `i` of a list whose boxes begin at `origin`.
Hyperslab slab_of(const BoxArray& boxes, std::size_t i, std::span<const std::int64_t> origin) {
  Hyperslab slab;
  for (std::size_t d = 0; d < boxes.rank; ++d) {
    const auto k = i * boxes.rank + d;
    const auto start = boxes.starts[k] + (d < origin.size() ? origin[d] : 0);
    slab.start.push_back(static_cast<std::uint64_t>(start));
    slab.count.push_back(static_cast<std::uint64_t>(boxes.counts[k]));
    slab.stride.push_back(boxes.strides.empty() ? 1 : static_cast<std::uint64_t>(boxes.strides[k]));
    slab.block.push_back(boxes.blocks.empty() ? 1 : static_cast<std::uint64_t>(boxes.blocks[k]));
    if (boxes.strides.empty()) {  // one block, as programs say it
      slab.block.back() = slab.count.back();
      slab.stride.back() = std::max<std::uint64_t>(1, slab.count.back());
      slab.count.back() = 1;
    }
  }
  return slab;
}

/// The boxes, or points, in an array with a further dimension of that length, all of it.
BoxArray deepened(const BoxArray& boxes, std::uint64_t length, bool by_points) {
  const std::size_t copies = by_points ? length : 1;
  BoxArray deep;
  deep.rank = boxes.rank + 1;
  deep.count = boxes.count * copies;
  const auto deepen = [&](const std::vector<std::int64_t>& of, std::vector<std::int64_t>& to,
                          const auto& last) {
    for (std::size_t at = 0; at < of.size(); at += boxes.rank) {
      const auto begin = of.begin() + static_cast<std::ptrdiff_t>(at);
      for (std::size_t copy = 0; copy < copies; ++copy) {
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(boxes.rank));
        to.push_back(last(copy));
      }
    }
  };
  const auto one = [](std::size_t) { return std::int64_t{1}; };
  deepen(boxes.starts, deep.starts, [](std::size_t copy) { return std::int64_t(copy); });
  deepen(boxes.counts, deep.counts, [&](std::size_t) { return std::int64_t(length / copies); });
  deepen(boxes.strides, deep.strides, one);
  deepen(boxes.blocks, deep.blocks, one);
  return deep;
}

Space selected(const BoxArray& boxes, std::span<const std::int64_t> origin, const Extent& extent,
               bool by_points) {
  Space space(extent);
  if (boxes.rank < extent.size()) {
    return boxes.rank == 0
               ? std::move(space)
               : selected(deepened(boxes, extent.back(), by_points), origin, extent, by_points);
  }
  if (by_points) {
    std::vector<hsize_t> coordinates;
    for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
      const auto d = k % boxes.rank;
      coordinates.push_back(
          static_cast<hsize_t>(boxes.starts[k] + (d < origin.size() ? origin[d] : 0)));
    }
    space.select_points(coordinates);
  } else if (has_one_box(boxes)) {
    space.select(slab_of(boxes, 0, origin));
  } else {
    hdf5::UnionBuilder unite(extent);
    for (std::size_t i = 0; i < boxes.count; ++i) unite.add(slab_of(boxes, i, origin));
    return unite.finish();
  }
  return space;
}

/// The selections of an event by points: 1 in the file, 2 in memory.
bool is_by_points(const CapturedEvent& event, std::int64_t where) {
  return !event.arguments.empty() && (event.arguments[0] & where) != 0;
}

Extent extent_of(hid_t dataset, const std::string& name) {
  return Space(own(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name)).extent();
}

/// Elements of variable length are addresses, and what they lead to is not captured.
bool has_addresses(hid_t type) {
  return H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_REFERENCE) > 0 ||
         (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0);
}

void close_last(std::vector<Handle>& handles) {
  if (!handles.empty()) handles.pop_back();
}

/// Whether the pattern's calls have made that object; a committed type, say, they have not.
bool is_there(hid_t file, const std::string& path) {
  if (path.empty()) return false;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

/// The calls that a program made of HDF5, once more: with its own types, creation lists and
/// transfer lists, as HDF5 has coded them.
class Hdf5Replay : public Replay {
 public:
  explicit Hdf5Replay(const Context& context)
      : Replay(context),
        rank_(context.rank),
        links_(own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate", "")) {
    hdf5::silence();
    check(H5Pset_create_intermediate_group(links_.get(), 1), "H5Pset_create_intermediate_group",
          "");
  }

  void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) override;
  void sync() override;
  void end() override;

 private:
  using Handles = std::vector<Handle>;
  using Key = std::pair<std::uint64_t, std::string>;  ///< opening, name

  void create_or_open(const CapturedEvent& event, bool creates);
  void create_dataset(const CapturedEvent& event);
  void open_dataset(const CapturedEvent& event);
  void create_attribute(const CapturedEvent& event);
  void move_attribute(const CapturedEvent& event, bool writes);
  void move(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory);
  hid_t file(const CapturedEvent& event);
  bool is_open(const CapturedEvent& event) const;
  hid_t dataset(const CapturedEvent& event) const;
  hid_t type(const nlohmann::json& described);
  hid_t dataset_creation(const nlohmann::json& described);
  hid_t transfer_list(const CapturedEvent& event);
  const Space& file_space(const CapturedEvent& event, const Extent& extent);
  Space memory_space(const CapturedEvent& event, const Space& in_file) const;
  /// The further dimension that a file which was made for reading has for elements of none of our
  /// types; empty: it has none.
  Extent bytes_of_elements(const CapturedEvent& event, const Space& in_file) const;
  std::string name(const CapturedEvent& event) const;

  const RankReader& rank_;
  std::string path_;                        ///< of the file of the call at hand
  std::map<std::uint64_t, Handles> files_;  ///< by opening
  std::map<Key, Handles> datasets_;
  std::map<std::pair<Key, std::uint64_t>, Handle> attributes_;  ///< of a dataset, by details
  Handle links_;                                                ///< makes the groups on the way
  std::map<std::string, Handle> types_;                         ///< by code
  std::map<std::string, Handle> creations_;                     ///< of datasets, by code
  std::map<std::uint64_t, Handle> lists_;                       ///< by details and collective
  std::map<std::vector<std::uint64_t>, Space> spaces_;          ///< selections of late
};

std::string Hdf5Replay::name(const CapturedEvent& event) const {
  return rank_.definition(event.dataset).at("name");
}

hid_t Hdf5Replay::file(const CapturedEvent& event) {
  return opened(files_, event.file).back().get();
}

bool Hdf5Replay::is_open(const CapturedEvent& event) const {
  const auto found = datasets_.find({event.file, name(event)});
  return found != datasets_.end() && !found->second.empty();
}

hid_t Hdf5Replay::dataset(const CapturedEvent& event) const {
  if (is_open(event)) return datasets_.at({event.file, name(event)}).back().get();
  throw InputError(
      fmt::format("The pattern uses dataset '{}' before it makes or opens it.", name(event)));
}

void Hdf5Replay::create_or_open(const CapturedEvent& event, bool creates) {
  const auto& described = rank_.file(event.file);
  const auto access = list_of(code_of(described, "access"), H5P_FILE_ACCESS);
  if (described.contains("ranks")) {
    const auto hints = hints_of(described, context_.settings);
    const mpiio::Info info(hints);
    check(H5Pset_fapl_mpio(access.get(), context_.comm_of(described).get(), info.get()),
          "H5Pset_fapl_mpio", path_);
  }
  auto& handles = files_[event.file];
  if (creates) {
    const auto creation = list_of(code_of(described, "creation"), H5P_FILE_CREATE);
    handles.push_back(own(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()),
                          H5Fclose, "H5Fcreate", path_));
  } else {
    const auto flags = event.arguments.empty() ? H5F_ACC_RDWR : event.arguments[0];
    handles.push_back(own(H5Fopen(path_.c_str(), static_cast<unsigned>(flags), access.get()),
                          H5Fclose, "H5Fopen", path_));
  }
}

void Hdf5Replay::create_dataset(const CapturedEvent& event) {
  const auto& described = rank_.definition(event.dataset);
  const auto called = name(event);
  const auto type = this->type(described);
  const auto space = space_of(described);
  const auto creation = dataset_creation(described);
  // The program has deleted or moved the one of this name, which the pattern does not say.
  if (H5Lexists(file(event), called.c_str(), H5P_DEFAULT) > 0) {
    check(H5Ldelete(file(event), called.c_str(), H5P_DEFAULT), "H5Ldelete", called);
  }
  // Also what the program made without a name, and linked later, which the pattern does not say.
  const auto links = called.find('/', 1) == std::string::npos ? H5P_DEFAULT : links_.get();
  const auto made =
      H5Dcreate2(file(event), called.c_str(), type, space.get(), links, creation, H5P_DEFAULT);
  datasets_[{event.file, called}].push_back(own(made, H5Dclose, "H5Dcreate", called));
}

void Hdf5Replay::open_dataset(const CapturedEvent& event) {
  const auto called = name(event);
  if (H5Lexists(file(event), called.c_str(), H5P_DEFAULT) == 0) {
    throw InputError(
        fmt::format("The program opened dataset '{}', which it did not make under that name; a "
                    "pattern has no links, copies and renames, so play it by another method.",
                    called));
  }
  datasets_[{event.file, called}].push_back(
      own(H5Dopen2(file(event), called.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen", called));
}

void Hdf5Replay::create_attribute(const CapturedEvent& event) {
  if (event.details == CapturedEvent::none) return;
  const auto& described = rank_.definition(event.details);
  const bool is_of_dataset = event.dataset != CapturedEvent::none;
  const auto called = described.value("name", "");
  const auto type = this->type(described);
  const auto space = space_of(described);
  Handle owner;  // a dataset that the program has named and not opened, or another object
  const auto owned_by = is_of_dataset
                            ? name(event)
                            : described.value("object", nlohmann::json::object()).value("name", "");
  if (is_of_dataset ? !is_open(event) : is_there(file(event), owned_by)) {
    owner = own(H5Oopen(file(event), owned_by.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", owned_by);
  }
  const auto place = owner.is_open() ? owner.get() : is_of_dataset ? dataset(event) : file(event);
  if (H5Aexists(place, called.c_str()) > 0) {  // of an object that is not there, or deleted
    check(H5Adelete(place, called.c_str()), "H5Adelete", called);
  }
  auto made = own(H5Acreate2(place, called.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose, "H5Acreate", called);
  attributes_[{{event.file, is_of_dataset ? name(event) : ""}, event.details}] = std::move(made);
}

void Hdf5Replay::move_attribute(const CapturedEvent& event, bool writes) {
  const bool is_of_dataset = event.dataset != CapturedEvent::none;
  const auto found =
      attributes_.find({{event.file, is_of_dataset ? name(event) : ""}, event.details});
  if (found == attributes_.end()) return;
  const auto attribute = found->second.get();
  const auto type = own(H5Aget_type(attribute), H5Tclose, "H5Aget_type", "an attribute");
  const Space space(own(H5Aget_space(attribute), H5Sclose, "H5Aget_space", "an attribute"));
  // Of variable length: none.
  std::vector<std::byte> values(space.selected() * H5Tget_size(type.get()) + 1);
  if (writes) {
    check(H5Awrite(attribute, type.get(), values.data()), "H5Awrite", "an attribute");
  } else {
    check(H5Aread(attribute, type.get(), values.data()), "H5Aread", "an attribute");
    H5Treclaim(type.get(), space.get(), H5P_DEFAULT, values.data());
  }
}

// Programs use the types and lists that they have; decoding them for each dataset would be calls
// that no program makes.
hid_t Hdf5Replay::type(const nlohmann::json& described) {
  const auto code = code_of(described, "type");
  auto& handle = types_[code.empty() ? described.at("type").dump() : code];
  if (!handle.is_open()) handle = type_of(described);
  return handle.get();
}

hid_t Hdf5Replay::dataset_creation(const nlohmann::json& described) {
  const auto code = code_of(described, "creation");
  auto& handle = creations_[code];
  if (!handle.is_open()) handle = list_of(code, H5P_DATASET_CREATE);
  return handle.get();
}

hid_t Hdf5Replay::transfer_list(const CapturedEvent& event) {
  const bool together = has_flag(event, capture::collective);
  if (event.details == CapturedEvent::none && !together) return H5P_DEFAULT;
  auto& list =
      lists_[event.details == CapturedEvent::none ? event.details
                                                  : 2 * event.details + (together ? 1 : 0)];
  if (list.is_open()) return list.get();
  list = list_of(event.details == CapturedEvent::none
                     ? std::string()
                     : rank_.definition(event.details).value("base64", ""),
                 H5P_DATASET_XFER);
  if (together) {
    check(H5Pset_dxpl_mpio(list.get(), H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio", path_);
  }
  return list.get();
}

// Programs make a selection once and use it for many datasets and steps; that is no part of the
// calls.
const Space& Hdf5Replay::file_space(const CapturedEvent& event, const Extent& extent) {
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(event.selection), event.list,
                                 is_by_points(event, 1) ? 1u : 0u};
  key.insert(key.end(), extent.begin(), extent.end());
  key.insert(key.end(), event.counts.begin(), event.counts.end());
  for (const auto start : event.origin) key.push_back(static_cast<std::uint64_t>(start));
  if (const auto found = spaces_.find(key); found != spaces_.end()) return found->second;
  if (spaces_.size() >= most_spaces) spaces_.clear();
  Space space(extent);
  switch (event.selection) {
    case CapturedEvent::Selection::all:
      break;
    case CapturedEvent::Selection::nothing:
      space.select_none();
      break;
    case CapturedEvent::Selection::box: {
      BoxArray box;
      box.rank = event.counts.size();
      box.count = 1;
      box.starts.assign(box.rank, 0);
      box.counts.assign(event.counts.begin(), event.counts.end());
      space = selected(box, event.origin, extent, is_by_points(event, 1));
      break;
    }
    case CapturedEvent::Selection::list:
      space = selected(rank_.lists.get(event.list), event.origin, extent, is_by_points(event, 1));
  }
  return spaces_[std::move(key)] = std::move(space);
}

Extent Hdf5Replay::bytes_of_elements(const CapturedEvent& event, const Space& in_file) const {
  const Extent extent = in_file.extent();
  if (extent.size() <= rank_.definition(event.dataset).at("extent").size()) return {};
  return {extent.back()};
}

Space Hdf5Replay::memory_space(const CapturedEvent& event, const Space& in_file) const {
  const Extent bytes = bytes_of_elements(event, in_file);
  if (event.memory) {
    const auto boxes = rank_.lists.get(*event.memory);
    Extent extent(boxes.extent.begin(), boxes.extent.end());
    extent.insert(extent.end(), bytes.begin(), bytes.end());
    return selected(boxes, boxes.origin, extent, is_by_points(event, 2));
  }
  // Dense, in the shape that capture takes for the natural one.
  Extent shape{in_file.selected()};
  if (event.selection == CapturedEvent::Selection::all) {
    shape = in_file.extent();
  } else if (event.selection == CapturedEvent::Selection::box && !is_by_points(event, 1)) {
    shape.assign(event.counts.begin(), event.counts.end());
    shape.insert(shape.end(), bytes.begin(), bytes.end());
  } else if (event.selection == CapturedEvent::Selection::list && !is_by_points(event, 1)) {
    const auto boxes = rank_.lists.get(event.list);
    if (has_one_box(boxes)) {
      shape.clear();
      const auto slab = slab_of(boxes, 0, {});
      for (std::size_t d = 0; d < boxes.rank; ++d) shape.push_back(slab.count[d] * slab.block[d]);
      shape.insert(shape.end(), bytes.begin(), bytes.end());
    }
  } else if (event.selection == CapturedEvent::Selection::nothing) {
    Space none(Extent{1});
    none.select_none();
    return none;
  }
  return Space(shape);
}

void Hdf5Replay::move(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) {
  const auto count = parts.size();
  const bool writes = has_flag(parts[0], capture::writes);
  std::vector<hid_t> ids, types, files, memories;
  std::vector<Handle> own_types;
  std::vector<Space> spaces, in_files;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  static std::byte none[1];  // HDF5 wants an address where nothing moves
  for (std::size_t i = 0; i < count; ++i) {
    const auto& event = parts[i];
    const auto id = dataset(event);
    own_types.push_back(own(H5Dget_type(id), H5Tclose, "H5Dget_type", name(event)));
    const auto whole = own(H5Dget_space(id), H5Sclose, "H5Dget_space", name(event));
    if (H5Sget_simple_extent_type(whole.get()) == H5S_NULL) {
      ids.push_back(id);
      types.push_back(own_types.back().get());
      files.push_back(H5S_ALL);
      memories.push_back(H5S_ALL);
      sources.push_back(none);
      targets.push_back(none);
      continue;
    }
    const auto& in_file = file_space(event, extent_of(id, name(event)));
    spaces.push_back(memory_space(event, in_file));
    in_files.emplace_back(own(H5Scopy(in_file.get()), H5Sclose, "H5Scopy", name(event)));
    ids.push_back(id);
    types.push_back(own_types.back().get());
    files.push_back(in_files.back().get());
    memories.push_back(spaces.back().get());
    auto* const address = memory[i] == nullptr ? none : memory[i];
    sources.push_back(address);
    targets.push_back(address);
  }
  const auto list = transfer_list(parts[0]);
  const auto called = name(parts[0]);
  if (count > 1) {
    check(writes ? H5Dwrite_multi(count, ids.data(), types.data(), memories.data(), files.data(),
                                  list, sources.data())
                 : H5Dread_multi(count, ids.data(), types.data(), memories.data(), files.data(),
                                 list, targets.data()),
          writes ? "H5Dwrite_multi" : "H5Dread_multi", called);
  } else {
    check(writes ? H5Dwrite(ids[0], types[0], memories[0], files[0], list, sources[0])
                 : H5Dread(ids[0], types[0], memories[0], files[0], list, targets[0]),
          writes ? "H5Dwrite" : "H5Dread", called);
  }
}

void Hdf5Replay::make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) {
  const auto& event = parts.front();
  const std::string call = rank_.definition(event.call).at("name");
  path_ = context_.path_of(event.file);
  if (call == "H5Fcreate") return create_or_open(event, true);
  if (call.starts_with("H5Fopen")) return create_or_open(event, false);
  if (call == "H5Freopen") {
    auto reopened = own(H5Freopen(file(event)), H5Fclose, "H5Freopen", path_);
    files_[event.file].push_back(std::move(reopened));
  } else if (call == "H5Fflush" || call == "H5Oflush") {
    check(H5Fflush(file(event), H5F_SCOPE_GLOBAL), "H5Fflush", path_);
  } else if (call == "H5Fclose") {
    std::erase_if(attributes_,
                  [&](const auto& entry) { return entry.first.first.first == event.file; });
    auto& handles = opened(files_, event.file);
    check(H5Fclose(handles.back().release()), "H5Fclose", path_);
    handles.pop_back();
    if (handles.empty()) files_.erase(event.file);
  } else if (call == "H5Dcreate") {
    create_dataset(event);
  } else if (call == "H5Dopen") {
    open_dataset(event);
  } else if (call == "H5Dclose") {
    close_last(datasets_[{event.file, name(event)}]);
  } else if (call == "H5Dset_extent") {
    const std::vector<hsize_t> extent(event.arguments.begin(), event.arguments.end());
    check(H5Dset_extent(dataset(event), extent.data()), "H5Dset_extent", name(event));
  } else if (call == "H5Dflush") {
    check(H5Dflush(dataset(event)), "H5Dflush", name(event));
  } else if (call == "H5Drefresh") {
    check(H5Drefresh(dataset(event)), "H5Drefresh", name(event));
  } else if (call == "H5Gcreate" && event.details != CapturedEvent::none) {
    const std::string group = rank_.definition(event.details).value("name", "");
    if (group.empty()) return;
    const auto links = own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate", group);
    check(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group",
          group);
    own(H5Gcreate2(file(event), group.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
        "H5Gcreate", group);
  } else if (call == "H5Acreate") {
    create_attribute(event);
  } else if (call == "H5Awrite" || call == "H5Aread") {
    move_attribute(event, call == "H5Awrite");
  } else if (event.moves()) {
    move(parts, memory);
  }
}

void Hdf5Replay::sync() {
  for (const auto& [opening, handles] : files_) {
    path_ = context_.path_of(opening);
    for (const auto& handle : handles) {
      check(H5Fflush(handle.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_);
    }
  }
}

void Hdf5Replay::end() {
  attributes_.clear();
  datasets_.clear();
  for (auto& [opening, handles] : files_) {
    path_ = context_.path_of(opening);
    for (auto& handle : handles) check(H5Fclose(handle.release()), "H5Fclose", path_);
  }
  files_.clear();
}

/// What of a rank's calls on files that it writes cannot be made again.
class Refusal {
 public:
  explicit Refusal(const CapturedRun& run) : run_(run) { hdf5::silence(); }

  std::optional<std::string> find() {
    CapturedWalk walk = run_.walk(*run_.recorded_rank);
    const std::set<std::uint64_t> files(run_.files.begin(), run_.files.end());
    for (std::uint64_t i = 0; i < walk.rank().part->definitions.size(); ++i)
      cuts_ = cuts_ || walk.rank().definition(i).value("name", "") == "H5Dset_extent";
    while (walk.next()) {
      if (has_flag(walk.event(), capture::failed) || !files.contains(walk.path())) continue;
      if (auto reason = reason_against_opening(walk)) return reason;
      if (walk.event().dataset == CapturedEvent::none) continue;
      if (auto reason = reason_against(walk)) return reason;
    }
    return std::nullopt;
  }

 private:
  /// What a rank opens by itself must be there by then.
  std::optional<std::string> reason_against_opening(const CapturedWalk& walk) {
    const std::string& call = call_name(walk.rank(), walk.event().call);
    if (call != "H5Fcreate" && !call.starts_with("H5Fopen")) return std::nullopt;
    const bool is_alone = walk.rank().file(walk.event().file).value("ranks", std::uint64_t{1}) == 1;
    if (call == "H5Fcreate" || !is_alone || !run_.shared_paths.contains(walk.path())) {
      there_.insert(walk.path());
    }
    if (there_.contains(walk.path())) return std::nullopt;
    return fmt::format(
        "rank {} opened '{}' by itself, which another one had made, and nothing says when",
        *run_.recorded_rank, run_.paths.all()[walk.path()].name);
  }

  std::optional<std::string> reason_against(const CapturedWalk& walk) {
    const RankReader& rank = walk.rank();
    const std::uint64_t number = walk.event().dataset;
    const std::string& call = call_name(rank, walk.event().call);
    const nlohmann::json& described = rank.definition(number);
    if (cuts_) {
      if (auto reason = reason_against_cutting(walk, described)) return reason;
    }
    if (walk.event().moves()) {
      if (!moved_.insert(number).second || !has_addresses(type_of(described).get()))
        return std::nullopt;
      return fmt::format("the elements of dataset '{}' are of variable length or references, {}",
                         described.value("name", ""), "and what they lead to is not recorded");
    }
    const std::string name = described.value("name", "");
    if (call == "H5Dcreate") {
      made_.emplace(walk.path(), name);
      const Handle creation = list_of(code_of(described, "creation"), H5P_DATASET_CREATE);
      if (H5Pget_external_count(creation.get()) <= 0 &&
          H5Pget_layout(creation.get()) != H5D_VIRTUAL) {
        return std::nullopt;
      }
      // The program may have files of its own there, and the same calls would write to these.
      return fmt::format("the elements of dataset '{}' lie in files that the program names {}",
                         name, "(H5Pset_external, H5Pset_virtual)");
    }
    if (call != "H5Dopen" || is_made(walk.path(), name)) return std::nullopt;
    return fmt::format("the program opened dataset '{}', which it did not make under that name: {}",
                       name, "a pattern has no links, copies and renames");
  }

  /// What was written and then cut off by H5Dset_extent cannot be read back.
  std::optional<std::string> reason_against_cutting(const CapturedWalk& walk,
                                                    const nlohmann::json& described) {
    const CapturedEvent& event = walk.event();
    const std::string name = described.value("name", "");
    const auto [place, is_new] = written_.try_emplace({walk.path(), name});
    Written& written = place->second;
    if (is_new) {
      written.extent = described.at("extent").get<std::vector<std::int64_t>>();
      written.ends.resize(written.extent.size());
    }
    if (call_name(walk.rank(), event.call) == "H5Dset_extent") {
      written.extent = event.arguments;
      for (std::size_t d = 0; d < std::min(written.ends.size(), written.extent.size()); ++d) {
        if (written.ends[d] <= written.extent[d]) continue;
        return fmt::format("the program wrote elements of dataset '{}' and cut them off afterwards",
                           name);
      }
    }
    if (has_flag(event, capture::writes)) note_ends(event, walk.rank().lists, written);
    return std::nullopt;
  }

  struct Written {
    std::vector<std::int64_t> extent, ends;  ///< as it is now; of what the rank has written
  };

  static void note_ends(const CapturedEvent& event, const BoxLists& lists, Written& written) {
    const auto note = [&](std::size_t d, std::int64_t end) {
      if (d < written.ends.size()) written.ends[d] = std::max(written.ends[d], end);
    };
    if (event.selection == CapturedEvent::Selection::all) {
      for (std::size_t d = 0; d < written.extent.size(); ++d) note(d, written.extent[d]);
    } else if (event.selection == CapturedEvent::Selection::box) {
      for (std::size_t d = 0; d < event.rank; ++d)
        note(d, event.origin[d] + static_cast<std::int64_t>(event.counts[d]));
    } else if (event.selection == CapturedEvent::Selection::list) {
      const BoxArray boxes = lists.get(event.list);
      for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
        const auto d = k % boxes.rank;
        const std::int64_t stride = boxes.strides.empty() ? 1 : boxes.strides[k];
        const std::int64_t block = boxes.blocks.empty() ? 1 : boxes.blocks[k];
        note(d, event.origin[d] + boxes.starts[k] + (boxes.counts[k] - 1) * stride + block);
      }
    }
  }

  /// By this rank, or by another one in a file that ranks open each for itself.
  bool is_made(std::uint64_t path, const std::string& name) {
    if (made_.contains({path, name})) return true;
    const bool makes_all =
        !run_.shared_paths.contains(path) ||
        run_.paths.all()[path].ranks == std::set<std::uint64_t>{run_.file.ranks()};
    if (makes_all) return false;
    if (!std::exchange(knows_others_, true)) {
      for (std::uint64_t rank = 0; rank < run_.file.ranks(); ++rank) add_made_by(rank);
    }
    return made_by_any_.contains({path, name});
  }

  void add_made_by(std::uint64_t rank) {
    CapturedWalk walk = run_.walk(rank);
    while (walk.next()) {
      const CapturedEvent& event = walk.event();
      if (event.dataset == CapturedEvent::none || has_flag(event, capture::failed)) continue;
      if (walk.rank().definition(event.call).value("name", "") != "H5Dcreate") continue;
      made_by_any_.emplace(walk.path(), walk.rank().definition(event.dataset).value("name", ""));
    }
  }

  const std::string& call_name(const RankReader& rank, std::uint64_t call) {
    const auto [place, is_new] = calls_.try_emplace(call);
    if (is_new) place->second = rank.definition(call).value("name", "");
    return place->second;
  }

  const CapturedRun& run_;
  std::set<std::uint64_t> there_;                         ///< paths that this rank found or made
  std::map<std::uint64_t, std::string> calls_;            ///< names, by the rank's number
  std::set<std::uint64_t> moved_;                         ///< datasets, by the rank's number
  std::set<std::pair<std::uint64_t, std::string>> made_;  ///< names of datasets, by path
  std::set<std::pair<std::uint64_t, std::string>> made_by_any_;  ///< the same, of all ranks
  bool knows_others_ = false;
  bool cuts_ = false;                                                 ///< it calls H5Dset_extent
  std::map<std::pair<std::uint64_t, std::string>, Written> written_;  ///< by path and dataset
};

std::optional<std::string> reason_against(const CapturedRun& run) {
  // What a program has read is made by another method, of elements without addresses.
  if (run.direction != capture::writes) return std::nullopt;
  return Refusal(run).find();
}

}  // namespace

MethodInfo as_captured_hdf5_method() {
  return as_captured_info("hdf5", FileFormat::hdf5, "hdf5-slab", make_replay<Hdf5Replay>,
                          reason_against);
}

}  // namespace slabmark
