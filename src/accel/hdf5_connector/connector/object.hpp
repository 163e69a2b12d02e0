#pragma once

#include <H5VLconnector_passthru.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <H5VLconnector.h>
#include <H5VLnative.h>

#include "accel/hdf5_connector/canonical/canonical_file.hpp"
#include "accel/hdf5_connector/log/log_file.hpp"
#include "accel/hdf5_connector/refusal.hpp"
#include "accel/hdf5_connector/under.hpp"

namespace slabmark::slablog {

/// What this connector hands to HDF5 as "info": which connector is below, and the options.
struct Info {
  hid_t under = H5I_INVALID_HID;
  void* under_info = nullptr;
  Config config;
};

struct Object;
struct Mapping;
using Mappings = std::shared_ptr<const std::vector<Mapping>>;

/// What a program wants HDF5 to keep in memory of a file's elements.
struct WantedBuffers {
  std::size_t sieve_bytes = 0;
  std::size_t chunk_slots = 0, chunk_bytes = 0;
  double preemption = 0;
};

/// A file of either layout with the objects that are open in it. When the last of them is closed,
/// HDF5 closes the file, unless it is mounted or otherwise in use; when HDF5 has closed it, this
/// ends.
struct OpenLog {
  explicit OpenLog(std::unique_ptr<LogFile> of_log) : log(of_log.get()), file(std::move(of_log)) {}
  OpenLog(std::unique_ptr<CanonicalFile> of_canonical, const WantedBuffers& of_program)
      : canonical(of_canonical.get()), wanted(of_program), file(std::move(of_canonical)) {}

  LogFile* log = nullptr;              ///< the file, in the log layout
  CanonicalFile* canonical = nullptr;  ///< the file, in the canonical layout
  WantedBuffers wanted;                ///< of the canonical layout
  /// HDF5's. To ask for it copies the access list, and a communicator with that.
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  bool closing = false;  ///< HDF5 closes the file, maybe with what is open in it
  std::string failure;   ///< of the last flush; empty: there was none
  std::unique_ptr<DataFile> file;
  std::set<Object*> objects;
  std::weak_ptr<OpenLog> mounted_in;

  /// Collective: makes this flush, and keeps its failure.
  void attempt(void (DataFile::*flush)(const Location&));

  /// The log's group, which is open below as long as there are objects; else one of these.
  Location location() const;
  /// `object`: the first time a file that was just opened.
  void open_group(const Object& object);
  void close_group();
  /// Whether nothing of it, or no handle of the file, is open but this.
  bool is_last(const Object& object) const;
  const Object& any_object() const;
  /// Whether an object of the file is the log's group, or the root.
  bool is_group(const H5O_token_t& token) const;
  bool is_root(const H5O_token_t& token) const;
  const H5O_token_t& root() const { return root_; }

 private:
  void* group_ = nullptr;
  std::optional<H5O_token_t> token_;  ///< of the group
  H5O_token_t root_{};
};

/// What HDF5 holds of ours: the object below, and the log that it belongs to, if any.
struct Object {
  Object(void* object, hid_t connector, H5I_type_t object_type, std::shared_ptr<OpenLog> open_log);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void join(std::shared_ptr<OpenLog> open_log);
  /// It is closed below, or about to be given up.
  void leave_log();

  void* under;  ///< null where it could not be closed
  hid_t connector;
  H5I_type_t type;
  bool by_hdf5 = false;  ///< it was made by wrapping, and HDF5 may never close it
  std::shared_ptr<OpenLog> log;
  std::shared_ptr<LogDataset> dataset;  ///< of a dataset whose elements go past HDF5
  hdf5::Handle creation;                ///< as the user gave it, of a dataset made in this session
  Mappings mappings;                    ///< of a virtual dataset of the program's own
  bool is_closed_log = false;  ///< its elements are in the log of a file that is not open itself
};

/// `object` is a dataset in the log's layout, or in the canonical one.
inline bool is_logged(const Object& object) { return object.dataset && object.log->log; }
inline bool is_canonical(const Object& object) { return object.dataset && object.log->canonical; }

inline Object& as_object(void* object) { return *static_cast<Object*>(object); }

/// The log of the file that holds an object; it need not be that of the object it was reached from
/// (mounted files, external links). Null where the file has none.
std::shared_ptr<OpenLog> log_of(void* under, H5I_type_t type, hid_t connector);
/// An object in the file where what is made at `place` gets its `name`, which may lead into another
/// file; null: no name.
std::shared_ptr<Object> parent_of(Object& place, const char* name);
/// The log of the file where what is made at `place` with a name without further groups, or without
/// any, comes to lie: the root of a mounted file is that of the file it is mounted in.
std::shared_ptr<OpenLog> log_at(const Object& place, const char* name);

/// What a name leads to from an object; self() is the object itself.
H5VL_loc_params_t named(H5I_type_t type, const char* name);
/// Nothing where there is no such object.
std::optional<H5O_info2_t> basic_info(void* under, const H5VL_loc_params_t& place, hid_t connector);

/// HDF5's name of the file that an object below is in.
std::string file_name(void* under, H5I_type_t type, hid_t connector);
/// HDF5's own number of the file that an object below is in.
unsigned long file_number(void* under, H5I_type_t type, hid_t connector);
/// The open logs by that number.
std::map<unsigned long, std::weak_ptr<OpenLog>>& open_logs();
std::shared_ptr<OpenLog> log_of_file(unsigned long number);
/// The open logs of files that are mounted in each other, that of `log` among them; none for null.
std::vector<std::shared_ptr<OpenLog>> mounted_together(const std::shared_ptr<OpenLog>& log);

/// An object that came from below, reached from `parent`, or null for null.
void* wrapped(void* under, const Object& parent, H5I_type_t type);
/// The same where it is in the file of `parent`, which need not be asked then.
void* wrapped_beside(void* under, const Object& parent, H5I_type_t type);

/// What HDF5 has said of a call below that has failed, once keep() was called. It is put back when
/// this goes, since the calls in between, which only tidy up, clear it; so this must be the first
/// that was declared.
class KeptErrors {
 public:
  KeptErrors() = default;
  ~KeptErrors() {
    if (stack_ >= 0) H5Eset_current_stack(stack_);
  }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

