#include "core/geometry/dataset.hpp"

namespace slabmark {

Extent Dataset::extent() const {
  Extent lengths;
  lengths.reserve(dimensions.size());
  for (const Dimension& dimension : dimensions) lengths.push_back(dimension.length);
  return lengths;
}

}  // namespace slabmark
