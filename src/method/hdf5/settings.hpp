#pragma once

#include <optional>
#include <string>
#include <vector>

#include "method/hdf5/chunk.hpp"
#include "method/method.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

/// What the options on how a file is opened say. Throws InputError.
hdf5::AccessSettings hdf5_access_settings(const Settings& settings);

/// The option hdf5.libver.
OptionInfo hdf5_libver_option();

/// The options of all HDF5 methods.
std::vector<OptionInfo> hdf5_options();

/// What the options say.
struct Hdf5Setup {
  /// Throws InputError for a value that an option does not take.
  explicit Hdf5Setup(const Settings& settings);

  hdf5::AccessSettings access;
  hdf5::CreationSettings creation;  ///< but for the chunk, which depends on the dataset
  Hdf5Chunks chunks;
  bool collective;
  bool fixed_time;  ///< datasets get all their time steps when they are defined; else they grow
  bool precreate;   ///< rank 0 alone makes the file with its datasets, before all ranks open it
};

/// Why the options cannot be met: a filter that is missing, options that exclude each other.
std::optional<std::string> hdf5_unmet(const Settings& settings);

/// "v110", as the option hdf5.libver calls it.
std::string hdf5_version_name(H5F_libver_t bound);

}  // namespace slabmark
