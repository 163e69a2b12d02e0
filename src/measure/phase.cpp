#include "measure/phase.hpp"

#include "base/names.hpp"

namespace slabmark {

std::string_view name_of(Phase phase) {
  return name_in({"create", "open", "define", "prepare", "post", "flush", "sync", "close"}, phase);
}

}  // namespace slabmark
