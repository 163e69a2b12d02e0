#include "logvol/request.hpp"

namespace slabmark::logvol {

namespace {

std::vector<std::uint64_t> first_bits(std::span<const Wish> wishes) {
  std::vector<std::uint64_t> bits;
  bits.reserve(wishes.size());
  std::uint64_t before = 0;
  for (const auto& wish : wishes) {
    bits.push_back(before);
    before += wish.length;
  }
  return bits;
}

/// Ascending, and none longer than `most`.
std::vector<Wish> arranged(std::vector<Wish> wishes, std::size_t element_bytes,
                           std::uint64_t most) {
  const auto is_long = [&](const Wish& wish) { return wish.length > most; };
  if (std::any_of(wishes.begin(), wishes.end(), is_long)) {
    std::vector<Wish> cut;
    for (auto wish : wishes) {
      for (; is_long(wish); wish = after(wish, most, element_bytes)) {
        cut.push_back({wish.offset, most, wish.target});
      }
      cut.push_back(wish);
    }
    wishes = std::move(cut);
  }
  const auto by_offset = [](const Wish& a, const Wish& b) { return a.offset < b.offset; };
  if (!std::is_sorted(wishes.begin(), wishes.end(), by_offset)) {
    std::sort(wishes.begin(), wishes.end(), by_offset);
  }
  return wishes;
}

}  // namespace

Request::Request(std::span<const Wish> wishes, std::size_t element_bytes)
    : wishes_(wishes),
      element_bytes_(element_bytes),
      bits_(first_bits(wishes)),
      missing_(wishes.empty() ? 0 : bits_.back() + wishes.back().length),
      found_(missing_) {}

void for_each_request(std::vector<Wish> wishes, std::size_t element_bytes,
                      std::uint64_t most_elements, const std::function<void(Request&)>& visit) {
  wishes = arranged(std::move(wishes), element_bytes, most_elements);
  for (std::span<const Wish> rest(wishes); !rest.empty();) {
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

}  // namespace slabmark::logvol
