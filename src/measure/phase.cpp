#include "measure/phase.hpp"

namespace slabmark {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::create:
      return "create";
    case Phase::open:
      return "open";
    case Phase::define:
      return "define";
    case Phase::prepare:
      return "prepare";
    case Phase::post:
      return "post";
    case Phase::flush:
      return "flush";
    case Phase::sync:
      return "sync";
    case Phase::close:
      return "close";
  }
  return "unknown";
}

}  // namespace slabmark
