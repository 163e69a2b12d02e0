#include "accel/hdf5_connector/connector/tracked_file.hpp"

#include <H5VLconnector_passthru.h>
#include <algorithm>
#include <utility>

#include <H5VLconnector.h>
#include <H5VLnative.h>

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

std::map<unsigned long, std::weak_ptr<TrackedFile>>& tracked_files() {
  static auto& all = *new std::map<unsigned long, std::weak_ptr<TrackedFile>>;
  return all;
}

std::shared_ptr<TrackedFile> tracked_file(unsigned long number) {
  const auto found = tracked_files().find(number);
  return found == tracked_files().end() ? nullptr : found->second.lock();
}

// In the order in which the files were opened, which is that of all ranks.
std::vector<std::shared_ptr<TrackedFile>> mounted_together(
    const std::shared_ptr<TrackedFile>& tracked) {
  std::vector<std::shared_ptr<TrackedFile>> together;
  if (!tracked) return together;
  const auto top_of = [](std::shared_ptr<TrackedFile> one) {
    while (auto parent = one->mounted_in.lock()) one = std::move(parent);
    return one;
  };
  for (const auto& [number, weak] : tracked_files()) {
    auto open = weak.lock();
    if (!open || open->objects.empty() || top_of(open) != top_of(tracked)) continue;
    together.push_back(std::move(open));
  }
  return together;
}

// By its token, since the name of an object in a mounted file begins in the parent's file. A file
// of which nothing else is open was just opened, and is not mounted.
void TrackedFile::open_group(const Object& object) {
  if (canonical != nullptr && object.type == H5I_FILE) {
    root_ = basic_info(object.under, self(object.type), object.connector).value().token;
  }
  if (canonical != nullptr || group_ != nullptr) return;
  auto place = named(object.type, log_group.c_str());
  if (token_ && object.type != H5I_FILE) {
    place.type = H5VL_OBJECT_BY_TOKEN;
    place.loc_data.loc_by_token.token = &*token_;
  }
  H5I_type_t type = H5I_BADID;
  group_ = H5VLobject_open(object.under, &place, object.connector, &type, H5P_DATASET_XFER_DEFAULT,
                           nullptr);
  if (group_ == nullptr) hdf5::fail("H5Oopen", log_group);
  if (token_) return;
  token_ = basic_info(group_, self(H5I_GROUP), H5VL_NATIVE).value().token;
  root_ = basic_info(object.under, self(object.type), object.connector).value().token;
}

void TrackedFile::attempt(void (DataFile::*flush)(const Location&)) {
  try {
    (file.get()->*flush)(location());
    failure.clear();
  } catch (const std::exception& error) {
    failure = error.what();
    throw;
  }
}

void TrackedFile::close_group() {
  if (group_ == nullptr) return;
  H5VLgroup_close(std::exchange(group_, nullptr), H5VL_NATIVE, H5P_DATASET_XFER_DEFAULT, nullptr);
}

Location TrackedFile::location() const {
  if (group_ != nullptr) return {group_, H5I_GROUP, H5VL_NATIVE};
  if (objects.empty()) return {};
  const auto& object = any_object();
  return {object.under, object.type, object.connector};
}

// Preferably one that is found through its token.
const Object& TrackedFile::any_object() const {
  const auto last_choice = [](const Object* object) {
    return std::pair(is_file_of_hdf5(*object), object->type == H5I_FILE);
  };
  const Object* best = *objects.begin();
  for (const Object* const object : objects) {  // mostly the first: nothing asks all of many
    if (last_choice(object) < last_choice(best)) best = object;
    if (last_choice(best) == std::pair(false, false)) break;
  }
  return *best;
}

bool TrackedFile::is_group(const H5O_token_t& token) const {
  return token_ && are_same(token, *token_);
}

bool TrackedFile::is_root(const H5O_token_t& token) const { return are_same(token, root_); }

// A file that was opened through an external link is an object of HDF5's own until HDF5 closes it.
bool TrackedFile::is_last(const Object& object) const {
  return std::none_of(objects.begin(), objects.end(), [&](const Object* other) {
    return other != &object && !is_file_of_hdf5(*other) &&
           (object.type != H5I_FILE || other->type == H5I_FILE);
  });
}

void show_all(const std::shared_ptr<TrackedFile>& tracked) {
  if (tracked && tracked->canonical && !tracked->canonical->is_parallel())
    tracked->file->flush(tracked->location());
}

void show_all_files() {
  for (const auto& [number, open] : tracked_files()) {
    const auto tracked = open.lock();
    if (tracked && !tracked->objects.empty()) show_all(tracked);
  }
}

}  // namespace slabmark::slablog
