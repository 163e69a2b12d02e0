#include "bench/checkpoint/settings.hpp"

#include <sstream>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

std::vector<std::string> CheckpointSettings::function_arguments() const {
  std::istringstream line(use_function_argv);
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  if (use_function_argc > words.size()) {
    throw InputError(fmt::format(
        "use_function_argc is {}, but use_function_argv holds {} arguments; give as many values.",
        use_function_argc, words.size()));
  }
  words.resize(use_function_argc);
  return words;
}

}  // namespace slabmark
