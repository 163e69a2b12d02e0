#include "storage/posix/unfinished_name.hpp"

#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "core/base/host_name.hpp"
#include "core/base/path.hpp"

namespace slabmark::posix {

namespace fs = std::filesystem;

std::string unfinished_name(const std::string& path,
                            const std::function<void(const std::string& left)>& remove) {
  const std::string stem = fmt::format("{}.partial-{}-", path, host_name());
  const std::string begin = fs::path(stem).filename();
  std::error_code error;
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory_of(path), error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin)) continue;
    const std::string process = name.substr(begin.size());
    if (process.empty() || process.find_first_not_of("0123456789") != process.npos) continue;
    // Of a process that is gone or a zombie there is no program.
    static_cast<void>(fs::read_symlink("/proc/" + process + "/exe", error));
    if (error != std::errc::no_such_file_or_directory) continue;
    left.push_back(entry.path());
  }
  for (const std::string& file : left) remove ? remove(file) : void(unlink(file.c_str()));
  return stem + fmt::to_string(::getpid());
}

}  // namespace slabmark::posix
