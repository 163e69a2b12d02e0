#include "bench/method/shared/typed_memory.hpp"

#include <cstring>
#include <utility>

namespace slabmark {

TypedMemory memory_of(const mpiio::BlockList& blocks, std::byte* base, MPI_Datatype element) {
  if (blocks.empty()) return {base, 0, element, {}};
  if (blocks.size() == 1) {
    return {base + blocks.first_offset(), static_cast<MPI_Offset>(blocks.elements()), element, {}};
  }
  TypedMemory memory{base, 1, MPI_DATATYPE_NULL, blocks.datatype()};
  memory.type = memory.owned.get();
  return memory;
}

TypedMemory MemoryCursor::take(std::uint64_t elements) {
  mpiio::BlockList blocks(element_);
  cursor_.take(elements, [&](Run part) {
    blocks.add({static_cast<std::int64_t>(part.offset * blocks.element_bytes()), part.length});
  });
  return memory_of(blocks, buffer_, element_);
}

std::byte* Bounce::take(std::uint64_t elements, bool gather) {
  dense_.resize(std::max<std::uint64_t>(1, elements * element_bytes_));  // libraries refuse null
  last_ = next_;
  auto* to = dense_.data();
  next_.take(elements, [&](Run part) {
    const auto bytes = part.length * element_bytes_;
    if (gather) std::memcpy(to, buffer_ + part.offset * element_bytes_, bytes);
    to += bytes;
  });
  return dense_.data();
}

void Bounce::scatter(std::uint64_t elements) {
  const auto* from = dense_.data();
  last_.take(elements, [&](Run part) {
    const auto bytes = part.length * element_bytes_;
    std::memcpy(buffer_ + part.offset * element_bytes_, from, bytes);
    from += bytes;
  });
}

const RunList* BufferRuns::of(const Transfer& transfer) {
  if (!transfer.buffer) return nullptr;
  return &runs_.get(transfer.buffer, nullptr, 0, [&] {
    RunList runs;
    transfer.buffer->for_each_run([&](Run run) { append(runs, run); });
    return runs;
  });
}

std::optional<Bounce> BufferRuns::bounce(const Transfer& transfer, std::byte* buffer,
                                         std::size_t element_bytes) {
  const auto* runs = of(transfer);
  return runs == nullptr ? std::nullopt
                         : std::optional<Bounce>(std::in_place, *runs, buffer, element_bytes);
}

}  // namespace slabmark
