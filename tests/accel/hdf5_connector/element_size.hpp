#pragma once

#include <cstddef>

namespace slabmark::slablog {

constexpr std::size_t element_size = 4;  ///< bytes of an element in tests of runs

}  // namespace slabmark::slablog
