#pragma once

#include <cstdint>

#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. The pattern of a restart on another decomposition: of each dataset's longest
/// dimension every rank has one block of equal length, and reads what any rank of `written` has
/// written within it. So each written element is read once, by whichever rank wrote it, and
/// elements that nobody wrote are left out. Datasets that share a selection still do. Buffers are
/// dense.
Pattern make_block_reader(const Comm& comm, const Pattern& written);

/// The same datasets and rounds, without an element of any: what a rank writes that stands for none
/// of the ranks that wrote.
Pattern without_elements(Pattern pattern);

}  // namespace slabmark
