#pragma once

#include <cstdint>
#include <vector>

namespace slabmark {

/// Throws InputError, naming `ne` and the nearest sizes that work, unless 1 <= ne <= 3000 and 2, 3
/// and 5 are the only prime factors of `ne`: for other sizes the curve below does not exist.
void require_curve_size(std::uint64_t ne);

/// Positions of the cells of an ne x ne square along the space-filling curve of E3SM's atmosphere:
/// entry [a * ne + b] is the visiting number (0-based) of the cell at position (a, b), a along the
/// axis on which the curve advances. A stack of Hilbert (factor 2), meandering Peano (3) and Cinco
/// (5) levels, the largest factor outermost. Throws InputError as require_curve_size does.
std::vector<std::uint32_t> space_filling_curve(std::uint64_t ne);

}  // namespace slabmark
