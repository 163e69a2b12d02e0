#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bench/map/replaced_file.hpp"
#include "bench/pattern/synthetic/decomposition.hpp"
#include "core/geometry/extent.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

/// Writes one map as PIO text (.dat, version 2001) as a stream, holding 1 MiB whatever its size.
/// The file is what PIO writes up to and with the blank line that ends the list; the backtrace that
/// PIO puts after it, which readers skip, is left out.
///
/// The text goes to a ReplacedFile, which takes the name `path` only in commit(). Any failure is an
/// IoError that names file, call and reason; a file size limit is one of them where SIGXFSZ is
/// ignored, as run_program() sees to.
class PioTextWriter {
 public:
  /// `dims` in C order; the text has them the other way round.
  PioTextWriter(const std::string& path, const Extent& dims, std::uint64_t ranks);

  /// Starts the list of the next rank, which is to have `entries` entries, holes included. Ranks
  /// come in ascending order; one that owns nothing may be left out.
  void begin_rank(std::uint64_t rank, std::uint64_t entries);

  /// Continues the rank's list: 1-based positions, 0 for a hole, in model order.
  void append(std::span<const std::uint64_t> entries);

  /// Completes the text. Throws std::logic_error if a rank had another number of entries than
  /// announced.
  void finish();

  std::uint64_t bytes() const { return bytes_; }  ///< of a finished file

  /// Gives the finished file its name.
  void commit() { target_.commit(bytes_); }

 private:
  void end_rank();
  void write_out();
  void put_text(const std::string& text);
  char* reserve(std::size_t bytes);

  ReplacedFile target_;
  posix::File file_;
  std::uint64_t bytes_ = 0;  ///< written out
  std::unique_ptr<char[]> buffer_;
  std::size_t filled_ = 0;
  std::uint64_t missing_ = 0;  ///< entries of the current rank that are still to come
  bool in_rank_ = false;
};

/// Writes all ranks of `map` and finishes.
void write_text(PioTextWriter& writer, const SyntheticMap& map);

}  // namespace slabmark
