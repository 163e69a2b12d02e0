#pragma once

#include <algorithm>
#include <optional>

#include "accel/hdf5_connector/connector/closing.hpp"
#include "accel/hdf5_connector/connector/find_dataset.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"

namespace slabmark::slablog {

/// True if a file in the log layout is open.
inline bool holds_log(bool only_parallel) {
  return std::any_of(tracked_files().begin(), tracked_files().end(), [&](const auto& one) {
    const auto open = one.second.lock();
    return open && open->log && (!only_parallel || open->file->is_parallel());
  });
}

/// Opens an object below with `open_below(type)`, which sets its type, and recognises a dataset.
/// A rank opens datasets of a log alone. It opens all others again once they are known: HDF5 may
/// give them space, and sources of the program's own virtual datasets may be in other files, which
/// all ranks must open. Null where there is no such object.
template <class Open>
void* open_object(const Object& parent, H5I_type_t& type, hid_t list, const Open& open_below) {
  void* opened = nullptr;
  const bool alone = holds_log(true);
  {
    std::optional<OpeningAlone> opening;
    if (alone) opening.emplace();
    if (auto* below = open_below(type)) opened = wrapped(below, parent, type);
  }
  if (opened == nullptr || type != H5I_DATASET) return opened;
  auto& found = as_object(opened);
  or_close(found, [&] { find_dataset(found, true); });
  if (!alone || found.dataset) return opened;
  H5VLdataset_close(found.under, found.connector, list, nullptr);
  found.under = open_below(type);
  if (found.under != nullptr) return opened;
  delete &found;
  return nullptr;
}

}  // namespace slabmark::slablog
