#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

/// True if the view of a dataset shows all that the log holds of it after so many flushes.
bool is_current(const Location& location, const LogDataset& dataset, std::uint64_t flushes);

/// A creation list with the fill value of a dataset. Zeros are HDF5's own: not set, as a file holds
/// no value of 64 KiB and more.
hdf5::Handle creation_list(const LogDataset& dataset, const std::string& name);

/// Makes what is called new_view_name() the view, which is current then. So one that can be seen is
/// complete, and the one before it stays until then.
void publish_view(const Location& location, const LogDataset& dataset, std::uint64_t flushes);

/// Makes the views of datasets virtual datasets whose mappings lead to the segments of the log, so
/// that any HDF5 program reads them.
class VirtualViews {
 public:
  /// `file` is that of `location`, open in this process alone and without the connector, and must
  /// stay so.
  VirtualViews(hid_t file, const Location& location, std::uint64_t flushes)
      : file_(file), location_(location), flushes_(flushes) {}

  void write(LogDataset& dataset);

 private:
  struct Mapping {
    std::optional<std::uint64_t> flush;  ///< that wrote these elements; none: nobody did
    hdf5::Space to;
    hdf5::Space from;  ///< in the segment
  };
  struct Known {
    LogDataset::Writes writes;
    std::vector<Mapping> mappings;
  };

  void map_all(const hdf5::Handle& list, LogDataset& dataset);
  void keep(Known known);

  hid_t file_;
  Location location_;
  std::uint64_t flushes_;
  /// Of the last views. The variables of a program share few maps, and it takes long to unite
  /// hyperslabs.
  std::deque<Known> known_;
  std::uint64_t kept_hyperslabs_ = 0;
};

}  // namespace slabmark::slablog
