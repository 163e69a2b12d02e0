#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "storage/posix/file.hpp"

namespace slabmark::posix {

/// An open file whose whole blocks move past the page cache (O_DIRECT), at any offset and from any
/// memory. Blocks that a request covers in part, its first and its last, go through the page cache,
/// since another process may have the rest of them. A block is a page: no page of the cache is then
/// ever part of a direct transfer.
class DirectFile {
 public:
  /// `cached` is open for `access`, and outlives this. Throws InputError where its file system has
  /// no direct I/O.
  DirectFile(File& cached, File::Access access);

  void write_at(std::uint64_t offset, const std::byte* data, std::uint64_t bytes);
  void read_at(std::uint64_t offset, std::byte* data, std::uint64_t bytes);

  /// Bytes that went past the page cache so far.
  std::uint64_t direct_bytes() const { return direct_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  template <class Byte, class Cached, class Direct>
  void split(std::uint64_t offset, Byte* data, std::uint64_t bytes, const Cached& cached,
             const Direct& direct);

  File& cached_;
  File direct_;
  std::uint64_t block_;
  std::unique_ptr<std::byte, Free> whole_blocks_;  ///< for memory that does not begin at a block
  std::uint64_t direct_bytes_ = 0;
};

}  // namespace slabmark::posix
