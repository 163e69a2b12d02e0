#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/map/decomposition.hpp"

namespace slabmark {

/// Where the entries of one recorded rank stand in a PIO text file.
struct PioRow {
  std::uint64_t offset = 0;   ///< bytes
  std::uint64_t bytes = 0;    ///< of the line, without its newline
  std::uint64_t entries = 0;  ///< holes included
};

/// A PIO decomposition text file (version 2001), known by the places of its lines:
///
///     version 2001 npes <P> ndims <K>
///     <d0> <d1> ...                      Fortran order: fastest-varying dimension first
///     <rank> <n>                         once for each rank of the application
///     <o1> <o2> ... <on>                 1-based position in the array, 0 is a hole
///
/// What follows the last rank (PIO writes a stack trace) is not looked at.
struct PioText {
  std::string path;
  std::string version_line;  ///< the first line as it stands
  std::string dims_line;     ///< the second line as it stands
  Extent dims;               ///< C order: the file's dimensions reversed
  std::vector<PioRow> rows;  ///< one per recorded rank

  std::uint64_t ranks() const { return rows.size(); }
};

/// Finds the lines of `path` in one sequential pass. Not collective. Throws InputError where the
/// header is malformed, a rank is missing or there twice, or the file ends early.
PioText index_pio_text(const std::string& path);

/// The contents of the entries of one recorded rank.
struct PioEntries {
  RunList runs;                ///< 0-based row-major, in model order; successive elements merged
  std::uint64_t elements = 0;  ///< entries that are not holes
};

/// Reads and parses the entries of recorded rank `rank` (its line is held meanwhile). Not
/// collective. Throws InputError that names rank and value where an entry is no number or lies
/// outside the array, or where there are more or fewer than announced.
PioEntries read_pio_row(const PioText& text, std::uint64_t rank);

/// Collective. A PIO text file as a map: rank 0 finds the lines, each rank reads and parses only
/// those of its own recorded ranks.
std::unique_ptr<MapFile> open_pio_text_map(const Comm& comm, const std::string& path);

}  // namespace slabmark
