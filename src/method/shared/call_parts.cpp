#include "method/shared/call_parts.hpp"

#include <algorithm>

#include "parallel/comm.hpp"

namespace slabmark {

std::vector<CallPart> cut_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                                   MPI_Datatype element, std::uint64_t most_elements) {
  int bytes = 0;
  check_mpi(MPI_Type_size(element, &bytes), "MPI_Type_size");
  const auto size = static_cast<std::uint64_t>(bytes);

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

}  // namespace slabmark
