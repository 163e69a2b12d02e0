#pragma once

#include <functional>
#include <memory>

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

/// Closes the object below with `close`. Where it is the last one, what is pending is flushed
/// before that, and the file is tracked no more. On failure the object stays if HDF5 below kept it.
herr_t close_object(void* object, herr_t (*close)(void*, hid_t, hid_t, void**), hid_t list);

/// To be called when an object of the file has gone: without any it ends as soon as HDF5 closes it.
void end_without_objects(const std::shared_ptr<TrackedFile>& tracked);
/// Ends the files without objects that HDF5 has closed by now: it kept them while they were
/// mounted. `well`: whether it said that it could. Throws IoError.
void end_closed_files(bool well = true);

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

/// Closes a dataset that was just opened or created where `act` throws: HDF5 closes no file in
/// which one is open.
void or_close(Object& dataset, const std::function<void()>& act);

}  // namespace slabmark::slablog
