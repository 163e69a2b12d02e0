#pragma once

#include <cstdint>

#include "bench/pattern/synthetic/decomposition.hpp"

namespace slabmark {

/// The rank that gets a physics chunk when several own equally many of its columns.
enum class TieBreak {
  encounter,  ///< the first that the chunk's columns name: E3SM since August 2018 (pull request
              ///< 2497)
  lowest,     ///< the lowest rank: E3SM before that
};

/// The decomposition of E3SM's atmosphere (F cases) on a cubed sphere with ne x ne elements a face,
/// exactly as the model makes it for one thread a rank:
///
/// * D1 {columns}: dynamics. The elements, ordered by a space-filling curve, are cut in equal
/// pieces.
///   A rank's entries are its elements in ascending order, 16 nodes each, 0 for a node that another
///   element owns.
/// * D2 {columns}: physics. A rank's entries are its chunks in ascending order, 16 slots each, 0
/// for
///   an empty one.
/// * D3 {levels, columns}: for each chunk of D2, each level, the 16 slots. Generated from D2.
///
/// with columns = 54 ne^2 + 2. The rules were validated against files that E3SM wrote: ne 4 on 16
/// ranks comes out byte for byte.
///
/// Memory: 4 bytes per element and chunk (0.5 MiB for ne 120), and 4 per column while it is built.
/// Throws InputError if ne has a prime factor other than 2, 3 and 5 or is beyond 3000, if there are
/// no ranks, more ranks than elements, no levels, or more than 2^63 elements.
SyntheticDecomposition make_f_decomposition(std::uint64_t ne, std::uint64_t ranks,
                                            std::uint64_t levels = 72,
                                            TieBreak tie_break = TieBreak::encounter);

}  // namespace slabmark
