#include "capture/replay/replay.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/format/event_flags.hpp"
#include "capture/replay/hdf5/coded.hpp"
#include "capture/replay/hdf5/selections.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::own;
using hdf5::Space;
using hdf5_coded::code_of;
using hdf5_coded::list_of;
using hdf5_coded::space_of;
using hdf5_coded::type_of;

Extent extent_of(hid_t dataset, const std::string& name) {
  return Space(own(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name)).extent();
}

void close_last(std::vector<Handle>& handles) {
  if (!handles.empty()) handles.pop_back();
}

/// True if the pattern's calls have made that object; a committed type, say, they have not.
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
        links_(own(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate", "")),
        selections_(context.rank) {
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
  hid_t type(const Json& described);
  hid_t dataset_creation(const Json& described);
  hid_t transfer_list(const CapturedEvent& event);
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
  Hdf5Selections selections_;
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
    const auto hints = hints_of(described, context_.hints);
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
  const auto owned_by =
      is_of_dataset ? name(event) : described.value("object", Json::object()).value("name", "");
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
hid_t Hdf5Replay::type(const Json& described) {
  const auto code = code_of(described, "type");
  auto& handle = types_[code.empty() ? described.at("type").dump() : code];
  if (!handle.is_open()) handle = type_of(described);
  return handle.get();
}

// H5Dcreate takes half as long again for a list that is equal to the default than for the default.
hid_t Hdf5Replay::dataset_creation(const Json& described) {
  const auto code = code_of(described, "creation");
  const auto [place, is_new] = creations_.try_emplace(code);
  Handle& list = place->second;
  if (is_new) {
    list = list_of(code, H5P_DATASET_CREATE);
    if (H5Pequal(list.get(), H5P_DATASET_CREATE_DEFAULT) > 0) list = {};
  }
  return list.is_open() ? list.get() : H5P_DEFAULT;
}

hid_t Hdf5Replay::transfer_list(const CapturedEvent& event) {
  const bool together = event.has(capture::collective);
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

void Hdf5Replay::move(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) {
  const auto count = parts.size();
  const bool writes = parts[0].has(capture::writes);
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
    const auto& in_file = selections_.in_file(event, extent_of(id, name(event)));
    spaces.push_back(selections_.in_memory(event, in_file));
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
  const std::string& call = rank_.call(event.call).name;
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

}  // namespace

std::unique_ptr<Replay> make_hdf5_replay(const Replay::Context& context) {
  return std::make_unique<Hdf5Replay>(context);
}

}  // namespace slabmark
