#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "accel/hdf5_connector/canonical/canonical_dataset.hpp"

namespace slabmark::slablog {

/// The datasets of one open file that go past HDF5, by number. Each is open below the connector
/// until nobody needs it.
class OpenDatasets {
 public:
  /// `path`: of the file. Where it `is_parallel` no rank may give a dataset up before the others,
  /// or what deleting it frees would be in use on some.
  OpenDatasets(std::string path, bool is_parallel)
      : path_(std::move(path)), is_parallel_(is_parallel) {}

  /// Null where the dataset stays HDF5's own.
  std::shared_ptr<CanonicalDataset> take(const OpenedDataset& opened, bool may_be_fresh);
  /// The dataset of that number, which only other ranks may have open.
  CanonicalDataset& find(const Location& file, std::uint64_t number, bool may_be_fresh);

  /// An object that take() returned the dataset for does without it; closes `under`, which is that
  /// object's, and what is below where nobody needs it any more and it `may_go`.
  herr_t close(CanonicalDataset& dataset, void* under, hid_t list, bool may_go);
  /// Closes what no object stands for, and what nothing is pending of.
  void release();

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::string path_;
  bool is_parallel_;
  std::map<std::uint64_t, std::shared_ptr<CanonicalDataset>> all_;
};

}  // namespace slabmark::slablog
