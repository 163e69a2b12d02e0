#include "capture/read/merge.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/format/coding.hpp"
#include "capture/read/byte_reader.hpp"
#include "capture/read/pattern_file.hpp"
#include "capture/read/spool_reader.hpp"
#include "core/base/error.hpp"
#include "core/json/json.hpp"

namespace slabmark {

namespace {

/// Distinct texts of JSON, numbered in the order in which they come.
class Table {
 public:
  std::uint32_t number(const std::string& text) {
    const auto [place, is_new] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(values_.size()));
    if (is_new) values_.push_back(Json::parse(text));
    return place->second;
  }
  const Json& at(std::uint32_t number) const { return values_[number]; }
  bool any_has(const char* key) const {
    return std::any_of(values_.begin(), values_.end(),
                       [&](const Json& value) { return value.contains(key); });
  }
  Json take() { return std::move(values_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  Json values_ = Json::array();
};

/// Command lines and variables of processes are as these have them, which need not be UTF-8.
std::string ascii_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }, '?');
  return text;
}

/// The facts that a process states about itself and its numbers.
struct Process {
  const SpoolReader::Process* frames = nullptr;
  Json facts = Json::object();
  std::vector<std::uint32_t> files, definitions;
  capture::Bytes children;  ///< an event that counts their calls

  std::optional<std::uint64_t> number(const char* key) const {
    if (!facts.contains(key) || !facts[key].is_number_integer()) return std::nullopt;
    return facts[key].get<std::uint64_t>();
  }
  std::string program() const { return facts.value("program", "?"); }
};

