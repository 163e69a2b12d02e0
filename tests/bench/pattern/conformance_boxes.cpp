#include "bench/pattern/conformance_cases.hpp"

namespace slabmark::conformance {
namespace {

Pattern blocks_of_a_vector(Share share) {
  const std::uint64_t length = 100 * share.size + 7;
  return make_case("blocks of a vector", {fixed("v", ElementType::float64, {{"x", length}})},
                   {{{0, 0, part_of_vector(share, length), nullptr}}});
}

Pattern rows_of_a_matrix(Share share) {
  const Extent extent = {5 * share.size, 11};
  const SelectionPtr rows = select_hyperslabs(extent, {make_box({5 * share.rank, 0}, {5, 11})});
  return make_case("rows of a matrix",
                   {fixed("m", ElementType::int32, {{"y", extent[0]}, {"x", extent[1]}})},
                   {{{0, 0, rows, nullptr}}});
}

Pattern columns_of_a_matrix(Share share) {
  const Extent extent = {9, 7 * share.size};
  const SelectionPtr columns = select_hyperslabs(extent, {make_box({0, 7 * share.rank}, {9, 7})});
  return make_case("columns of a matrix",
                   {fixed("m", ElementType::float32, {{"y", extent[0]}, {"x", extent[1]}})},
                   {{{0, 0, columns, nullptr}}});
}

/// Ranks across and along a plane, as square as their number allows.
Extent process_grid(std::uint64_t size) {
  std::uint64_t across = 1;
  for (std::uint64_t d = 1; d * d <= size; ++d) {
    if (size % d == 0) across = d;
  }
  return {size / across, across};
}

Pattern bricks_with_halo(Share share) {
  const Extent grid = process_grid(share.size);
  const Extent extent = {4, 5 * grid[0], 6 * grid[1]};
  const Extent corner = {0, 5 * (share.rank / grid[1]), 6 * (share.rank % grid[1])};
  const SelectionPtr brick = select_hyperslabs(extent, {make_box(corner, {4, 5, 6})});
  const SelectionPtr inside = select_hyperslabs({6, 9, 8}, {make_box({1, 2, 1}, {4, 5, 6})});
  const std::vector<Dimension> zyx = {{"z", extent[0]}, {"y", extent[1]}, {"x", extent[2]}};
  return make_case("bricks of a volume, with a halo in memory",
                   {fixed("p", ElementType::float64, zyx), fixed("q", ElementType::float32, zyx)},
                   {{{0, 0, brick, inside}, {1, 0, brick, inside}}});
}

Pattern four_dimensions(Share share) {
  const Extent extent = {3, 2 * share.size, 4, 5};
  const SelectionPtr part =
      select_hyperslabs(extent, {make_box({0, 2 * share.rank, 1, 0}, {3, 2, 3, 5})});
  return make_case(
      "four dimensions, the third in part",
      {fixed("a", ElementType::int64,
             {{"w", extent[0]}, {"z", extent[1]}, {"y", extent[2]}, {"x", extent[3]}})},
      {{{0, 0, part, nullptr}}});
}

/// The ranks' blocks interleave in both dimensions' strides; rows 2 and 5 and the last columns stay
/// uncovered.
Pattern strided_blocks(Share share) {
  const Extent extent = {6, 12 * share.size + 5};
  const Hyperslab mine{{0, 3 * share.rank}, {3, 3 * share.size}, {2, 4}, {2, 3}};
  const SelectionPtr blocks = select_hyperslabs(extent, {mine});
  return make_case("strided blocks, interleaved between ranks, with holes",
                   {fixed("m", ElementType::float32, {{"y", extent[0]}, {"x", extent[1]}})},
                   {{{0, 0, blocks, nullptr}}});
}

Pattern hyperslabs_out_of_order(Share share) {
  const Extent extent = {8, 6 * share.size};
  const std::uint64_t left = 6 * share.rank;
  std::vector<Hyperslab> slabs = {make_box({5, left}, {3, 4}), make_box({0, left + 1}, {2, 5}),
                                  make_box({3, left + 3}, {2, 3}), make_box({2, left}, {3, 2})};
  const SelectionPtr unordered = select_hyperslabs(extent, std::move(slabs));
  return make_case("hyperslabs out of order, side by side",
                   {fixed("m", ElementType::int32, {{"y", extent[0]}, {"x", extent[1]}})},
                   {{{0, 0, unordered, nullptr}}});
}

Pattern memory_strided(Share share) {
  const std::uint64_t length = 24 * share.size;
  const SelectionPtr file = part_of_vector(share, length);
  const SelectionPtr every_second_pair =
      select_hyperslabs({3, 17}, {Hyperslab{{0, 1}, {1, 4}, {3, 4}, {1, 2}}});
  return make_case("memory strided, the file contiguous",
                   {fixed("v", ElementType::float64, {{"x", length}})},
                   {{{0, 0, file, every_second_pair}}});
}

Pattern memory_in_another_order(Share share) {
  const Extent extent = {6, 4 * share.size};
  const SelectionPtr file = select_hyperslabs(extent, {make_box({0, 4 * share.rank}, {6, 4})});
  std::vector<Hyperslab> backwards;
  for (std::uint64_t i = 0; i < 6; ++i) backwards.push_back(make_box({5 - i, 1}, {1, 4}));
  const SelectionPtr buffer = select_hyperslabs({6, 5}, std::move(backwards));
  return make_case("memory in another order than the file",
                   {fixed("m", ElementType::int32, {{"y", extent[0]}, {"x", extent[1]}})},
                   {{{0, 0, file, buffer}}});
}

Pattern chunked(Share share) {
  const Extent extent = {10, 5 * share.size + 2};
  const SelectionPtr columns = select_hyperslabs(extent, {make_box({1, 5 * share.rank}, {8, 5})});
  Dataset dataset = fixed("m", ElementType::float64, {{"y", extent[0]}, {"x", extent[1]}});
  dataset.chunk = Extent{4, 3};
  Dataset record = dataset;
  record.name = "r";
  record.has_time = true;
  return make_case(
      "chunks that divide neither the array nor the parts", {dataset, record},
      {{{0, 0, columns, nullptr}, {1, 0, columns, nullptr}}, {{1, 1, columns, nullptr}}});
}

}  // namespace

std::vector<Pattern> box_cases(Share share) {
  return {blocks_of_a_vector(share),      rows_of_a_matrix(share),
          columns_of_a_matrix(share),     bricks_with_halo(share),
          four_dimensions(share),         strided_blocks(share),
          hyperslabs_out_of_order(share), memory_strided(share),
          memory_in_another_order(share), chunked(share)};
}

}  // namespace slabmark::conformance
