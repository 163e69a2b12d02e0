#pragma once

#include <string_view>

namespace slabmark {

/// A result, as records, their documentation and reports know it.
struct Term {
  std::string_view name;
  std::string_view unit;         ///< "s", "B"; empty: none
  std::string_view description;  ///< for the documentation
  std::string_view hint = "";    ///< for readers of a report, which shows it; empty: it does not
};

}  // namespace slabmark
