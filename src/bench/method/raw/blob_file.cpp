#include "bench/method/raw/blob_file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/json/json.hpp"

namespace slabmark {

// The description of the datasets; see parse_description().
static void to_json(Json& json, const Attribute& a) { json = {a.name, a.text}; }
static void from_json(const Json& json, Attribute& a) { a = {json.at(0), json.at(1)}; }
static void to_json(Json& json, const Dimension& d) { json = {d.name, d.length}; }
static void from_json(const Json& json, Dimension& d) { d = {json.at(0), json.at(1)}; }
static void to_json(Json& json, const Dataset& d) {
  json = {{"name", d.name},
          {"type", static_cast<int>(d.type)},
          {"dimensions", d.dimensions},
          {"has_time", d.has_time},
          {"attributes", d.attributes}};
}
static void from_json(const Json& json, Dataset& d) {
  d.name = json.at("name").get<std::string>();
  d.type = static_cast<ElementType>(json.at("type").get<int>());
  d.dimensions = json.at("dimensions").get<std::vector<Dimension>>();
  d.has_time = json.at("has_time");
  d.attributes = json.at("attributes").get<std::vector<Attribute>>();
}

namespace {

constexpr std::uint64_t mark = 0x626f6c622d626c73;  // "slb-blob"
constexpr std::uint64_t version = 1;

struct Head {
  std::uint64_t mark = 0, version = 0, ranks = 0, rounds = 0;
  std::uint64_t text_offset = 0, text_bytes = 0, table_offset = 0;
};

const std::byte* bytes_of(const void* data) { return static_cast<const std::byte*>(data); }
std::byte* bytes_of(void* data) { return static_cast<std::byte*>(data); }

std::string describe(const Pattern& pattern) {
  return Json{{"datasets", pattern.datasets}, {"attributes", pattern.attributes}}.dump();
}

Pattern parse_description(const std::string& text) {
  const auto json = Json::parse(text);
  Pattern pattern;
  pattern.name = "blob";
  pattern.attributes = json.at("attributes").get<std::vector<Attribute>>();
  pattern.datasets = json.at("datasets").get<std::vector<Dataset>>();
  for (const Dataset& dataset : pattern.datasets) size_of(dataset.type);  // refuses what is no type
  return pattern;
}

[[noreturn]] void fail_damaged(const std::string& path, const std::string& what) {
  throw InputError(fmt::format("{} in '{}' is damaged; write the file again.", what, path));
}

/// The elements of a map, as far as an entry can be wrong about them.
struct MapBounds {
  std::uint64_t elements = 0;
  std::uint64_t end = 0;  ///< behind the last element
};

/// Nothing for runs beyond 63 bits, which no array has.
std::optional<MapBounds> bounds_of(const RunList& runs) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  MapBounds bounds;
  for (const Run& run : runs) {
    if (run.offset > most || run.length > most - run.offset) return std::nullopt;
    if (run.length > most - bounds.elements) return std::nullopt;
    bounds.elements += run.length;
    bounds.end = std::max(bounds.end, run.end());
  }
  return bounds;
}

/// Runs in the order of elements as pieces of a dense buffer, ascending in the file.
std::vector<Piece> pieces_of(const RunList& runs) {
  std::vector<Piece> pieces;
  std::uint64_t at = 0;
  for (const Run& run : runs) {
    pieces.push_back({run.offset, at, run.length});
    at += run.length;
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.file < b.file; });
  return pieces;
}

/// Calls visit(a's buffer, b's buffer, length) for what two ascending lists have in common.
template <class Visit>
void for_each_common(std::span<const Piece> a, std::span<const Piece> b, const Visit& visit) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t begin = std::max(a[i].file, b[j].file);
    const std::uint64_t a_end = a[i].file + a[i].length;
    const std::uint64_t b_end = b[j].file + b[j].length;
    const std::uint64_t end = std::min(a_end, b_end);
    if (begin < end) {
      visit(a[i].buffer + (begin - a[i].file), b[j].buffer + (begin - b[j].file), end - begin);
    }
    a_end <= b_end ? ++i : ++j;
  }
}

}  // namespace

std::vector<std::uint64_t> BlobIndex::numbers() const {
  std::vector<std::uint64_t> all{maps.size()};
  for (const RunList& runs : maps) {
    all.push_back(runs.size());
    for (const Run& run : runs) all.insert(all.end(), {run.offset, run.length});
  }
  all.push_back(entries.size());
  for (const Entry& e : entries)
    all.insert(all.end(), {e.dataset, e.time, e.map, e.offset, e.round});
  return all;
}

BlobIndex BlobIndex::parse(std::span<const std::uint64_t> numbers, const std::string& path) {
  std::size_t at = 0;
  const auto next = [&] {
    if (at < numbers.size()) return numbers[at++];
    fail_damaged(path, "The index of a rank");
  };
  BlobIndex index;
  for (std::uint64_t maps = next(); maps > 0; --maps) {
    RunList& runs = index.maps.emplace_back();
    for (std::uint64_t count = next(); count > 0; --count) {
      const std::uint64_t offset = next();
      runs.push_back({offset, next()});
    }
  }
  for (std::uint64_t count = next(); count > 0; --count) {
    Entry entry;
    for (auto* member : {&entry.dataset, &entry.time, &entry.map, &entry.offset, &entry.round}) {
      *member = next();
    }
    index.entries.push_back(entry);
  }
  return index;
}

