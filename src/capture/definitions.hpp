#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "capture/recorder.hpp"

// What interposers of all levels define alike; docs/pattern-file.md has the keys.

namespace slabmark::capture {

/// As text: keys in order, so that all ranks say the same. Names need not be UTF-8: what is none is
/// replaced, since an exception would end the program.
inline std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline Id call_id(const std::string& name, const char* effect) {
  return define(text_of({{"kind", "call"}, {"name", name}, {"effect", effect}}));
}

/// The contents of a file without datasets.
inline Id bytes_id() { return define(R"({"kind":"bytes"})"); }

}  // namespace slabmark::capture
