#pragma once

#include <memory>
#include <set>

#include "accel/hdf5_connector/connector/guarded.hpp"
#include "accel/hdf5_connector/connector/inquire.hpp"
#include "accel/hdf5_connector/connector/tracked_file.hpp"
#include "accel/hdf5_connector/refusal.hpp"

namespace slabmark::slablog {

struct Mapping;
using Mappings = std::shared_ptr<const std::vector<Mapping>>;

/// The object that HDF5 holds for the connector: the object below, and the file that it is in, if
/// the connector keeps elements of that.
struct Object {
  Object(void* object, hid_t connector, H5I_type_t object_type,
         std::shared_ptr<TrackedFile> of_file);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void join(std::shared_ptr<TrackedFile> of_file);
  /// It is closed below, or about to be given up.
  void leave_file();

  void* under;  ///< null where it could not be closed
  hid_t connector;
  H5I_type_t type;
  bool by_hdf5 = false;                  ///< it was made by wrapping, and HDF5 may never close it
  std::shared_ptr<TrackedFile> tracked;  ///< the file, if the connector keeps elements of it
  std::shared_ptr<LogDataset> dataset;   ///< of a dataset whose elements go past HDF5
  hdf5::Handle creation;                 ///< as the user gave it, of a dataset made in this session
  Mappings mappings;                     ///< of a virtual dataset of the program's own
  bool is_closed_log = false;  ///< its elements are in the log of a file that is not open itself
};

/// `object` is a dataset in the log's layout, or in the canonical one.
inline bool is_logged(const Object& object) { return object.dataset && object.tracked->log; }
inline bool is_canonical(const Object& object) {
  return object.dataset && object.tracked->canonical;
}
/// The dataset in the canonical layout; null: it is not.
inline CanonicalDataset* canonical_of(const Object& object) {
  return is_canonical(object) ? &as_canonical(*object.dataset) : nullptr;
}

/// HDF5 opened the file for itself, through an external link: it may never close it by us.
inline bool is_file_of_hdf5(const Object& object) {
  return object.type == H5I_FILE && object.by_hdf5;
}

inline Object& as_object(void* object) { return *static_cast<Object*>(object); }

/// The file that holds an object; it need not be that of the object it was reached from
/// (mounted files, external links). Null where the connector keeps no elements of it.
std::shared_ptr<TrackedFile> tracked_file_of(void* under, H5I_type_t type, hid_t connector);
/// An object in the file where what is made at `place` gets its `name`, which may lead into another
/// file; null: no name.
std::shared_ptr<Object> parent_of(Object& place, const char* name);
/// The file where what is made at `place` with a name without further groups, or without
/// any, comes to lie: the root of a mounted file is that of the file it is mounted in.
std::shared_ptr<TrackedFile> tracked_file_at(const Object& place, const char* name);

/// An object that came from below, reached from `parent`, or null for null.
void* wrapped(void* under, const Object& parent, H5I_type_t type);
/// The same where it is in the file of `parent`, which need not be asked then.
void* wrapped_beside(void* under, const Object& parent, H5I_type_t type);

/// All objects that HDF5 holds for the connector.
const std::set<Object*>& all_objects();

}  // namespace slabmark::slablog
