#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <utility>

#include "bench/map/decomposition.hpp"
#include "bench/pattern/captured/captured_pattern.hpp"
#include "capture/format/coding.hpp"
#include "capture/format/event_flags.hpp"
#include "capture/read/pattern_file.hpp"
#include "core/json/json.hpp"
#include "fuzz/target.hpp"

namespace slabmark {

/// The parts of a pattern file of one rank, one after another with their lengths: HDF5's checksums
/// would hide the reader from all damage.
class PatternParts {
 public:
  static std::string joined(const std::array<std::string, 5>& parts) {
    std::string bytes;
    for (const std::string& part : parts) {
      const std::uint32_t length = static_cast<std::uint32_t>(part.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(part);
    }
    return bytes;
  }

  explicit PatternParts(std::string bytes) : bytes_(std::move(bytes)) {}

  /// The next; lengths that are damaged are those of what there is.
  std::string next() {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes_.data() + at_, std::min(sizeof length, bytes_.size() - at_));
    at_ = std::min(bytes_.size(), at_ + sizeof length);
    const std::string part = bytes_.substr(at_, length);
    at_ += part.size();
    return part;
  }
  template <class Number>
  std::vector<Number> next_numbers() {
    const std::string part = next();
    std::vector<Number> numbers(part.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), part.data(), numbers.size() * sizeof(Number));
    return numbers;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// A pattern file of one rank, as text.
class PatternSeed {
 public:
  using Numbers = std::vector<std::uint64_t>;
  using Signed = std::vector<std::int64_t>;

