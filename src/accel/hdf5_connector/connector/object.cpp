#include "accel/hdf5_connector/connector/object.hpp"

#include <H5VLconnector_passthru.h>
#include <string>
#include <utility>

#include <H5VLconnector.h>

#include "accel/hdf5_connector/connector/closing.hpp"

namespace slabmark::slablog {

namespace {

// Never destroyed: HDF5 calls the connector also after static objects have ended.
std::set<Object*>& objects() {
  static auto& all = *new std::set<Object*>;
  return all;
}

}  // namespace

const std::set<Object*>& all_objects() { return objects(); }

Object::Object(void* object, hid_t below, H5I_type_t object_type,
               std::shared_ptr<TrackedFile> of_file)
    : under(object), connector(below), type(object_type) {
  if (of_file) join(std::move(of_file));
  H5Iinc_ref(connector);
  objects().insert(this);
}

void Object::join(std::shared_ptr<TrackedFile> of_file) {
  of_file->open_group(*this);
  tracked = std::move(of_file);
  tracked->objects.insert(this);
}

Object::~Object() {
  leave_file();
  objects().erase(this);
  H5Idec_ref(connector);
}

void Object::leave_file() {
  if (tracked) tracked->objects.erase(this);
  tracked.reset();
}

std::shared_ptr<TrackedFile> tracked_file_of(void* under, H5I_type_t type, hid_t connector) {
  if (tracked_files().empty()) return nullptr;
  const auto number = find_file_number(under, type, connector);
  return number ? tracked_file(*number) : nullptr;
}

std::shared_ptr<Object> parent_of(Object& place, const char* name) {
  std::string group(name == nullptr ? "" : name);
  for (;;) {
    const auto slash = group.find_last_of('/');
    if (slash == std::string::npos || slash == 0) return {&place, [](Object*) {}};
    group.resize(slash);
    // Groups that are still to be made are in the file of the last one that is there.
    const auto where = named(place.type, group.c_str());
    H5I_type_t type = H5I_BADID;
    void* found = nullptr;
    H5E_BEGIN_TRY {
      found = H5VLobject_open(place.under, &where, place.connector, &type, H5P_DATASET_XFER_DEFAULT,
                              nullptr);
    }
    H5E_END_TRY
    if (found == nullptr) continue;
    return {static_cast<Object*>(wrapped(found, place, type)), [](Object* opened) {
              const auto close = opened->type == H5I_GROUP     ? H5VLgroup_close
                                 : opened->type == H5I_DATASET ? H5VLdataset_close
                                                               : H5VLdatatype_close;
              close_object(opened, close, H5P_DATASET_XFER_DEFAULT);
            }};
  }
}

std::shared_ptr<TrackedFile> tracked_file_at(const Object& place, const char* name) {
  if (tracked_files().empty()) return nullptr;
  const bool from_root = name != nullptr && *name == '/';
  const auto info =
      basic_info(place.under, named(place.type, from_root ? "/" : "."), place.connector);
  return info ? tracked_file(info->fileno) : nullptr;
}

void* wrapped(void* under, const Object& parent, H5I_type_t type) {
  if (under == nullptr) return nullptr;
  return new Object(under, parent.connector, type, tracked_file_of(under, type, parent.connector));
}

void* wrapped_beside(void* under, const Object& parent, H5I_type_t type) {
  return under == nullptr ? nullptr : new Object(under, parent.connector, type, parent.tracked);
}

}  // namespace slabmark::slablog
