#include "capture/read/growing_dataset.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>
#if SLABMARK_WITH_ZLIB
#include <zlib.h>
#endif

#include "core/base/error.hpp"
#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr int level = 1;

hdf5::Handle creation_list(std::size_t number_bytes, const std::string& path) {
  const hsize_t chunk = chunk_bytes / number_bytes;
  auto list = hdf5::own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate", path);
  hdf5::check(H5Pset_chunk(list.get(), 1, &chunk), "H5Pset_chunk", path);
  // A deflate stream has a checksum of its own.
  if (hdf5::has_deflate()) {
    hdf5::check(H5Pset_deflate(list.get(), level), "H5Pset_deflate", path);
  } else {
    hdf5::check(H5Pset_fletcher32(list.get()), "H5Pset_fletcher32", path);
  }
  return list;
}

#if SLABMARK_WITH_ZLIB
constexpr bool has_zlib = true;

/// The chunk as HDF5's filter deflate makes it.
std::vector<std::byte> compressed(std::span<const std::byte> chunk) {
  uLongf bytes = compressBound(static_cast<uLong>(chunk.size()));
  std::vector<std::byte> out(bytes);
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &bytes,
                reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uLong>(chunk.size()),
                level) != Z_OK) {
    throw IoError("There is no memory to compress a part of the pattern; close other programs.");
  }
  out.resize(bytes);
  return out;
}
#else
constexpr bool has_zlib = false;

std::vector<std::byte> compressed(std::span<const std::byte>) { return {}; }
#endif

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Chunk by chunk, on all cores.
std::vector<std::vector<std::byte>> compress_chunks(std::span<const std::byte> bytes) {
  std::vector<std::vector<std::byte>> chunks(bytes.size() / chunk_bytes);
  const std::size_t workers = std::min(cores(), chunks.size());
  const auto work = [&](std::size_t worker) {
    for (std::size_t i = worker; i < chunks.size(); i += workers) {
      chunks[i] = compressed(bytes.subspan(i * chunk_bytes, chunk_bytes));
    }
  };
  // Where the system gives no thread, the work is done when its end is waited for.
  std::vector<std::future<void>> others;
  for (std::size_t worker = 1; worker < workers; ++worker) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, work, worker));
  }
  if (workers > 0) work(0);
  for (auto& other : others) other.get();
  return chunks;
}

}  // namespace

GrowingDataset::GrowingDataset(const hdf5::Handle& file, const char* name, std::string path,
                               NumberTypes types)
    : path_(std::move(path)),
      in_memory_(types.in_memory),
      number_bytes_(H5Tget_size(types.in_memory)),
      is_compressed_here_(has_zlib && hdf5::has_deflate() &&
                          H5Tequal(types.in_file, types.in_memory) > 0),
      at_once_((is_compressed_here_ ? std::max<std::size_t>(4, cores()) : 1) * chunk_bytes) {
  const hsize_t length = 0;
  const hsize_t most = H5S_UNLIMITED;
  const auto space =
      hdf5::own(H5Screate_simple(1, &length, &most), H5Sclose, "H5Screate_simple", path_);
  const auto list = creation_list(number_bytes_, path_);
  dataset_ = hdf5::own(H5Dcreate2(file.get(), name, types.in_file, space.get(), H5P_DEFAULT,
                                  list.get(), H5P_DEFAULT),
                       H5Dclose, "H5Dcreate2", path_);
}

void GrowingDataset::add(std::span<const std::byte> bytes) {
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  added_ += bytes.size();
  if (held_.size() >= at_once_) write(held_.size() - held_.size() % chunk_bytes);
}

void GrowingDataset::end() { write(held_.size()); }

void GrowingDataset::write(std::size_t bytes) {
  if (bytes == 0) return;
  const hsize_t begin = written_ / number_bytes_;
  const hsize_t count = bytes / number_bytes_;
  const hsize_t end = begin + count;
  hdf5::check(H5Dset_extent(dataset_.get(), &end), "H5Dset_extent", path_);
  if (is_compressed_here_) {
    write_compressed(bytes);
  } else {
    const auto space = hdf5::own(H5Dget_space(dataset_.get()), H5Sclose, "H5Dget_space", path_);
    hdf5::check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr),
                "H5Sselect_hyperslab", path_);
    const auto memory =
        hdf5::own(H5Screate_simple(1, &count, nullptr), H5Sclose, "H5Screate_simple", path_);
    hdf5::check(
        H5Dwrite(dataset_.get(), in_memory_, memory.get(), space.get(), H5P_DEFAULT, held_.data()),
        "H5Dwrite", path_);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(bytes));
  written_ += bytes;
}

// HDF5 stores the last chunk whole as well.
void GrowingDataset::write_compressed(std::size_t bytes) {
  const std::size_t whole = (bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  held_.resize(std::max(held_.size(), whole));
  const auto chunks = compress_chunks(std::span(held_).first(whole));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const hsize_t offset = (written_ + i * chunk_bytes) / number_bytes_;
    hdf5::check(
        H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, &offset, chunks[i].size(), chunks[i].data()),
        "H5Dwrite_chunk", path_);
  }
}

}  // namespace slabmark
