#include "bench/measure/phase.hpp"

#include "core/base/words.hpp"

namespace slabmark {

std::string_view name_of(Phase phase) {
  static constexpr Word<Phase> phases[] = {{"create", Phase::create}, {"open", Phase::open},
                                           {"define", Phase::define}, {"prepare", Phase::prepare},
                                           {"post", Phase::post},     {"flush", Phase::flush},
                                           {"sync", Phase::sync},     {"close", Phase::close}};
  return word_for(phase, phases);
}

}  // namespace slabmark
