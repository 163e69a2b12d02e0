#include "bench/measure/manifest_file_system.hpp"

#include <cstdio>
#include <filesystem>
#include <mntent.h>
#include <vector>

#include <fmt/format.h>

#include "core/base/command.hpp"

namespace slabmark {

namespace {

bool holds(const std::string& point, std::string_view path) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

std::optional<Mount> find_mount(std::string_view path, const std::string& mounts) {
  std::optional<Mount> best;
  std::FILE* const file = ::setmntent(mounts.c_str(), "r");
  if (file == nullptr) return best;
  while (const mntent* mount = ::getmntent(file)) {
    const std::string point = mount->mnt_dir;
    if (!holds(point, path) || (best && point.size() < best->point.size())) continue;
    best = {point, mount->mnt_type, mount->mnt_fsname, mount->mnt_opts};
  }
  ::endmntent(file);
  return best;
}

Json describe_file_system(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string absolute =
      error ? std::filesystem::absolute(path).lexically_normal().string() : resolved.string();
  Json result = {{"path", absolute},   {"mount_point", nullptr},
                 {"type", nullptr},    {"source", nullptr},
                 {"options", nullptr}, {"lustre", {{"absent", "the file system is not known"}}}};
  const std::optional<Mount> mount = find_mount(absolute);
  if (!mount) return result;
  result["mount_point"] = mount->point;
  result["type"] = mount->type;
  result["source"] = mount->source;
  result["options"] = mount->options;
  result["lustre"] = lustre_striping(absolute, mount->type);
  return result;
}

Json lustre_striping(const std::string& path, std::string_view type, const std::string& tool) {
  const auto absent = [](const std::string& why) { return Json{{"absent", why}}; };
  if (type != "lustre") return absent(fmt::format("the file system is {}", type));
  // The layout of the folder itself: without -d all files in it are listed.
  std::vector<std::string> words = {tool, "getstripe", path};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) words.insert(words.begin() + 2, "-d");
  std::optional<CommandAnswer> answer = run_command(words);
  if (!answer || answer->status == 127) return absent(fmt::format("{} cannot be run", tool));
  if (answer->status != 0) {
    return absent(fmt::format("{} getstripe failed with exit status {}", tool, answer->status));
  }
  while (answer->output.ends_with('\n')) answer->output.pop_back();
  return {{"striping", answer->output}};
}

}  // namespace slabmark
