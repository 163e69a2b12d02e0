#include "measure/manifest_file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

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

/// What a program that was started answered.
struct Answer {
  int status = -1;     ///< exit status; -1 if a signal ended it
  std::string output;  ///< its standard output
};

std::string read_to_end(int file) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

/// Runs a program without a shell, so that no character of a path means anything to one. Nothing if
/// it could not be started.
std::optional<Answer> run(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Answer answer;
  if (error == 0) {
    answer.output = read_to_end(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  }
  ::close(ends[0]);
  if (error != 0) return std::nullopt;
  return answer;
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
  std::optional<Answer> answer = run({tool, "getstripe", path});
  if (!answer || answer->status == 127) return absent(fmt::format("{} cannot be run", tool));
  if (answer->status != 0) {
    return absent(fmt::format("{} getstripe failed with exit status {}", tool, answer->status));
  }
  while (answer->output.ends_with('\n')) answer->output.pop_back();
  return {{"striping", answer->output}};
}

}  // namespace slabmark
