#include "core/base/words.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

void refuse_word(const std::string& text, const std::string& what,
                 const std::vector<std::string>& words) {
  throw InputError(fmt::format("{} is '{}'; it takes {}.", what, text, alternatives(words)));
}

}  // namespace slabmark
