#include "bench/measure/memory.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/resource.h>

#include <fmt/format.h>

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
  std::istringstream lines{std::string(status)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, unit;
    std::uint64_t kibibytes = 0;
    if (!(words >> name) || name != fmt::format("{}:", field)) continue;
    if (words >> kibibytes >> unit && unit == "kB") return kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace slabmark
