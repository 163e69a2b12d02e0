#include "capture/read/program_files.hpp"

#include <map>
#include <utility>

namespace slabmark {

std::string highest_level(const PatternFile& file) {
  std::set<std::string> asked_for, all;
  for (const Json& entry : file.files()) {
    if (!file.takes(entry)) continue;
    all.insert(entry.value("level", ""));
    if (!entry.value("unasked", false)) asked_for.insert(entry.value("level", ""));
  }
  for (const char* const level : {"pnetcdf", "hdf5", "mpiio", "posix"}) {
    if ((asked_for.empty() ? all : asked_for).contains(level)) return level;
  }
  return "";
}

Paths::Paths(const PatternFile& file) : recorded_ranks_(file.ranks()) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> known;
  for (const Json& entry : file.files()) {
    const std::string path = entry.value("path", "");
    const std::string level = entry.value("level", "");
    const auto [place, is_new] = known.try_emplace({path, level}, all_.size());
    if (is_new) all_.push_back({.name = path, .level = level, .ranks = {}});
    numbers_.push_back(place->second);
    Path& known_path = all_[place->second];
    known_path.is_unasked = known_path.is_unasked && entry.value("unasked", false);
    known_path.ranks.insert(entry.value("ranks", std::uint64_t{1}));
  }
}

DatasetNumbers::DatasetNumbers(const PatternFile& file) {
  std::map<std::string, std::uint64_t> known;
  for (const Json& definition : file.definitions()) {
    const std::uint64_t number = first_.size();
    first_.push_back(number);
    if (definition.value("kind", "") != "dataset") continue;
    const auto part = [&](const char* key) { return definition.value(key, Json()); };
    // Lengths that may change are those of some moment.
    const Json shape = definition.contains("maximum") ? part("maximum") : part("extent");
    const Json identity = {part("name"), part("type"), shape};
    first_.back() = known.try_emplace(identity.dump(), number).first->second;
  }
}

}  // namespace slabmark
