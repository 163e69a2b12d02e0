#include "capture/read/show.hpp"

#include <fmt/format.h>

#include "capture/format/event_flags.hpp"
#include "capture/read/pattern_file.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

Json rows(const std::vector<std::int64_t>& numbers, std::size_t rank) {
  Json all = Json::array();
  for (std::size_t i = 0; rank > 0 && i < numbers.size(); i += rank) {
    all.push_back(std::vector(numbers.begin() + static_cast<std::ptrdiff_t>(i),
                              numbers.begin() + static_cast<std::ptrdiff_t>(i + rank)));
  }
  return all;
}

Json list(const BoxArray& boxes, const std::vector<std::int64_t>& origin) {
  std::vector<std::int64_t> starts = boxes.starts;
  for (std::size_t k = 0; k < starts.size() && !boxes.is_map; ++k) {
    const std::size_t d = k % boxes.rank;
    if (d < origin.size()) starts[k] += origin[d];
  }
  Json value = {{"starts", rows(starts, boxes.rank)}, {"counts", rows(boxes.counts, boxes.rank)}};
  if (!boxes.strides.empty()) {
    value["strides"] = rows(boxes.strides, boxes.rank);
    value["blocks"] = rows(boxes.blocks, boxes.rank);
  }
  if (!boxes.extent.empty()) value["extent"] = boxes.extent;
  if (boxes.is_map) value["map"] = true;
  return value;
}

Json selection(const CapturedEvent& event, const BoxLists& lists) {
  switch (event.selection) {
    case CapturedEvent::Selection::all:
      return "all";
    case CapturedEvent::Selection::nothing:
      return "nothing";
    case CapturedEvent::Selection::box:
      return {{"starts", {event.origin}}, {"counts", {event.counts}}};
    case CapturedEvent::Selection::list:
      return list(lists.get(event.list), event.origin);
  }
  return nullptr;
}

Json flags(std::uint32_t set) {
  Json names = Json::array();
  constexpr std::pair<unsigned, const char*> all[] = {{capture::writes, "writes"},
                                                      {capture::reads, "reads"},
                                                      {capture::collective, "collective"},
                                                      {capture::nonblocking, "nonblocking"},
                                                      {capture::buffered, "buffered"},
                                                      {capture::failed, "failed"},
                                                      {capture::one_more_part, "one more part"},
                                                      {capture::cancels, "cancels"}};
  for (const auto& [flag, name] : all) {
    if (set & flag) names.push_back(name);
  }
  return names;
}

Json described(const CapturedEvent& event, const RankReader& rank) {
  Json value = {{"call", rank.definition(event.call).value("name", "")},
                {"file", rank.file(event.file).value("path", "")},
                {"opening", event.file},
                {"flags", flags(event.flags)}};
  if (event.begins_block) {
    value["thought"] = event.think_time;
    value["inside"] = event.inside;
  }
  if (event.dataset != CapturedEvent::none) {
    value["dataset"] = rank.definition(event.dataset).value("name", "");
  }
  if (event.type != CapturedEvent::none)
    value["type"] = rank.definition(event.type).value("type", Json());
  if (event.moves()) value["selection"] = selection(event, rank.lists);
  if (event.memory) {
    const BoxArray boxes = rank.lists.get(*event.memory);
    value["memory"] = list(boxes, boxes.origin);
  }
  if (!event.arguments.empty()) value["arguments"] = event.arguments;
  if (event.request > 0) value["request"] = event.request;
  constexpr const char* requests[] = {"none", "all", "all that write", "all that read"};
  if (event.requests == CapturedEvent::Requests::listed) {
    value["requests"] = event.listed;
  } else if (event.requests != CapturedEvent::Requests::none) {
    value["requests"] = requests[static_cast<std::size_t>(event.requests)];
  }
  return value;
}

void print(const Json& value) { fmt::print("{}\n", value.dump()); }

}  // namespace

void show_pattern(const std::string& path, std::optional<std::uint64_t> rank) {
  const PatternFile file(path);
  if (!rank) {
    Json header = file.header();
    header["origin"] = file.origin();
    if (!file.guess().empty()) header["guess"] = file.guess();
    print(header);
    return;
  }
  if (*rank >= file.ranks()) {
    throw InputError(
        fmt::format("'{}' is of {} ranks, so there is no rank {}.", path, file.ranks(), *rank));
  }
  RankReader reader(file, *rank);
  for (CapturedEvent event; reader.next(event);) print(described(event, reader));
  for (const auto& [call, count] : reader.events.uncaptured()) {
    print({{"uncaptured", reader.definition(call).value("name", "")}, {"count", count}});
  }
  if (!reader.events.finished()) print({{"ended", "early"}});
}

}  // namespace slabmark
