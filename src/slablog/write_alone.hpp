#pragma once

#include <cstdint>

#include "slablog/reader.hpp"

namespace slabmark::slablog {

/// Writes what is pending of a dataset to its places in a file that only this process writes: the
/// dataset is contiguous from byte `address` on. Near elements go in one call, after what lies
/// between them was read.
void write_alone(ElementFiles& files, LogDataset& dataset, std::uint64_t address);

}  // namespace slabmark::slablog
