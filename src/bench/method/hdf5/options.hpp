#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/method/hdf5/chunk.hpp"
#include "bench/method/options.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

/// The settings of an HDF5 method: how files and datasets are made, but for the chunk, which
/// depends on the dataset.
struct Hdf5Options : hdf5::AccessSettings, hdf5::CreationSettings {
  Hdf5Chunks chunks;
  std::uint64_t time_chunk = 1;  ///< time steps that a chunk holds
  bool collective = true;
  bool fixed_time =
      false;  ///< datasets get all their time steps when they are defined; else they grow
  bool precreate =
      false;            ///< rank 0 alone makes the file with its datasets, before all ranks open it
  bool logged = false;  ///< the file goes through the log-layout connector
  std::string log_view = "vds";
};

/// The kind of value for a filter: its number, and the values that it takes.
struct FilterText {
  std::string accepted_values() const {
    return "none, or a filter's number and the values that it takes, such as 32015:3";
  }
  std::string text(const hdf5::Filter& filter) const;
  hdf5::Filter parse(const std::string& text, const std::string& what) const;
};

/// The options of HDF5 methods, and those of them that say how chunks are filtered.
OptionTable<Hdf5Options> hdf5_options();
std::vector<std::string> filter_options();

/// The consequences of the options for the others: bounds of versions, the connector.
Hdf5Options completed(Hdf5Options options);

/// Why files cannot go through the log-layout connector: its plugin is not there. Empty: they can.
std::string missing_connector();

/// Why the options cannot be met: a filter that is missing, options that exclude each other.
std::optional<std::string> hdf5_unmet(const Hdf5Options& options);

/// "v110", as the option hdf5.libver calls it.
std::string hdf5_version_name(H5F_libver_t bound);

}  // namespace slabmark
