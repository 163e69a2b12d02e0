#pragma once

#include <array>
#include <memory>

#include "bench/pattern/content.hpp"
#include "core/base/words.hpp"

namespace slabmark {

/// The contents of elements, by how well they compress.
enum class ContentKind {
  position,  ///< the hashes of bench/pattern/content.hpp: whole numbers that no type rounds
  smooth,    ///< a wave along each dimension with noise on it, as fields of climate models are
  random,    ///< bits of no pattern, which no filter makes smaller; numbers are never NaN
};

inline constexpr std::array<Word<ContentKind>, 3> content_kinds = {
    {{"position", ContentKind::position},
     {"smooth", ContentKind::smooth},
     {"random", ContentKind::random}}};

/// Contents of that kind for a pattern of such datasets; null for position, which patterns have
/// without any.
///
/// Smooth reals are about 250, with waves of 10 % and a noise of 1 % (uniform), and hold no more
/// than single precision does, as history files of models: 18 of 24 bits are noise.
/// docs/reference/bench.md says what filters make of it.
std::shared_ptr<const Content> make_content(ContentKind kind, const std::vector<Dataset>& datasets);

}  // namespace slabmark
