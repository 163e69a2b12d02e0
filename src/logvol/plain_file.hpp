#pragma once

#include <string>

#include <hdf5.h>

#include "logvol/under.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::logvol {

/// A file as HDF5 itself sees it, without this connector, whatever the environment names; open in
/// this process alone. The calls below the connector (under.hpp) work on it, too.
class PlainFile {
 public:
  PlainFile(const std::string& path, unsigned flags);  ///< as H5Fopen; throws IoError
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  hid_t get() const { return file_.get(); }
  Location location() const;
  /// Puts all into the file that was changed so far. Throws IoError.
  void flush();
  /// Reports what the destructor would have to keep silent about.
  void close();

 private:
  hdf5::Handle file_;
  void* context_ = nullptr;
};

/// Throws InputError if the file has no log.
void check_has_log(const PlainFile& file, const std::string& path);

}  // namespace slabmark::logvol
