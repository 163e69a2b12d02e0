#include "method/shared/typed_memory.hpp"

#include <algorithm>

#include "parallel/comm.hpp"

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

RunList buffer_runs(const Selection& buffer) {
  RunList runs;
  buffer.for_each_run([&](Run run) { append(runs, run); });
  return runs;
}

MemoryCursor::MemoryCursor(std::byte* buffer, const RunList* runs, MPI_Datatype element)
    : buffer_(buffer), runs_(runs), element_(element) {
  int bytes = 0;
  check_mpi(MPI_Type_size(element, &bytes), "MPI_Type_size");
  element_bytes_ = static_cast<std::uint64_t>(bytes);
}

TypedMemory MemoryCursor::take(std::uint64_t elements) {
  if (runs_ == nullptr) {
    auto* const address = buffer_ + taken_ * element_bytes_;
    taken_ += elements;
    return {address, static_cast<MPI_Offset>(elements), element_, {}};
  }
  mpiio::BlockList blocks(element_);
  while (elements > 0) {
    const auto& run = (*runs_)[run_];
    const auto part = std::min(elements, run.length - taken_);
    blocks.add({static_cast<std::int64_t>((run.offset + taken_) * element_bytes_), part});
    elements -= part;
    taken_ += part;
    if (taken_ == run.length) {
      ++run_;
      taken_ = 0;
    }
  }
  return memory_of(blocks, buffer_, element_);
}

}  // namespace slabmark
