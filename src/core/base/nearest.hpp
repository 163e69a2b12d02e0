#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slabmark {

/// The entry of `known` that a user who typed `word` most likely meant, for "did you mean"
/// remedies. Nearness is the number of letters to insert, remove, replace or swap with their
/// neighbour (upper and lower case being equal); the first of equally near entries wins. Empty if
/// all letters, or more than one and more than a third of them, would have to change.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace slabmark
