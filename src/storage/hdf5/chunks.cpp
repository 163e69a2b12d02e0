#include "storage/hdf5/chunks.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/location.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::hdf5 {

namespace {

struct Noted {
  std::vector<StoredChunk> chunks;
  std::size_t rank;
};

int note(const hsize_t* first, unsigned mask, haddr_t address, hsize_t bytes, void* data) {
  auto& noted = *static_cast<Noted*>(data);
  noted.chunks.push_back({{first, first + noted.rank}, bytes, mask, address});
  return H5_ITER_CONT;
}

}  // namespace

std::vector<StoredChunk> stored_chunks(hid_t dataset, const std::string& path) {
  const auto space = own(H5Dget_space(dataset), H5Sclose, "H5Dget_space", path);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  check(rank, "H5Sget_simple_extent_ndims", path);
  Noted noted{{}, static_cast<std::size_t>(rank)};
  hsize_t left_out = 0;
  if (!left_out_of_chunk_addresses(dataset, left_out)) fail("H5Pget_userblock", path);
  check(H5Dchunk_iter(dataset, H5P_DEFAULT, note, &noted), "H5Dchunk_iter", path);
  for (StoredChunk& chunk : noted.chunks) chunk.address += left_out;
  return std::move(noted.chunks);
}

std::uint64_t chunk_address(const std::string& path,
                            const std::function<herr_t(const void* data)>& enter) {
  placeholder_address();  // of what went before
  check(enter(placeholder()), "H5Dwrite_chunk", path);
  const haddr_t address = placeholder_address();
  if (address == HADDR_UNDEF) {
    throw IoError(fmt::format(
        "'{}' is open through a driver that does not say where HDF5 puts a chunk; open it "
        "without page buffering and through POSIX or MPI-IO.",
        path));
  }
  return address;
}

void allocate_chunks(hid_t dataset, std::span<StoredChunk> chunks, const std::string& path) {
  for (StoredChunk& chunk : chunks) {
    chunk.address = chunk_address(path, [&](const void* data) {
      return H5Dwrite_chunk(dataset, H5P_DEFAULT, chunk.mask, chunk.first.data(), chunk.bytes,
                            data);
    });
  }
}

}  // namespace slabmark::hdf5
