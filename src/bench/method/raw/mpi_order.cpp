#include "bench/method/raw/mpi_order.hpp"

#include <algorithm>

namespace slabmark {

std::vector<CallPart> cut_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                                   MPI_Datatype element, std::uint64_t most_elements) {
  const auto size = mpiio::BlockList(element).element_bytes();
  std::vector<CallPart> calls;
  order.for_each_part(buffers, [&](FilePart part) {
    while (part.bytes > 0) {
      if (calls.empty() || calls.back().file.elements() == most_elements) {
        calls.push_back({mpiio::BlockList(element), mpiio::BlockList(element), part.memory});
      }
      auto& call = calls.back();
      const auto elements = std::min(part.bytes / size, most_elements - call.file.elements());
      call.file.add({static_cast<std::int64_t>(part.offset), elements});
      call.memory.add({part.memory - call.base, elements});
      part.offset += elements * size;
      part.memory += elements * size;
      part.bytes -= elements * size;
    }
  });
  return calls;
}

mpiio::BlockList memory_blocks(const FileOrder& order, std::span<std::byte* const> buffers,
                               MPI_Datatype element) {
  mpiio::BlockList blocks(element);
  if (order.empty()) return blocks;
  auto* const base = buffers[order.transfers().front().index];
  order.for_each_memory_block(buffers, [&](std::byte* memory, std::uint64_t bytes) {
    blocks.add({memory - base, bytes / blocks.element_bytes()});
  });
  return blocks;
}

const mpiio::Datatype& FileTypes::of(const Transfer& transfer, const PlacedTransfer& placed,
                                     MPI_Datatype element) {
  const auto key = static_cast<std::uint32_t>(MPI_Type_c2f(element));
  return types_.get(transfer.file, nullptr, placed.element_bytes << 32 | key, [&] {
    mpiio::BlockList blocks(element);
    for (const auto& piece : placed.pieces->pieces) {
      blocks.add({static_cast<std::int64_t>(piece.file * placed.element_bytes),
                  piece.length * placed.element_bytes / blocks.element_bytes()});
    }
    return blocks.datatype();
  });
}

mpiio::Datatype FileTypes::of_all(std::span<const Transfer> transfers, const FileOrder& order,
                                  MPI_Datatype element) {
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> types;
  for (const auto& placed : order.transfers()) {
    offsets.push_back(static_cast<MPI_Aint>(placed.base));
    types.push_back(of(transfers[placed.index], placed, element).get());
  }
  return mpiio::make_struct(offsets, types);
}

}  // namespace slabmark