/// Definitions of all processes.
class Definitions {
 public:
  Process read(const SpoolReader& spool, const SpoolReader::Process& frames,
               const std::string& place) {
    std::vector<std::uint8_t> bytes;
    spool.read(frames, capture::Stream::definitions, [&](std::span<const std::uint8_t> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
    Process process;
    process.frames = &frames;
    ByteReader reader(bytes, place);
    while (!reader.at_end()) {
      const std::uint64_t length = reader.varint();
      const std::size_t begin = reader.position();
      reader.part(length);
      add(process, std::string(reinterpret_cast<const char*>(bytes.data()) + begin, length),
          reader);
    }
    if (frames.calls_of_children > 0) {
      capture::put_varint(process.children, capture::Token::uncaptured);
      capture::put_varint(process.children, process.definitions.size());
      capture::put_varint(process.children, frames.calls_of_children);
      add(process, R"({"effect":"uncaptured","kind":"call","name":"calls of the child of a fork"})",
          reader);
    }
    return process;
  }

  Table files, definitions;

  /// What ranks of the program opened together has been given another name by some of them:
  /// all of them mean the file that the opening made.
  void name_renamed(std::vector<Process>& processes, std::uint64_t ranks) {
    if (!files.any_has("renamed")) return;
    std::map<std::pair<std::string, std::size_t>, std::uint64_t> times;
    for (const bool counts : {true, false}) {
      for (Process& process : processes) {
        std::map<std::string, std::size_t> openings;
        for (std::uint32_t& number : process.files) {
          Json file = files.at(number);
          const std::uint64_t together = file.value("ranks", std::uint64_t{1});
          if (together == 1) continue;
          const std::uint64_t mine = file.value("renamed", std::uint64_t{0});
          file.erase("renamed");
          const std::string name = file.value("level", "") + ' ' + file.value("path", "");
          std::uint64_t others = 0;
          if (together == ranks) {
            std::uint64_t& all = times[{name, openings[name]++}];
            if (counts) all += mine;
            others = all;
          }
          if (counts || (mine == 0 && others == 0)) continue;
          if (others > 0) file["path"] = fmt::format("{} ({})", file.value("path", ""), others + 1);
          number = files.number(file.dump());
        }
      }
    }
  }

 private:
  enum class Kind { process, file, other };

  void add(Process& process, std::string text, const ByteReader& reader) {
    auto known = kinds_.find(text);
    if (known == kinds_.end()) {
      std::optional<Json> value = Json::parse_if_valid(text);
      if (!value) {
        text = ascii_of(std::move(text));
        value = Json::parse_if_valid(text);
      }
      if (!value || !value->is_object()) reader.refuse("a definition is no JSON object");
      const std::string kind = value->value("kind", "");
      if (kind == "process") {
        process.facts.merge(*value);
        return;
      }
      known = kinds_.emplace(text, kind == "file" ? Kind::file : Kind::other).first;
    }
    if (known->second == Kind::file) {
      process.files.push_back(files.number(text));
    } else {
      process.definitions.push_back(definitions.number(text));
    }
  }

  std::unordered_map<std::string, Kind> kinds_;
};

std::int64_t start_of(const Process& process) {
  return process.facts.value("started", std::int64_t{0});
}

/// Those of the launch that is asked for, of processes that know their ranks.
std::vector<const Process*> of_one_run(std::vector<const Process*> known,
                                       std::optional<std::uint64_t> asked,
                                       std::vector<std::string>& notes) {
  std::stable_sort(known.begin(), known.end(),
                   [](const Process* a, const Process* b) { return start_of(*a) < start_of(*b); });
  std::vector<std::string> names;
  std::vector<std::vector<const Process*>> runs;
  for (const Process* process : known) {
    const std::string name = process->facts.value("launch", "");
    const auto found = std::find(names.begin(), names.end(), name);
    const auto run = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
      names.push_back(name);
      runs.emplace_back();
    }
    runs[run].push_back(process);
  }
  std::vector<std::string> told;
  for (const auto& run : runs) {
    const std::uint64_t ranks = run.front()->number("ranks").value_or(1);
    told.push_back(fmt::format("{} is '{}' on {} rank{}", told.size() + 1, run.front()->program(),
                               ranks, ranks == 1 ? "" : "s"));
  }
  const std::string all = fmt::format("The spool is of {} run{}: {}", runs.size(),
                                      runs.size() == 1 ? "" : "s", fmt::join(told, ", "));
  if (asked.value_or(1) < 1 || asked.value_or(1) > runs.size()) {
    throw InputError(fmt::format("{}; there is no run {}.", all, *asked));
  }
  if (runs.size() > 1 && !asked) {
    throw InputError(all + "; say which by 'slabmark capture --merge SPOOL --run NUMBER'.");
  }
  if (runs.size() > 1) notes.push_back(all + ".");
  return runs[asked.value_or(1) - 1];
}

/// Gives processes their ranks. The result has one place a rank, null where it left nothing.
std::vector<const Process*> ranks_of(const std::vector<Process>& processes,
                                     std::optional<std::uint64_t> run,
                                     std::vector<std::string>& notes) {
  std::vector<const Process*> known;
  for (const Process& process : processes) {
    if (process.number("rank")) known.push_back(&process);
  }
  if (known.empty()) {  // programs without MPI
    if (run) {
      throw InputError(
          "No program in the spool spoke MPI, so its processes are the ranks of one pattern; leave "
          "--run out.");
    }
    for (const Process& process : processes) known.push_back(&process);
    std::stable_sort(known.begin(), known.end(), [](const Process* a, const Process* b) {
      const auto key = [](const Process& process) {
        const Json launched = process.facts.value("launched", Json::array({0, 0}));
        return std::pair(launched[0].get<std::uint64_t>(), start_of(process));
      };
      return key(*a) < key(*b);
    });
    return known;
  }
  if (known.size() < processes.size()) {
    std::string names;
    for (const Process& process : processes) {
      if (process.number("rank")) continue;
      if (names.find(process.program()) == std::string::npos)
        names += (names.empty() ? "" : ", ") + process.program();
    }
    notes.push_back(fmt::format("Processes that are no ranks of the program are left out: {} ({}).",
                                processes.size() - known.size(), names));
  }
  known = of_one_run(std::move(known), run, notes);
  const std::uint64_t count = known.front()->number("ranks").value_or(1);
  std::vector<const Process*> ranks(count);
  for (const Process* process : known) {
    const std::uint64_t rank = *process->number("rank");
    const Process* const other = rank < count ? ranks[rank] : known.front();
    if (other || process->number("ranks") != count) {
      throw InputError(
          fmt::format("The spool is of more than one run: rank {} of {} ({}, process {}) and rank "
                      "{} of {} ({}, "
                      "process {}); capture each launch by itself.",
                      rank, process->number("ranks").value_or(0), process->program(),
                      process->number("pid").value_or(0), other ? *other->number("rank") : 0, count,
                      (other ? other : known.front())->program(),
                      (other ? other : known.front())->number("pid").value_or(0)));
    }
    ranks[rank] = process;
  }
  return ranks;
}

/// "3, 7, 8 and 12 more"
std::string some_of(const std::vector<std::uint64_t>& numbers) {
  constexpr std::size_t most = 5;
  const std::size_t shown = std::min(most, numbers.size());
  std::string text = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < numbers.size()) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

/// Takes names out of a header, the same name for the same name.
class Anonymiser {
 public:
  void apply(Json& header) {
    for (Json& file : header["files"]) visit(file);
    for (Json& definition : header["definitions"]) {
      if (definition.value("kind", "") != "call") visit(definition);
    }
    for (const char* const key : {"hosts", "program", "command", "launch", "environment"})
      header.erase(key);
    for (Json& rank : header["ranks"]) {
      rank.erase("host");
      rank.erase("pid");
    }
    header["anonymous"] = true;
  }