  /// To be called once.
  void keep() { stack_ = H5Eget_current_stack(); }

 private:
  hid_t stack_ = H5I_INVALID_HID;
};

/// Puts an exception onto HDF5's error stack; exceptions must not go through HDF5.
void report(const char* callback);

/// The status of `body` as a callback returns it.
template <class Body>
herr_t guarded(const char* callback, const Body& body) {
  try {
    return body();
  } catch (...) {
    report(callback);
    return -1;
  }
}

template <class Body>
void* guarded_object(const char* callback, const Body& body) {
  try {
    return body();
  } catch (...) {
    report(callback);
    return nullptr;
  }
}

/// To be called before HDF5 looks at elements of a file that this process alone has open: puts what
/// is pending there into it. With several ranks HDF5 sees what was flushed.
void show_all(const Object& object);
/// The same for all files, where a call may lead into others: mounted ones, links, virtual
/// datasets.
void show_all_files();

/// Closes the object below with `close`. Where it is the last one, what is pending is flushed
/// before that, and the log ends after it. On failure the object stays if HDF5 below kept it.
herr_t close_object(void* object, herr_t (*close)(void*, hid_t, hid_t, void**), hid_t list);

/// To be called when an object of the log has gone: without any it ends as soon as HDF5 closes it.
void end_without_objects(const std::shared_ptr<OpenLog>& log);
/// Ends the logs without objects that HDF5 has closed by now: it kept them while they were mounted.
/// `well`: whether it said that it could. Throws IoError.
void end_closed_logs(bool well = true);

/// From now on what a program left open is closed before HDF5 ends, since the views cannot be made
/// any more while it does.
void close_all_at_exit();
/// The same before MPI ends, once it has begun: a program may use HDF5 before.
void close_all_before_mpi_ends();

/// While a file is being opened, HDF5 wraps it for itself, and does not say when it gives that up.
struct OpeningFile {
  OpeningFile() { ++count; }
  ~OpeningFile() { --count; }
  OpeningFile(const OpeningFile&) = delete;
  OpeningFile& operator=(const OpeningFile&) = delete;
  static inline int count = 0;
};

/// Recognises a dataset whose elements go past HDF5, and a virtual one of the program's own.
/// `owned`: what is below is closed by closing the object.
void find_dataset(Object& object, bool owned);
/// The same of one that was created with these.
void take_created_dataset(Object& object, hid_t type, hid_t space, hid_t creation);
/// Closes a dataset that was just opened or created where `act` throws: HDF5 closes no file in
/// which one is open.
void or_close(Object& dataset, const std::function<void()>& act);
/// Whether 63 bits number all bytes of a dataset, in whole chunks if it has such. HDF5 makes sparse
/// ones of more.
bool has_numbers_for_all(std::uint64_t element_bytes, const Extent& extent, const Extent& chunk);
/// Whether a dataset may go past HDF5.
bool belongs_into_log(hid_t type, hid_t space, hid_t creation);

/// The lists that were made for datasets are HDF5's, which ends and may begin again without them.
void forget_access_lists();

/// The numbers of our operations on datasets.
int write_n_operation();
int read_n_operation();

const H5VL_class_t& connector_class();

// The callbacks, by kind of object.
extern const H5VL_info_class_t info_callbacks;
extern const H5VL_wrap_class_t wrap_callbacks;
extern const H5VL_attr_class_t attribute_callbacks;
extern const H5VL_dataset_class_t dataset_callbacks;
extern const H5VL_datatype_class_t datatype_callbacks;
extern const H5VL_file_class_t file_callbacks;
extern const H5VL_group_class_t group_callbacks;
extern const H5VL_link_class_t link_callbacks;
extern const H5VL_object_class_t object_callbacks;
extern const H5VL_introspect_class_t introspect_callbacks;
extern const H5VL_blob_class_t blob_callbacks;
extern const H5VL_token_class_t token_callbacks;

}  // namespace slabmark::slablog
