#include "program/h5perf/words.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::h5perf {

namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::vector<Api> parse_apis(const std::vector<std::string>& words) {
  static const std::map<std::string, Api> known = {
      {"posix", Api::posix}, {"mpiio", Api::mpiio}, {"phdf5", Api::phdf5}};
  std::set<Api> named;
  for (const std::string& word : words) {
    const auto found = known.find(lower_case(word));
    if (found == known.end()) {
      throw InputError(
          fmt::format("-A names '{}', which is no API; it takes phdf5, mpiio and posix.", word));
    }
    named.insert(found->second);
  }
  if (named.empty()) return {Api::posix, Api::mpiio, Api::phdf5};
  return {named.begin(), named.end()};
}

DebugFlags parse_debug(const std::vector<std::string>& words) {
  DebugFlags flags;
  for (const std::string& word : words) {
    const std::string flag = lower_case(word);
    if (flag == "r") {
      flags.raw = true;
    } else if (flag == "t") {
      flags.times = true;
    } else if (flag == "v") {
      flags.verify = true;
    } else if (flag.size() == 1 && flag[0] >= '1' && flag[0] <= '4') {
      flags.level = std::max(flags.level, flag[0] - '0');
    } else {
      throw InputError(
          fmt::format("-D names '{}', which is no flag; it takes 1 to 4, r, t and v.", word));
    }
  }
  return flags;
}

std::vector<Contents> parse_contents(const std::vector<std::string>& words) {
  static const std::map<std::string, Contents> kinds = {{"position", Contents::position},
                                                        {"rank", Contents::rank},
                                                        {"request", Contents::request},
                                                        {"buffer", Contents::buffer}};
  std::vector<Contents> contents;
  for (const std::string& word : words) {
    const auto found = kinds.find(word);
    if (found == kinds.end()) {
      throw InputError(
          fmt::format("--contents names '{}'; it takes position, rank, request and buffer.", word));
    }
    contents.push_back(found->second);
  }
  if (contents.empty()) contents.push_back(Contents::position);
  return contents;
}

bool parse_emulation(const std::string& word) {
  if (word == "original") return true;
  if (word == "hdf5") return false;
  throw InputError(fmt::format("--emulation is '{}'; it takes hdf5 or original.", word));
}

}  // namespace slabmark::h5perf
