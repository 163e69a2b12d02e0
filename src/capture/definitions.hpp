#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace slabmark::capture {

/// A definition as the recorder takes it: keys in order, so that all ranks say the same. Names need
/// not be UTF-8: what is none is replaced, since an exception would end the program.
inline std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace slabmark::capture
