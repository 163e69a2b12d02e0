#pragma once

#include <string>

#include "capture/record/recorder.hpp"
#include "core/json/json.hpp"

namespace slabmark::capture {

/// A definition as the recorder takes it: keys in order, so that all ranks say the same. Names need
/// not be UTF-8: what is none is replaced, since an exception would end the program.
inline std::string text_of(const Json& value) { return value.dump(); }

/// Names a file that so many ranks open together. One alone knows what it has renamed; of what
/// several open each says what it knows, and who merges adds it up.
inline void name_file(Json& file, const char* path, int ranks) {
  file["path"] = ranks == 1 ? own_path(path) : path_from_start(path);
  if (const unsigned times = times_renamed(path); ranks > 1 && times > 0) file["renamed"] = times;
}

}  // namespace slabmark::capture
