#pragma once

#include <cstdint>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// Where the elements of a transfer dataset lie.
enum class TransferStorage {
  contiguous,
  chunked,  ///< the dataset asks for chunks of one block
  /// 2-D only: for files that know no chunks, a 4-D dataset (chunk row, chunk column, row, column)
  /// whose row-major order is that of the chunks one after another. The buffer stays row-major, as
  /// an application has it, so where it is wider than a block its rows are cut at the chunks.
  emulated,
  /// The same, but the buffer is taken to hold the chunks one after another, as h5perf's own
  /// emulation took it: fewer and longer pieces than HDF5 can make of that selection.
  emulated_in_chunk_order,
};

/// The transfer requests of h5perf: equal parts of a dataset of bytes, moved one buffer a request.
/// Sizes are bytes; every one is at least 1.
struct TransferGeometry {
  /// Per process. A 1-D dataset has bytes * ranks elements; a 2-D one is a square of that side.
  std::uint64_t bytes = 256 * 1024;
  std::uint64_t block = 128 * 1024;   ///< 2-D: the side of a square
  std::uint64_t buffer = 256 * 1024;  ///< 2-D: block x buffer, interleaved buffer x block
  bool interleaved = false;
  bool two_dimensional = false;
  std::uint64_t datasets = 1;
  TransferStorage storage = TransferStorage::contiguous;
};

/// Throws InputError, which names the sizes and the remedy, if the requests would not divide the
/// dataset among `ranks`, or if it is too large for 63 bits.
void check(const TransferGeometry& geometry, std::uint64_t ranks);

/// Elements of one dataset.
std::uint64_t dataset_bytes(const TransferGeometry& geometry, std::uint64_t ranks);

/// Bytes that a rank moves in one request.
std::uint64_t request_bytes(const TransferGeometry& geometry);

/// Requests of a rank in one dataset.
std::uint64_t requests_per_dataset(const TransferGeometry& geometry, std::uint64_t ranks);

/// The part of `rank`: a round is one request to one dataset, the requests of "Dataset_1" first.
/// Which bytes that are follows the h5perf User Guide (HDF5 1.8.9), Figures 2 to 11:
///   - 1-D: a rank has `bytes` in one piece; interleaved, every ranks-th block.
///   - 2-D: a rank has a band of rows, which requests sweep from left to right and then down;
///     interleaved, every ranks-th column of blocks, where a request takes one column, `buffer`
///     rows high, and the next goes on to the right, then down.
/// Throws as check() does.
Pattern make_transfer_pattern(const TransferGeometry& geometry, std::uint64_t rank,
                              std::uint64_t ranks);

}  // namespace slabmark
