#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "core/geometry/piece.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

/// The private layout: the data of each rank and flush in one piece, as it lay in memory, and
/// behind all data an index that says which elements those are. In the machine's byte order. 64-bit
/// numbers from byte 0 on: mark, version, ranks, rounds, offset and bytes of the description
/// (JSON), offset of the table; the table has offset and number count of each rank's index.
inline constexpr std::uint64_t blob_data_begin = 4096;

/// The elements that one rank wrote.
struct BlobIndex {
  /// One transfer of a flush. Transfers of a flush lie one after another.
  struct Entry {
    std::uint64_t dataset = 0;
    std::uint64_t time = 0;
    std::uint64_t map = 0;     ///< index into `maps`
    std::uint64_t offset = 0;  ///< byte of the file
    std::uint64_t round = 0;
  };

  std::vector<RunList> maps;  ///< runs in the order of the elements
  std::vector<Entry> entries;

  std::vector<std::uint64_t> numbers() const;
  /// Throws InputError if the numbers are no index.
  static BlobIndex parse(std::span<const std::uint64_t> numbers, const std::string& path);
};

/// Collective: writes the index behind the data, which ends at `end`, and then the head, so that a
/// file without it is known to be incomplete.
void write_blob_index(const Comm& comm, posix::File& file, std::uint64_t end,
                      const Pattern& pattern, const BlobIndex& mine);

/// A finished file of the private layout, open for reading by one process.
class BlobFile {
 public:
  /// Throws InputError if it is none, was not finished, or is damaged, as do the other functions:
  /// no number in the file is believed before it is known to lead to something within it.
  explicit BlobFile(const std::string& path);

  std::uint64_t ranks() const { return table_.size() / 2; }

  /// Datasets, attributes and rounds; it has no transfers.
  const Pattern& description() const { return description_; }

  BlobIndex index(std::uint64_t rank);
  void read(std::uint64_t offset, std::byte* data, std::uint64_t bytes);

  /// Reads the elements of `pieces` (ascending) of a dataset to `buffer`, whoever wrote them.
  void read_elements(std::size_t dataset, std::uint64_t time, std::span<const Piece> pieces,
                     std::uint64_t element_bytes, std::byte* buffer);

 private:
  struct Source {
    std::shared_ptr<const std::vector<Piece>> pieces;  ///< ascending
    std::uint64_t elements = 0;
    std::uint64_t offset = 0;
  };
  void load_sources();
  /// Throws unless [offset, offset + count * size) is in the file.
  void require_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size,
                      const std::string& what) const;

  posix::File file_;
  std::uint64_t bytes_ = 0;  ///< of the file
  std::vector<std::uint64_t> table_;
  Pattern description_;
  bool loaded_ = false;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Source>> sources_;
};

}  // namespace slabmark
