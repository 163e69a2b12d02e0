#pragma once

#include <map>
#include <string>

#include <hdf5.h>

namespace slabmark::slablog {

/// The objects of one file that are in another, too, under the same path: how references and
/// further links find them there.
class ObjectMap {
 public:
  /// Null if the object of `token` was not copied.
  const std::string* path(const H5O_token_t& token) const;
  /// The same of the object that is open as `object`.
  const std::string* path_of(hid_t object) const;
  void add(const H5O_token_t& token, const std::string& path);

 private:
  std::map<std::string, std::string> paths_;  ///< by the bytes of the token
};

/// Identifies an object within its file. Throws IoError.
H5O_token_t token_of(hid_t object);

}  // namespace slabmark::slablog
