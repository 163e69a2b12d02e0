#pragma once

#include "bench/pattern/selection.hpp"

namespace slabmark {

/// All runs of a selection, in its order.
inline RunList runs_of(const SelectionPtr& selection) {
  RunList runs;
  selection->for_each_run([&](Run run) { runs.push_back(run); });
  return runs;
}

}  // namespace slabmark
