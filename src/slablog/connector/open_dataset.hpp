#pragma once

#include "slablog/connector/object.hpp"
#include "slablog/journal/driver.hpp"

namespace slabmark::slablog {

/// Opens an object below with `open_below(type)`, which sets its type, and recognises a dataset.
/// Those of a log are opened by each rank alone; sources of the program's own virtual datasets may
/// be in other files, which all ranks must open. Null where there is no such object.
template <class Open>
void* open_object(const Object& parent, H5I_type_t& type, hid_t list, const Open& open_below) {
  void* opened = nullptr;
  {
    const OpeningAlone alone;
    auto* below = open_below(type);
    if (below != nullptr) opened = wrapped(below, parent, type);
  }
  if (opened == nullptr || type != H5I_DATASET) return opened;
  auto& found = as_object(opened);
  find_opened_dataset(found);
  if (!found.mappings || !found.log || !found.log->log || !found.log->file->is_parallel()) {
    return opened;
  }
  H5VLdataset_close(found.under, found.connector, list, nullptr);
  found.under = open_below(type);
  if (found.under != nullptr) return opened;
  delete &found;
  return nullptr;
}

}  // namespace slabmark::slablog