void write_blob_index(const Comm& comm, posix::File& file, std::uint64_t end,
                      const Pattern& pattern, const BlobIndex& mine) {
  const auto numbers = mine.numbers();
  const std::uint64_t bytes = numbers.size() * sizeof(std::uint64_t);
  const std::uint64_t offset = end + comm.sum_before(bytes);
  file.write_at(offset, bytes_of(numbers.data()), bytes);
  const auto offsets = comm.gather(offset);
  const auto counts = comm.gather(static_cast<std::uint64_t>(numbers.size()));
  const std::uint64_t after = end + comm.sum(bytes);
  if (!comm.is_root()) return;
  std::vector<std::uint64_t> table;
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    table.insert(table.end(), {offsets[r], counts[r]});
  }
  const std::uint64_t table_bytes = table.size() * sizeof(std::uint64_t);
  const std::string text = describe(pattern);
  file.write_at(after, bytes_of(table.data()), table_bytes);
  file.write_at(after + table_bytes, bytes_of(text.data()), text.size());
  const Head head{mark,        version, offsets.size(), pattern.rounds, after + table_bytes,
                  text.size(), after};
  file.write_at(0, bytes_of(&head), sizeof head);
}

BlobFile::BlobFile(const std::string& path)
    : file_(posix::File::open_input(path, "file of the private layout")), bytes_(file_.size()) {
  Head head;
  if (bytes_ >= sizeof head) file_.read_at(0, bytes_of(&head), sizeof head);
  if (head.mark != mark || head.version != version) {
    throw InputError(fmt::format(
        "'{}' is no finished file of the blob method, or was written on a machine of the other "
        "byte order.",
        path));
  }
  require_within(head.table_offset, head.ranks, 2 * sizeof(std::uint64_t), "The table of ranks");
  table_.resize(2 * head.ranks);
  file_.read_at(head.table_offset, bytes_of(table_.data()), table_.size() * sizeof(std::uint64_t));
  std::uint64_t numbers = 0;  // all within the file, so that their sum is no larger than can be
  for (std::uint64_t rank = 0; rank < head.ranks; ++rank) {
    require_within(table_[2 * rank], table_[2 * rank + 1], sizeof(std::uint64_t),
                   "The table of ranks");
    numbers += table_[2 * rank + 1];
    require_within(0, numbers, sizeof(std::uint64_t), "The table of ranks");
  }
  require_within(head.text_offset, head.text_bytes, 1, "The description");
  std::string text(head.text_bytes, ' ');
  file_.read_at(head.text_offset, bytes_of(text.data()), text.size());
  try {
    description_ = parse_description(text);
    for (const Dataset& dataset : description_.datasets) element_count(dataset.extent());
  } catch (const JsonError&) {
    fail_damaged(path, "The description");
  } catch (const InputError&) {
    fail_damaged(path, "The description");
  }
  if (description_.datasets.empty() || head.ranks == 0) fail_damaged(path, "The description");
  description_.rounds = head.rounds;
}

void BlobFile::require_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size,
                              const std::string& what) const {
  if (offset > bytes_ || count > (bytes_ - offset) / size) fail_damaged(file_.path(), what);
}

BlobIndex BlobFile::index(std::uint64_t rank) {
  std::vector<std::uint64_t> numbers(table_[2 * rank + 1]);
  file_.read_at(table_[2 * rank], bytes_of(numbers.data()), numbers.size() * sizeof(std::uint64_t));
  BlobIndex index = BlobIndex::parse(numbers, file_.path());
  const std::string what = fmt::format("The index of rank {}", rank);
  std::vector<MapBounds> bounds;
  for (const RunList& runs : index.maps) {
    const auto found = bounds_of(runs);
    if (!found) fail_damaged(file_.path(), what);
    bounds.push_back(*found);
  }
  for (const BlobIndex::Entry& entry : index.entries) {
    if (entry.dataset >= description_.datasets.size() || entry.map >= bounds.size() ||
        entry.round >= description_.rounds) {
      fail_damaged(file_.path(), what);
    }
    const Dataset& dataset = description_.datasets[entry.dataset];
    const MapBounds& map = bounds[entry.map];
    const std::uint64_t room = element_count(dataset.extent());
    if (map.elements == 0 || map.elements > room || map.end > room)
      fail_damaged(file_.path(), what);
    require_within(entry.offset, map.elements, size_of(dataset.type), what);
  }
  return index;
}

void BlobFile::read(std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
  file_.read_at(offset, data, bytes);
}

void BlobFile::load_sources() {
  loaded_ = true;
  for (std::uint64_t rank = 0; rank < ranks(); ++rank) {
    const BlobIndex its = index(rank);
    std::vector<std::shared_ptr<const std::vector<Piece>>> maps;
    for (const RunList& runs : its.maps) {
      maps.push_back(std::make_shared<const std::vector<Piece>>(pieces_of(runs)));
    }
    for (const BlobIndex::Entry& entry : its.entries) {
      sources_[{entry.dataset, entry.time}].push_back(
          {maps.at(entry.map), total_length(its.maps.at(entry.map)), entry.offset});
    }
  }
}

void BlobFile::read_elements(std::size_t dataset, std::uint64_t time, std::span<const Piece> pieces,
                             std::uint64_t element_bytes, std::byte* buffer) {
  if (!loaded_) load_sources();
  std::vector<std::byte> block;
  for (const Source& source : sources_[{dataset, time}]) {
    bool read = false;
    for_each_common(*source.pieces, pieces,
                    [&](std::uint64_t its, std::uint64_t mine, std::uint64_t length) {
                      if (!read) {
                        block.resize(source.elements * element_bytes);
                        file_.read_at(source.offset, block.data(), block.size());
                        read = true;
                      }
                      std::memcpy(buffer + mine * element_bytes, block.data() + its * element_bytes,
                                  length * element_bytes);
                    });
  }
}

}  // namespace slabmark
