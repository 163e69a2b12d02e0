#include "measure/manifest_file_system.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/command.hpp"

namespace slabmark {

namespace {

using nlohmann::json;

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// The kernel writes blanks in a path as \040 and the like.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                    text.begin() + static_cast<std::ptrdiff_t>(i) + 4, is_octal);
    if (!escape) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
    i += 3;
  }
  return result;
}

/// One line: id parent device root POINT OPTIONS [optional fields] - TYPE SOURCE SUPER_OPTIONS.
std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream words(line);
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 6 || fields.end() - dash < 4) return std::nullopt;
  return Mount{.point = unescaped(fields[4]),
               .type = dash[1],
               .source = unescaped(dash[2]),
               .options = fields[5] + "," + dash[3]};
}

bool holds(const std::string& point, std::string_view path) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view path) {
  std::optional<Mount> best;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Mount> mount = parse_mount(line);
    if (!mount || !holds(mount->point, path)) continue;
    if (!best || mount->point.size() >= best->point.size()) best = mount;
  }
  return best;
}

json describe_file_system(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string absolute =
      error ? std::filesystem::absolute(path).lexically_normal().string() : resolved.string();
  json result = {{"path", absolute},   {"mount_point", nullptr},
                 {"type", nullptr},    {"source", nullptr},
                 {"options", nullptr}, {"lustre", {{"absent", "the file system is not known"}}}};
  const std::optional<Mount> mount = find_mount(read_text("/proc/self/mountinfo"), absolute);
  if (!mount) return result;
  result["mount_point"] = mount->point;
  result["type"] = mount->type;
  result["source"] = mount->source;
  result["options"] = mount->options;
  result["lustre"] = lustre_striping(absolute, mount->type);
  return result;
}

json lustre_striping(const std::string& path, std::string_view type, const std::string& tool) {
  const auto absent = [](const std::string& why) { return json{{"absent", why}}; };
  if (type != "lustre") return absent(fmt::format("the file system is {}", type));
  std::optional<CommandAnswer> answer = run_command({tool, "getstripe", path});
  if (!answer || answer->status == 127) return absent(fmt::format("{} cannot be run", tool));
  if (answer->status != 0) {
    return absent(fmt::format("{} getstripe failed with exit status {}", tool, answer->status));
  }
  while (answer->output.ends_with('\n')) answer->output.pop_back();
  return {{"striping", answer->output}};
}

}  // namespace slabmark
