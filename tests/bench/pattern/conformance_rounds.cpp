#include "bench/pattern/bound.hpp"
#include "bench/pattern/conformance_cases.hpp"

namespace slabmark::conformance {
namespace {

/// The odd lengths make the records of bytes need padding in formats that align records.
Pattern records_beside_fixed(Share share) {
  const std::uint64_t length = 9 * share.size + 4;
  const SelectionPtr mine = part_of_vector(share, length);
  Rounds rounds;
  for (std::uint64_t t = 0; t < 3; ++t) {
    rounds.push_back({{1, t, mine, nullptr}, {2, t, mine, nullptr}});
    if (t == 0) rounds.back().push_back({0, 0, mine, nullptr});
  }
  return make_case("records beside a fixed array",
                   {fixed("grid", ElementType::float64, {{"x", length}}),
                    with_time("flag", ElementType::uint8, {{"x", length}}),
                    with_time("t", ElementType::float32, {{"x", length}})},
                   std::move(rounds));
}

Pattern one_record_variable_of_bytes(Share share) {
  const std::uint64_t length = 5 * share.size + 2;
  const SelectionPtr mine = part_of_vector(share, length);
  return make_case("one record variable of bytes, of odd length",
                   {with_time("flag", ElementType::uint8, {{"x", length}})},
                   {{{0, 0, mine, nullptr}}, {{0, 1, mine, nullptr}}, {{0, 2, mine, nullptr}}});
}

Pattern two_records_a_round(Share share) {
  const std::uint64_t length = 8 * share.size;
  const SelectionPtr mine = part_of_vector(share, length);
  return make_case("two records a round",
                   {with_time("a", ElementType::float64, {{"x", length}}),
                    with_time("b", ElementType::int32, {{"x", length}})},
                   {{{0, 0, mine, nullptr}, {0, 1, mine, nullptr}, {1, 0, mine, nullptr}},
                    {{0, 2, mine, nullptr}, {0, 3, mine, nullptr}, {1, 1, mine, nullptr}}});
}

/// In round 1 all ranks come with nothing, in round 2 there is not even a transfer.
Pattern silent_rounds(Share share) {
  const std::uint64_t length = 6 * share.size;
  const SelectionPtr mine = part_of_vector(share, length);
  const SelectionPtr none = select_none({length});
  return make_case("rounds in which nothing moves",
                   {with_time("a", ElementType::float64, {{"x", length}}),
                    fixed("b", ElementType::int32, {{"x", length}})},
                   {{{0, 0, mine, nullptr}},
                    {{0, 1, none, nullptr}, {1, 0, none, nullptr}},
                    {},
                    {{0, 1, mine, nullptr}, {1, 0, mine, nullptr}}});
}

/// Three rounds of two requests, each to another part of the same array, the later part first.
Pattern partial_requests(Share share) {
  const std::uint64_t part = 4 * share.size;
  const std::uint64_t length = 6 * part;
  const auto request = [&](std::uint64_t i) {
    const Run mine{i * part + 4 * share.rank, 4};
    return Transfer{0, 0, select_row_runs({length}, {mine}), nullptr};
  };
  return make_case("partial requests to one array",
                   {fixed("v", ElementType::float64, {{"x", length}})},
                   {{request(1), request(0)}, {request(3), request(2)}, {request(5), request(4)}});
}

Pattern only_the_first_rank(Share share) {
  const Extent extent = {7, 13};
  const SelectionPtr mine = share.is_first() ? select_all(extent) : select_none(extent);
  const std::vector<Dimension> yx = {{"y", extent[0]}, {"x", extent[1]}};
  return make_case("only the first rank has data",
                   {fixed("m", ElementType::float64, yx), with_time("r", ElementType::int32, yx)},
                   {{{0, 0, mine, nullptr}, {1, 0, mine, nullptr}}});
}

/// All ranks but the last share the array; a single rank counts as not the last.
Pattern last_rank_empty(Share share) {
  const bool alone = share.size == 1;
  const std::uint64_t working = alone ? 1 : share.size - 1;
  const std::uint64_t length = 10 * working + 3;
  const SelectionPtr mine = share.is_last() && !alone
                                ? select_none({length})
                                : part_of_vector({share.rank, working}, length);
  return make_case("the last rank is empty",
                   {fixed("v", ElementType::int64, {{"x", length}}),
                    fixed("w", ElementType::uint8, {{"x", length}})},
                   {{{0, 0, mine, nullptr}, {1, 0, mine, nullptr}}});
}

/// Each array is moved by one rank alone.
Pattern one_rank_an_array(Share share) {
  const std::uint64_t length = 21;
  const SelectionPtr all = select_all({length});
  const SelectionPtr none = select_none({length});
  return make_case("the first rank moves one array, the last the other",
                   {fixed("v", ElementType::float32, {{"x", length}}),
                    fixed("w", ElementType::float64, {{"x", length}})},
                   {{{0, 0, share.is_first() ? all : none, nullptr},
                     {1, 0, share.is_last() ? all : none, nullptr}}});
}

Pattern fewer_elements_than_ranks(Share share) {
  const std::uint64_t length = share.size > 1 ? share.size - 1 : 1;
  return make_case("fewer elements than ranks", {fixed("v", ElementType::int32, {{"x", length}})},
                   {{{0, 0, part_of_vector(share, length), nullptr}}});
}

Pattern scalars(Share share) {
  const SelectionPtr mine = share.is_first() ? select_all({}) : select_none({});
  return make_case(
      "scalars, one with a time dimension",
      {fixed("version", ElementType::int64, {}), with_time("date", ElementType::int32, {})},
      {{{0, 0, mine, nullptr}, {1, 0, mine, nullptr}}, {{1, 1, mine, nullptr}}});
}

Pattern dimension_names_that_clash(Share share) {
  const std::uint64_t shorter = 5 * share.size;
  const std::uint64_t longer = 8 * share.size;
  return make_case("dimensions of one name and two lengths",
                   {fixed("a", ElementType::float32, {{"x", shorter}}),
                    fixed("b", ElementType::float32, {{"x", longer}})},
                   {{{0, 0, part_of_vector(share, shorter), nullptr},
                     {1, 0, part_of_vector(share, longer), nullptr}}});
}

/// Two rounds in which rank r moves r + 3 and then 2 r bytes.
Pattern contiguous_bound(Share share) {
  const auto before = [](std::uint64_t ranks) { return ranks * (ranks - 1) / 2; };
  const BoundRound first = {before(share.rank) + 3 * share.rank, share.rank + 3,
                            before(share.size) + 3 * share.size};
  const BoundRound second = {2 * before(share.rank), 2 * share.rank, 2 * before(share.size)};
  Pattern pattern = make_bound("conformance", std::vector<BoundRound>{first, second});
  pattern.name = "a contiguous bound";
  return pattern;
}

}  // namespace

std::vector<Pattern> round_cases(Share share) {
  return {records_beside_fixed(share),
          one_record_variable_of_bytes(share),
          two_records_a_round(share),
          silent_rounds(share),
          partial_requests(share),
          only_the_first_rank(share),
          last_rank_empty(share),
          one_rank_an_array(share),
          fewer_elements_than_ranks(share),
          scalars(share),
          dimension_names_that_clash(share),
          contiguous_bound(share)};
}

}  // namespace slabmark::conformance
