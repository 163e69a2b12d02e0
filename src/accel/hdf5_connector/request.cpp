#include "accel/hdf5_connector/request.hpp"

namespace slabmark::slablog {

namespace {

std::vector<std::uint64_t> first_bits(std::span<const ReadRun> reads) {
  std::vector<std::uint64_t> bits;
  bits.reserve(reads.size());
  std::uint64_t before = 0;
  for (const auto& read : reads) {
    bits.push_back(before);
    before += read.length;
  }
  return bits;
}

/// Ascending, and none longer than `most`.
std::vector<ReadRun> arranged(std::vector<ReadRun> reads, std::size_t element_bytes,
                              std::uint64_t most) {
  const auto is_long = [&](const ReadRun& read) { return read.length > most; };
  if (std::any_of(reads.begin(), reads.end(), is_long)) {
    std::vector<ReadRun> cut;
    for (auto read : reads) {
      for (; is_long(read); read = after(read, most, element_bytes)) {
        cut.push_back({read.offset, most, read.target});
      }
      cut.push_back(read);
    }
    reads = std::move(cut);
  }
  const auto by_offset = [](const ReadRun& a, const ReadRun& b) { return a.offset < b.offset; };
  if (!std::is_sorted(reads.begin(), reads.end(), by_offset)) {
    std::sort(reads.begin(), reads.end(), by_offset);
  }
  return reads;
}

}  // namespace

Request::Request(std::span<const ReadRun> reads, std::size_t element_bytes)
    : reads_(reads),
      element_bytes_(element_bytes),
      bits_(first_bits(reads)),
      missing_(reads.empty() ? 0 : bits_.back() + reads.back().length),
      found_(missing_) {}

void for_each_request(std::vector<ReadRun> reads, std::size_t element_bytes,
                      std::uint64_t most_elements, const std::function<void(Request&)>& visit) {
  reads = arranged(std::move(reads), element_bytes, most_elements);
  for (std::span<const ReadRun> rest(reads); !rest.empty();) {
    std::size_t count = 1;
    auto elements = rest[0].length;
    while (count < rest.size() && rest[count].offset >= rest[count - 1].end() &&
           rest[count].length <= most_elements - elements) {
      elements += rest[count++].length;
    }
    Request request(rest.first(count), element_bytes);
    visit(request);
    rest = rest.subspan(count);
  }
}

}  // namespace slabmark::slablog
