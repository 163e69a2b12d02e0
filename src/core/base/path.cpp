#include "core/base/path.hpp"

#include <filesystem>

namespace slabmark {

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

}  // namespace slabmark
