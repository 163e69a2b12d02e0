#pragma once

#include <array>
#include <cstdint>

#include <mpi.h>

namespace slabmark::dropin {

/// How a program's files are stored when it has closed them.
struct Compression {
  std::array<char, 64> filter{};  ///< "zstd:3" and the like, with an end
  std::uint64_t shuffle = 0;
};

/// The library libslabmark_compress.so, which has the converter and HDF5: the drop-in has neither,
/// since most programs need none of them, or another one. Loaded when a file is to be compressed.
struct Compressor {
  enum class Result { done, refused, failed };
  /// A sentence that says why something was not done.
  struct Message {
    std::array<char, 2048> text{};
  };

  const char* version;  ///< of Slabmark: that of the drop-in, or they do not belong together

  /// True if files can be compressed like this, as far as this process can tell.
  Result (*check)(const Compression& compression, Message& message);

  // Collective. All ranks get the same result. Where it is not `done`, the file is as it was
  // before.

  /// Makes netCDF-4 of a classic file, which takes its place. `path` is no symbolic link.
  Result (*compress)(MPI_Comm comm, const char* path, const Compression& compression,
                     Message& message);
  /// Makes a classic file of netCDF-4, at another path or in its place.
  Result (*expand)(MPI_Comm comm, const char* path, const char* classic, Message& message);
};

/// The function by which the library is asked for it: slabmark_compressor().
using CompressorFunction = const Compressor*();

}  // namespace slabmark::dropin
