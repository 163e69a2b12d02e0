#include "method/raw/blob_file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t mark = 0x626f6c622d626c73;  // "slb-blob"
constexpr std::uint64_t version = 1;

struct Head {
  std::uint64_t mark = 0, version = 0, ranks = 0, rounds = 0;
  std::uint64_t text_offset = 0, text_bytes = 0, table_offset = 0;
};

const std::byte* bytes_of(const void* data) { return static_cast<const std::byte*>(data); }
std::byte* bytes_of(void* data) { return static_cast<std::byte*>(data); }

nlohmann::json json_of(const std::vector<Attribute>& attributes) {
  auto all = nlohmann::json::array();
  for (const auto& [name, text] : attributes) all.push_back({name, text});
  return all;
}

std::vector<Attribute> attributes_of(const nlohmann::json& json) {
  std::vector<Attribute> all;
  for (const auto& pair : json) all.push_back({pair.at(0), pair.at(1)});
  return all;
}

std::string describe(const Pattern& pattern) {
  auto datasets = nlohmann::json::array();
  for (const Dataset& dataset : pattern.datasets) {
    auto dimensions = nlohmann::json::array();
    for (const auto& [name, length] : dataset.dimensions) dimensions.push_back({name, length});
    datasets.push_back({{"name", dataset.name},
                        {"type", static_cast<int>(dataset.type)},
                        {"dimensions", dimensions},
                        {"has_time", dataset.has_time},
                        {"attributes", json_of(dataset.attributes)}});
  }
  return nlohmann::json{{"datasets", datasets}, {"attributes", json_of(pattern.attributes)}}.dump();
}

Pattern parse_description(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Pattern pattern;
  pattern.name = "blob";
  pattern.attributes = attributes_of(json.at("attributes"));
  for (const auto& entry : json.at("datasets")) {
    Dataset dataset;
    dataset.name = entry.at("name");
    dataset.type = static_cast<ElementType>(entry.at("type").get<int>());
    for (const auto& pair : entry.at("dimensions")) {
      dataset.dimensions.push_back({pair.at(0), pair.at(1)});
    }
    dataset.has_time = entry.at("has_time");
    dataset.attributes = attributes_of(entry.at("attributes"));
    pattern.datasets.push_back(std::move(dataset));
  }
  return pattern;
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
    throw IoError(fmt::format("The index of '{}' is damaged; write the file again.", path));
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
    : file_(posix::File::open(path, posix::File::Access::read)) {
  Head head;
  if (file_.size() >= sizeof head) file_.read_at(0, bytes_of(&head), sizeof head);
  if (head.mark != mark || head.version != version) {
    throw IoError(fmt::format(
        "'{}' is no finished file of the blob method, or was written on a machine of the other "
        "byte order.",
        path));
  }
  table_.resize(2 * head.ranks);
  file_.read_at(head.table_offset, bytes_of(table_.data()), table_.size() * sizeof(std::uint64_t));
  std::string text(head.text_bytes, ' ');
  file_.read_at(head.text_offset, bytes_of(text.data()), text.size());
  try {
    description_ = parse_description(text);
  } catch (const nlohmann::json::exception&) {
    throw IoError(fmt::format("The description in '{}' is damaged; write the file again.", path));
  }
  description_.rounds = head.rounds;
}

BlobIndex BlobFile::index(std::uint64_t rank) {
  std::vector<std::uint64_t> numbers(table_[2 * rank + 1]);
  file_.read_at(table_[2 * rank], bytes_of(numbers.data()), numbers.size() * sizeof(std::uint64_t));
  return BlobIndex::parse(numbers, file_.path());
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
