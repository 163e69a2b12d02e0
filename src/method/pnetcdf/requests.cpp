#if SLABMARK_WITH_PNETCDF

#include "method/pnetcdf/requests.hpp"

#include <algorithm>

namespace slabmark {

void PnetcdfRequests::prepare() {
  maxima_ = RoundMaxima(context_.comm, context_.pattern, [this](const auto& transfers, auto& out) {
    boxes_.next_round();
    for (const auto& transfer : transfers) {
      const auto& list = boxes(transfer);
      out.push_back(moved_bytes(transfer, context_.pattern.datasets[transfer.dataset]));
      out.push_back(list.parts().size());
      out.push_back(list.size());
    }
  });
}

BoxList<MPI_Offset>& PnetcdfRequests::boxes(const Transfer& transfer) {
  const auto& dataset = context_.pattern.datasets[transfer.dataset];
  const auto most_elements = options_.call_bytes / size_of(dataset.type);
  // The time dimension changes the boxes, the element size their largest number of elements.
  const auto variant = 2 * size_of(dataset.type) + (dataset.has_time ? 1 : 0);
  return boxes_.get(transfer.file, nullptr, variant, [&] {
    return BoxList<MPI_Offset>(*transfer.file, dataset.has_time, most_elements);
  });
}

void PnetcdfRequests::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  const auto transfers = context_.pattern.transfers(round);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    post_transfer(transfers[i], buffers[i], round, i);
  }
  boxes_.next_round();
  memory_runs_.next_round();
}

void PnetcdfRequests::post_transfer(const Transfer& transfer, std::byte* buffer,
                                    std::uint64_t round, std::size_t index) {
  const auto most_bytes = maxima_.at(round, numbers * index + bytes_number);
  const auto most_parts = maxima_.at(round, numbers * index + parts_number);
  const auto most_boxes = maxima_.at(round, numbers * index + boxes_number);
  const auto element = mpi_type_of(context_.pattern.datasets[transfer.dataset].type);

  auto& list = boxes(transfer);
  list.set_time(transfer.time);
  MemoryCursor memory(buffer, memory_runs_.of(transfer), element);
  for (std::size_t i = 0; i < most_parts; ++i) {
    const auto part = i < list.parts().size() ? list.parts()[i] : BoxList<MPI_Offset>::Part{};
    const Request request{
        variable(transfer.dataset), list, part, i == 0, most_boxes, element, memory};
    if (options_.blocking && list.dims() > 0) {
      move_blocking(request);
    } else {
      wait_if_full(std::min(most_bytes, options_.call_bytes));
      if (part.boxes() > 0) post_nonblocking(request);
    }
  }
  // PnetCDF 1.12.3 sends ranks with and without data of a scalar different ways in its blocking
  // calls, where they wait for each other for ever.
  if (options_.blocking && list.dims() == 0 && most_parts > 0) wait();
}

void PnetcdfRequests::wait_if_full(std::uint64_t bytes) {
  if (pending_ > 0 && pending_ + bytes > options_.call_bytes) {
    context_.clock.span("early_wait", [this] { wait(); });
  }
  pending_ += bytes;
}

void PnetcdfRequests::wait() {
  file().wait_all();
  count_calls("ncmpi_wait_all", "ncmpi_wait_all");
  pending_ = 0;
}

void PnetcdfRequests::flush() {
  if (!options_.blocking) wait();
}

}  // namespace slabmark

#endif
