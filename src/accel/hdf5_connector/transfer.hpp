#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "accel/hdf5_connector/log/data_file.hpp"

namespace slabmark::slablog {

/// The elements of `n` boxes, which lie in memory one box after another. Throws Refusal where a box
/// leaves the dataset.
Elements boxes(const LogDataset& dataset, std::size_t n, const hsize_t* const* starts,
               const hsize_t* const* counts);

/// How elements go between a dataset of `file` and the memory of a caller.
struct Transfer {
  DataFile& file;
  LogDataset& dataset;
  hid_t memory_type;
  hid_t list;
};

/// Into the file's buffer.
void write_elements(const Transfer& transfer, const Elements& elements, const void* data);
/// Reads what this rank wrote itself, else what was flushed, else the fill value.
void read_elements(const Transfer& transfer, const Elements& elements, void* data);
/// The same, where `read` brings the elements to a place, as the file has them and one after
/// another as they lie in the dataset. It is not called where the rank reads nothing.
void read_elements(const Transfer& transfer, const Elements& elements, void* data,
                   const std::function<void(std::byte* place)>& read);
/// Returns what the program has in memory for elements that are pending, before HDF5 reads them.
/// Where HDF5 has no space for an element yet it fills all of that, also members that the file does
/// not have.
std::vector<std::byte> kept_of_pending(const Transfer& transfer, const Elements& elements,
                                       const void* data);
/// Reads only what this rank wrote itself and has pending, over what HDF5 has read already, or if
/// it is not empty, over what was kept.
void read_pending(const Transfer& transfer, const Elements& elements, void* data,
                  const std::vector<std::byte>& kept);

/// Consecutive elements of two lists of as many, in which the n-th of one stands for the n-th of
/// the other: offsets of the first, positions of the second.
LogRuns paired(const RunList& offsets, const RunList& positions);

}  // namespace slabmark::slablog
