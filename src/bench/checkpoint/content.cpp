#include "bench/checkpoint/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "bench/checkpoint/fill_function.hpp"

namespace slabmark {

namespace {

using Triple = std::array<std::uint64_t, 3>;

/// Fills elements [start, start + count) of a block, row-major.
using FillBlock = std::function<void(std::uint64_t block, const Triple& start, const Triple& count,
                                     float* values)>;

void fill_with_rank(std::uint64_t block, const Triple&, const Triple& count, float* values) {
  std::fill_n(values, count[0] * count[1] * count[2], static_cast<float>(block));
}

/// The part of a box that lies in one block. Offsets are from the box, and in the block.
struct BlockPart {
  Triple in_box;
  Triple in_block;
  Triple count;
};

BlockPart part_in(const Triple& block, const Triple& domain, const Extent& start,
                  const Extent& count) {
  BlockPart part;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t begin = std::max(start[d], block[d] * domain[d]);
    const std::uint64_t end = std::min(start[d] + count[d], (block[d] + 1) * domain[d]);
    part.in_box[d] = begin - start[d];
    part.in_block[d] = begin - block[d] * domain[d];
    part.count[d] = end - begin;
  }
  return part;
}

/// Contents that are made block by block.
class BlockContent : public Content {
 public:
  BlockContent(const CheckpointGrid& grid, FillBlock fill_block)
      : grid_(grid), fill_block_(std::move(fill_block)) {}

  bool same_at_all_times() const override { return true; }

  void fill(std::size_t, std::uint64_t, const Extent& start, const Extent& count,
            std::byte* out) const override {
    Triple first{};
    Triple last{};
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] = start[d] / grid_.domain[d];
      last[d] = (start[d] + count[d] - 1) / grid_.domain[d];
    }
    Triple block{};
    for (block[0] = first[0]; block[0] <= last[0]; ++block[0]) {
      for (block[1] = first[1]; block[1] <= last[1]; ++block[1]) {
        for (block[2] = first[2]; block[2] <= last[2]; ++block[2]) {
          fill_part(block, part_in(block, grid_.domain, start, count), count, out);
        }
      }
    }
  }

 private:
  void fill_part(const Triple& block, const BlockPart& part, const Extent& box,
                 std::byte* out) const {
    const std::uint64_t number = grid_.block_number(block);
    const bool is_whole_box = std::equal(part.count.begin(), part.count.end(), box.begin());
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(out) % alignof(float) == 0;
    if (is_whole_box && is_aligned) {
      fill_block_(number, part.in_block, part.count, reinterpret_cast<float*>(out));
      return;
    }
    std::vector<float> values(part.count[0] * part.count[1] * part.count[2]);
    fill_block_(number, part.in_block, part.count, values.data());
    const float* row = values.data();
    for (std::uint64_t x = 0; x < part.count[0]; ++x) {
      for (std::uint64_t y = 0; y < part.count[1]; ++y) {
        const std::uint64_t to =
            ((part.in_box[0] + x) * box[1] + part.in_box[1] + y) * box[2] + part.in_box[2];
        std::memcpy(out + to * sizeof(float), row, part.count[2] * sizeof(float));
        row += part.count[2];
      }
    }
  }

  CheckpointGrid grid_;
  FillBlock fill_block_;
};

}  // namespace

std::shared_ptr<const Content> make_checkpoint_content(const CheckpointSettings& settings) {
  if (settings.use_function_name.empty()) {
    return std::make_shared<BlockContent>(settings.grid, fill_with_rank);
  }
  const auto function = std::make_shared<FillFunction>(
      FillFunction::Request{settings.use_function_lib, settings.use_function_name,
                            settings.function_arguments()},
      settings.grid);
  return std::make_shared<BlockContent>(
      settings.grid, [function](std::uint64_t block, const Triple& start, const Triple& count,
                                float* values) { function->fill(block, start, count, values); });
}

Pattern make_checkpoint(const Comm& comm, const CheckpointSettings& settings, bool with_content) {
  Pattern pattern = make_checkpoint_pattern(settings.grid, static_cast<std::uint64_t>(comm.rank()),
                                            static_cast<std::uint64_t>(comm.size()));
  if (with_content) pattern.content = make_checkpoint_content(settings);
  return pattern;
}

}  // namespace slabmark
