#pragma once

#include "method/pnetcdf/method.hpp"
#include "method/shared/round_maxima.hpp"
#include "method/shared/selection_cache.hpp"
#include "method/shared/typed_memory.hpp"
#include "pattern/box_list.hpp"

namespace slabmark {

/// What varn and vara share: the boxes of each selection, and when to wait. Nonblocking requests of
/// all posted rounds are completed by one ncmpi_wait_all at flush; a rank that would hold more than
/// pnetcdf.call_bytes by then waits earlier, inside post, together with all others.
class PnetcdfRequests : public PnetcdfMethod {
 public:
  void prepare() override;
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override;
  void flush() override;

 protected:
  using PnetcdfMethod::PnetcdfMethod;

  /// The part of one variable that is handed over at once. `boxes` of it may be none on this rank.
  struct Request {
    int variable;
    const BoxList<MPI_Offset>& boxes;
    BoxList<MPI_Offset>::Part part;
    bool is_first_part;
    std::uint64_t most_boxes;  ///< in this transfer, over all ranks
    MPI_Datatype element;
    MemoryCursor& memory;
  };

  virtual void move_blocking(const Request& request) = 0;
  virtual void post_nonblocking(const Request& request) = 0;

 private:
  // Numbers of a transfer in maxima_.
  enum : std::size_t { bytes_number, parts_number, boxes_number, numbers };

  BoxList<MPI_Offset>& boxes(const Transfer& transfer);
  void post_transfer(const Transfer& transfer, std::byte* buffer, std::uint64_t round,
                     std::size_t index);
  void wait_if_full(std::uint64_t bytes);
  void wait();

  /// Bytes posted since the last wait, the same upper bound on all ranks.
  std::uint64_t pending_ = 0;
  SelectionCache<BoxList<MPI_Offset>> boxes_;
  BufferRuns memory_runs_;
  RoundMaxima maxima_;
};

}  // namespace slabmark
