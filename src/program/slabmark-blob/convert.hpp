#pragma once

#include <string>

#include "measure/clock.hpp"
#include "method/method.hpp"
#include "parallel/comm.hpp"

namespace slabmark::blob_program {

/// Collective. Writes what the file of the private layout `input` holds to `output`, which does not
/// exist yet, through `method`. Memory: the largest round of the recorded ranks that a rank stands
/// for. Throws an agreed Error; an incomplete output is removed.
void convert(const Comm& comm, const std::string& input, const std::string& output,
             const MethodInfo& method, const Settings& settings, PhaseClock& clock);

}  // namespace slabmark::blob_program