 private:
  void visit(Json& value) {
    if (value.is_array()) {
      for (Json& entry : value) visit(entry);
    }
    if (!value.is_object()) return;
    value.erase("named");
    for (auto& [key, entry] : value.items()) {
      if ((key == "name" || key == "path") && entry.is_string()) {
        entry = other_name(key == "path" ? "file" : "name", entry.get<std::string>());
      } else if (key == "dimensions") {
        for (Json& dimension : entry) {
          if (dimension.is_string()) dimension = other_name("name", dimension.get<std::string>());
          visit(dimension);
        }
      } else if (key != "hints") {
        visit(entry);
      }
    }
  }
  std::string other_name(const std::string& prefix, const std::string& name) {
    auto& known = names_[prefix];
    return known.try_emplace(name, fmt::format("{}{}", prefix, known.size())).first->second;
  }

  std::map<std::string, std::map<std::string, std::string>> names_;
};

/// Ranks whose part of the pattern is not that of a program that ran to its end.
struct Gaps {
  std::vector<std::uint64_t> missing, early;
};

bool is_finished(const Process& process) {
  return process.facts.value("finished", false) && !process.frames->cut &&
         process.frames->frames.back().stream == capture::Stream::events;
}

Json header_of(const std::vector<const Process*>& ranks, Gaps& gaps) {
  Json header = {{"ranks", Json::array()}, {"hosts", Json::array()}};
  for (std::uint64_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank]) {
      gaps.missing.push_back(rank);
      header["ranks"].push_back({{"state", "missing"}});
      continue;
    }
    const Process& process = *ranks[rank];
    const bool finished = is_finished(process);
    if (!finished) gaps.early.push_back(rank);
    Json& hosts = header["hosts"];
    const Json host = process.facts.value("host", "?");
    const auto place_of_host = std::find(hosts.begin(), hosts.end(), host);
    const auto host_number = place_of_host - hosts.begin();
    if (place_of_host == hosts.end()) hosts.push_back(host);
    header["ranks"].push_back({{"host", host_number},
                               {"pid", process.number("pid").value_or(0)},
                               {"state", finished ? "finished" : "ended early"}});
    for (const char* const key : {"program", "command", "environment", "libraries"}) {
      if (!header.contains(key) && process.facts.contains(key)) header[key] = process.facts[key];
    }
  }
  return header;
}

void note_gaps(const Gaps& gaps, std::uint64_t damaged, std::vector<std::string>& notes) {
  if (!gaps.missing.empty()) {
    notes.push_back(fmt::format("Ranks that left nothing are taken to have done nothing: {}.",
                                some_of(gaps.missing)));
  }
  if (!gaps.early.empty()) {
    notes.push_back(
        fmt::format("The pattern is what was seen until the program ended early, on rank{} {}.",
                    gaps.early.size() > 1 ? "s" : "", some_of(gaps.early)));
  }
  if (damaged > 0) {
    notes.push_back(fmt::format(
        "Bytes that were not written to the end are left out at {} place{} of the spool.", damaged,
        damaged > 1 ? "s" : ""));
  }
}