  /// Strides and blocks may be empty. Returns the number of the list.
  std::uint64_t add_list(std::size_t rank, const Signed& extent, const Signed& origin,
                         std::initializer_list<Signed> columns, bool is_map = false) {
    const std::size_t boxes = columns.begin()->size();
    const bool is_strided = columns.size() == 4 * rank;
    capture::Bytes list;
    put(list,
        {(is_strided ? capture::strided_list : 0) |
             (origin.empty() ? 0 : capture::list_has_origin) |
             (extent.empty() ? 0 : capture::list_has_extent) | (is_map ? capture::list_is_map : 0),
         rank, boxes});
    for (const std::int64_t length : extent) put(list, {static_cast<std::uint64_t>(length)});
    for (const std::int64_t start : origin) capture::put_signed(list, start);
    for (const Signed& column : columns) capture::put_column(list, column);
    put(lists_, {list.size()});
    lists_.insert(lists_.end(), list.begin(), list.end());
    return count_++;
  }
  void put_block(const capture::Bytes& body, const Signed& parameters) {
    put(events_, {1, 5, 7, body.size()});
    events_.insert(events_.end(), body.begin(), body.end());
    put(events_, {parameters.size()});
    capture::put_column(events_, parameters);
  }
  void put_again(std::uint64_t block, const Signed& differences) {
    put(events_, {2, block, 100'000, 3});
    capture::put_column(events_, differences);
  }
  void put_events(const Numbers& numbers) { put(events_, numbers); }
  static void put(capture::Bytes& to, const Numbers& numbers) {
    for (const std::uint64_t number : numbers) capture::put_varint(to, number);
  }

  std::string text(const std::string& header) const {
    const Json json = Json::parse(header);
    std::vector<std::uint32_t> files, definitions;
    for (std::size_t i = 0; i < json["files"].size(); ++i) files.push_back(std::uint32_t(i));
    for (std::size_t i = 0; i < json["definitions"].size(); ++i)
      definitions.push_back(std::uint32_t(i));
    return PatternParts::joined(
        {as_text(events_), as_text(lists_), as_text(files), as_text(definitions), header});
  }

 private:
  template <class Number>
  static std::string as_text(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
  }

  capture::Bytes events_, lists_;
  std::uint64_t count_ = 0;
};

/// Nonblocking writes of strided boxes out of strided memory and a wait for them, three times; a
/// dataset with records, which are waited for by their numbers, one of them dropped.
inline std::string pattern_of_requests() {
  using namespace capture;
  PatternSeed seed;
  const std::uint64_t strided =
      seed.add_list(2, {}, {}, {{0, 4}, {0, 1}, {2, 2}, {3, 3}, {2, 2}, {2, 2}, {1, 2}, {1, 1}});
  const std::uint64_t memory = seed.add_list(1, {40}, {3}, {{0}, {18}, {2}, {1}});
  const std::uint64_t map = seed.add_list(2, {}, {}, {{1}, {8}, {2}, {3}}, true);
  Bytes body;
  // Each: step to the track; if new, its file, dataset, call, flags, type, details, dimensions and
  // arguments; the selection, origin, arguments, memory, requests.
  PatternSeed::put(body, {0, 0, 1, 3, writes | nonblocking | has_memory_flag, 6, 0, 2, 1});
  PatternSeed::put(body, {first_list_code + strided, 0, 0, 10, memory});
  PatternSeed::put(body, {2, 0, 0, 4, collective | names_requests_flag, 0, 0, 0, 0, all_requests});
  PatternSeed::put(body, {2, 0, 2, 3, writes | nonblocking | has_memory_flag, 0, 0, 3, 0});
  PatternSeed::put(body, {select_box_code, 1, 2, 3, 0, 0, 0, map});
  PatternSeed::put(body, {0, select_box_code, 1, 2, 3, 2, 0, 0, map});
  PatternSeed::put(body, {2, 0, 0, 4, cancels | names_requests_flag, 0, 0, 0, 0});
  PatternSeed::put(body, {listed_requests + 1, 0, 2});
  PatternSeed::put(body, {3, all_requests});
  seed.put_block(body, {0, 1, 2, 0, 0, 0, 0, 5, 0});
  seed.put_again(0, {0, 0, 0, 10, 0, 0, 1, 0, 0});
  seed.put_again(0, {0, 0, 0, 10, 0, 0, 1, 0, 0});
  seed.put_events({3, 3, 4, 4});
  return seed.text(R"({"files":[{"level":"pnetcdf","path":"out.nc","ranks":1,"hints":{"a":"4"}}],
    "ranks":[{"host":0,"pid":17,"state":"finished"}],"hosts":["h"],"definitions":[
    {"kind":"call","name":"ncmpi_create","effect":"create"},
    {"kind":"dataset","name":"u","type":"float64","extent":[40,10],"dimensions":["y","x"]},
    {"kind":"dataset","name":"r","type":"int32","extent":[0,4,6],"maximum":[null,4,6]},
    {"kind":"call","name":"ncmpi_iput_varm","effect":"write"},
    {"kind":"call","name":"ncmpi_wait_all","effect":"flush"},
    {"kind":"type","type":"float64"}]})");
}

/// Two files of HDF5 with types that have no word, whole datasets, points, changes of the extent
/// and parts of one call; beside them what went past the library.
inline std::string pattern_of_files() {
  using namespace capture;
  PatternSeed seed;
  const std::uint64_t points =
      seed.add_list(2, {}, {}, {{0, 3, -2}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  Bytes body;
  PatternSeed::put(body, {0, 0, 0, 2, 0, 0, 0, 0, 0});          // created
  PatternSeed::put(body, {2, 0, 1, 3, 0, 0, 0, 0, 2, 24, 10});  // its extent
  PatternSeed::put(body, {2, 0, 1, 4, writes | collective, 0, 0, 2, 1, first_list_code + points});
  PatternSeed::put(body, {0, 0, 2});
  PatternSeed::put(body, {2, 0, 2, 4, writes | collective | one_more_part, 0, 0, 1, 0});
  PatternSeed::put(body, {select_all_code});
  PatternSeed::put(body, {2, 1, 3, 5, writes, 0, 0, 1, 0, select_box_code, 100, 0});
  PatternSeed::put(body, {2, 0, 0, 6, collective, 0, 0, 0, 0});
  seed.put_block(body, {0, 2, 0, 1, 7, 12, 0, 0, 0, 5, 0, 1});
  seed.put_again(0, {1, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0});
  seed.put_events({4});
  return seed.text(R"({"files":[{"level":"hdf5","path":"a","ranks":1,"renamed":1},
    {"level":"hdf5","path":"b","hdf5":{"access":"AAAA"}},
    {"level":"posix","path":"log","flags":["trunc"],"unasked":true}],"guess":"a test's",
    "ranks":[{"state":"ended early"}],"hosts":[],"definitions":[
    {"kind":"dataset","name":"/g/x","type":{"class":"compound","bytes":24},"extent":[5,6],
     "maximum":[null,9],"chunk":[1,6],"filters":["deflate"],"attributes":[{"name":"a"}]},
    {"kind":"dataset","name":"y","type":"int16","extent":[7]},
    {"kind":"call","name":"H5Fcreate","effect":"create"},
    {"kind":"call","name":"H5Dset_extent","effect":"extent"},
    {"kind":"call","name":"H5Dwrite_multi","effect":"write"},
    {"kind":"call","name":"write","effect":"write"},
    {"kind":"call","name":"H5Fclose","effect":"close"},
    {"kind":"bytes"}]})");
}

/// Reads all events of the rank, with their lists and what they name.
inline void read_events(const std::string& path) {
  const PatternFile file(path);
  for (std::uint64_t rank = 0; rank < file.ranks(); ++rank) {
    RankReader reader(file, rank);
    for (CapturedEvent event; reader.events.next(event);) {
      reader.file(event.file);
      reader.definition(event.call);
      if (event.selection == CapturedEvent::Selection::list && event.moves())
        reader.lists.get(event.list).elements();
      if (event.memory) reader.lists.get(*event.memory).elements();
    }
  }
}

/// Pattern files whose parts are damaged, read as a list of calls, as a pattern and as a map.
inline FuzzTarget captured_target() {
  FuzzTarget target;
  target.seeds = {pattern_of_requests(), pattern_of_files()};
  target.read = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    PatternParts parts({std::istreambuf_iterator<char>(file), {}});
    const std::string pattern = path + ".pattern";
    std::filesystem::remove(pattern);
    {
      PatternWriter writer(pattern);
      writer.add_events(parts.next_numbers<std::uint8_t>());
      writer.add_lists(parts.next_numbers<std::uint8_t>());
      const auto files = parts.next_numbers<std::uint32_t>();
      writer.end_rank(files, parts.next_numbers<std::uint32_t>());
      writer.finish(Json::parse_if_valid(parts.next()).value_or(nullptr), "captured");
    }
    const Comm alone(MPI_COMM_SELF);
    std::exception_ptr refused;  // by one of them; the others read on
    const std::function<void()> readers[] = {
        [&] { read_events(pattern); },
        [&] {
          const Pattern played =
              make_captured_pattern(alone, {.path = pattern, .with_neighbours = true}).mine;
          for (std::uint64_t round = 0; round < played.rounds; ++round) played.transfers(round);
        },
        [&] {
          const auto map = open_map(alone, pattern);
          for (std::size_t k = 0; k < map->maps().size(); ++k) map->read(k, 0, 1);
        }};
    for (const auto& read : readers) {
      try {
        read();
      } catch (const Error&) {
        refused = std::current_exception();
      }
    }
    if (refused) std::rethrow_exception(refused);
  };
  return target;
}

}  // namespace slabmark
