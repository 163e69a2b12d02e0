#include "measure/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sys/resource.h>

namespace slabmark {

namespace {

std::string process_status() {
  std::ifstream file("/proc/self/status");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::optional<std::uint64_t> resident_bytes() { return status_bytes(process_status(), "VmRSS"); }

std::optional<std::uint64_t> high_water_bytes() { return status_bytes(process_status(), "VmHWM"); }

bool reset_high_water() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

std::optional<std::uint64_t> status_bytes(std::string_view status, std::string_view field) {
  while (!status.empty()) {
    const std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(line.size() + 1, status.size()));
    if (!line.starts_with(field) || !line.substr(field.size()).starts_with(":")) continue;
    if (!line.ends_with(" kB")) return std::nullopt;
    const std::size_t digits = line.find_first_not_of(" \t", field.size() + 1);
    std::uint64_t kibibytes = 0;
    const auto [end, error] =
        std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    if (error != std::errc{} || std::string_view(end, 3) != " kB") return std::nullopt;
    return kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace slabmark