void note_uncaptured(const Json& definitions, std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (const Json& one : definitions) {
    if (one.value("effect", "") == "uncaptured") names.insert(one.value("name", "?"));
  }
  if (names.empty()) return;
  notes.push_back(
      fmt::format("Not captured, and so not in the pattern: {}.", fmt::join(names, "; ")));
}

void refuse_nothing(const Json& definitions, const MergeRequest& request) {
  const auto is_call = [](const Json& one) { return one.value("kind", "") == "call"; };
  if (std::any_of(definitions.begin(), definitions.end(), is_call)) return;
  if (request.status.value_or(0) != 0) {
    throw InputError(
        fmt::format("Nothing was recorded: the program ended with status {} before its first call.",
                    *request.status));
  }
  throw InputError("Nothing was recorded: the program called no library that is captured.");
}

/// Returns the bytes that the ranks' events and lists had in the spool. All of the file is there,
/// or none.
std::uint64_t write_pattern(const SpoolReader& spool, const std::vector<const Process*>& ranks,
                            const Json& header, const MergeRequest& request) {
  std::uint64_t read = 0;
  const std::string unfinished = request.output + ".unfinished";
  try {
    PatternWriter writer(unfinished);
    const Process nothing;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const Process* const of_rank = ranks[rank];
      if (request.on_rank) request.on_rank(rank, ranks.size());
      if (of_rank) {
        const auto add = [&](capture::Stream stream, auto&& put) {
          spool.read(*of_rank->frames, stream, [&](std::span<const std::uint8_t> bytes) {
            read += bytes.size();
            put(bytes);
          });
        };
        if (!of_rank->children.empty()) writer.add_events(of_rank->children);
        add(capture::Stream::events, [&](auto bytes) { writer.add_events(bytes); });
        add(capture::Stream::lists, [&](auto bytes) { writer.add_lists(bytes); });
      }
      const Process& process = of_rank ? *of_rank : nothing;
      writer.end_rank(process.files, process.definitions);
    }
    writer.finish(header, "captured");
    std::filesystem::rename(unfinished, request.output);
  } catch (...) {
    std::error_code error;
    std::filesystem::remove(unfinished, error);
    throw;
  }
  return read;
}

}  // namespace

MergeResult merge_spool(const MergeRequest& request) {
  const SpoolReader spool(request.spool);
  MergeResult result;
  Definitions definitions;
  std::vector<Process> processes;
  const std::string place = fmt::format("The definitions in '{}'", request.spool);
  for (const auto& [number, frames] : spool.processes()) {
    processes.push_back(definitions.read(spool, frames, place));
  }
  const std::vector<const Process*> ranks = ranks_of(processes, request.run, result.notes);
  const auto is_rank = [&](const Process& process) {
    return std::find(ranks.begin(), ranks.end(), &process) != ranks.end();
  };
  if (!std::all_of(processes.begin(), processes.end(), is_rank)) {
    definitions = {};  // without those of the others
    for (Process& process : processes) {
      if (is_rank(process)) {
        process = definitions.read(spool, *process.frames, place);
      } else {
        process.files.clear();
      }
    }
  }
  definitions.name_renamed(processes, ranks.size());

  Gaps gaps;
  Json header = header_of(ranks, gaps);
  if (!gaps.missing.empty() && !request.allow_missing) {
    throw InputError(fmt::format(
        "{} of {} ranks left nothing in '{}': {}; put the spool files of all nodes there, or use "
        "--allow-missing if they opened no file.",
        gaps.missing.size(), ranks.size(), request.spool, some_of(gaps.missing)));
  }
  note_gaps(gaps, spool.damaged(), result.notes);
  if (spool.other_calls_of_children() > 0) {
    result.notes.push_back(
        fmt::format("Children of processes that are not in the pattern made {} calls, which are "
                    "not captured.",
                    spool.other_calls_of_children()));
  }

  header["files"] = definitions.files.take();
  header["definitions"] = definitions.definitions.take();
  refuse_nothing(header["definitions"], request);
  note_uncaptured(header["definitions"], result.notes);
  if (!request.launch.empty()) header["launch"] = request.launch;
  if (request.anonymous) Anonymiser().apply(header);

  result.bytes = write_pattern(spool, ranks, header, request);
  result.ranks = ranks.size();
  return result;
}

}  // namespace slabmark
