#include "storage/mpiio/datatype.hpp"

#include <algorithm>

#include "core/parallel/comm.hpp"

namespace slabmark::mpiio {

namespace {

// Open MPI and MPICH both convert lengths to bytes in int somewhere on their way down, so a block
// of 2^30 elements of 8 bytes is not safe although its length is.
constexpr std::int64_t longest_block_bytes = std::int64_t{1} << 30;

// A datatype is made of at most this many blocks or parts (their number is an int).
constexpr std::size_t most_blocks = std::size_t{1} << 30;

}  // namespace

BlockList::BlockList(MPI_Datatype element) : element_(element) {
  int bytes = 0;
  check_mpi(MPI_Type_size(element, &bytes), "MPI_Type_size");
  element_bytes_ = bytes;
}

void BlockList::add(Block block) {
  const auto longest = static_cast<std::uint64_t>(longest_block_bytes / element_bytes_);
  elements_ += block.length;
  if (!lengths_.empty() && offsets_.back() + lengths_.back() * element_bytes_ == block.offset) {
    const auto room = longest - static_cast<std::uint64_t>(lengths_.back());
    const auto joined = std::min(room, block.length);
    lengths_.back() += static_cast<int>(joined);
    block.offset += static_cast<std::int64_t>(joined) * element_bytes_;
    block.length -= joined;
  }
  while (block.length > 0) {
    const auto length = std::min(longest, block.length);
    lengths_.push_back(static_cast<int>(length));
    offsets_.push_back(block.offset);
    block.offset += static_cast<std::int64_t>(length) * element_bytes_;
    block.length -= length;
  }
}

Datatype BlockList::datatype() const {
  std::vector<Datatype> parts;
  for (std::size_t first = 0; first < lengths_.size(); first += most_blocks) {
    const auto count = std::min(most_blocks, lengths_.size() - first);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_hindexed(static_cast<int>(count), &lengths_[first], &offsets_[first],
                                       element_, &type),
              "MPI_Type_create_hindexed");
    parts.emplace_back(type);
  }
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<MPI_Datatype> types;
  for (const auto& part : parts) types.push_back(part.get());
  return make_struct(std::vector<MPI_Aint>(types.size(), 0), types);
}

Datatype make_struct(std::span<const MPI_Aint> offsets, std::span<const MPI_Datatype> types) {
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(static_cast<int>(types.size()), ones.data(), offsets.data(),
                                   types.data(), &type),
            "MPI_Type_create_struct");
  return Datatype(type);
}

}  // namespace slabmark::mpiio
