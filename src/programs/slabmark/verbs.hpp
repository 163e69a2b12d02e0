#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slabmark::command {

/// A word behind `slabmark`, or a program of its own that the overview lists.
struct Verb {
  std::string name;
  std::string summary;
};

enum class Runner {
  executable,  ///< of the verb's name, below libexec
  lab,         ///< in Python
  itself,      ///< a program in the folder of `slabmark`
};

struct Group {
  std::string heading;
  Runner runner;
  std::vector<Verb> verbs;
};

/// All of them as the overview shows them.
const std::vector<Group>& groups();

/// The program behind this verb or program; null if there is none of that name.
const Runner* runner_of(std::string_view name);

/// The names of all verbs, or of all programs of their own as well.
std::vector<std::string> names(bool with_programs);

/// The words behind `slabmark` that a link with this name stands for, such as {"log", "info"}; none
/// if it is no name from before the verbs.
std::vector<std::string> earlier_name(std::string_view name);

}  // namespace slabmark::command
