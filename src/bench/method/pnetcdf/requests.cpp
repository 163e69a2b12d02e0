#include <fmt/format.h>

#include "bench/method/pnetcdf/info.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/mpiio/info.hpp"

#if SLABMARK_WITH_PNETCDF
#include <algorithm>

#include "bench/method/pnetcdf/method.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/pattern/box_list.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

enum class RequestCalls { varn, vara };

/// One varn call per variable, which takes all its hyperslabs, or one vara call per hyperslab.
/// Nonblocking requests of all posted rounds are completed by one ncmpi_wait_all at flush; a rank
/// that would hold more than pnetcdf.call_bytes by then waits earlier, inside post, together with
/// all others.
template <RequestCalls calls>
class PnetcdfRequests : public PnetcdfMethod {
 public:
  using PnetcdfMethod::PnetcdfMethod;

  void prepare() override {
    maxima_ =
        RoundMaxima(context_.comm, context_.pattern, [this](const auto& transfers, auto& out) {
          boxes_.next_round();
          for (const auto& transfer : transfers) {
            const auto& list = boxes(transfer);
            out.push_back(moved_bytes(transfer, context_.pattern.datasets[transfer.dataset]));
            out.push_back(list.parts().size());
            out.push_back(list.size());
          }
        });
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const auto most = [&](Number number) { return maxima_.at(round, numbers * i + number); };
      post_transfer(transfers[i], buffers[i], most);
    }
    boxes_.next_round();
    memory_runs_.next_round();
  }

  void flush() override {
    if (!options_.blocking) wait();
  }

 private:
  using File = pnetcdf::File;
  using Boxes = BoxList<MPI_Offset>;

  // Of a transfer, in maxima_.
  enum Number : std::size_t { bytes_number, parts_number, boxes_number, numbers };

  Boxes& boxes(const Transfer& transfer) {
    const auto& dataset = context_.pattern.datasets[transfer.dataset];
    const auto most_elements = options_.call_bytes / size_of(dataset.type);
    // The time dimension changes the boxes, the element size their largest number of elements.
    const auto variant = 2 * size_of(dataset.type) + (dataset.has_time ? 1 : 0);
    return boxes_.get(transfer.file, nullptr, variant,
                      [&] { return Boxes(*transfer.file, dataset.has_time, most_elements); });
  }

  template <class Most>
  void post_transfer(const Transfer& transfer, std::byte* buffer, const Most& most) {
    const int target = variable(transfer.dataset);
    auto& list = boxes(transfer);
    list.set_time(transfer.time);
    MemoryCursor memory(buffer, memory_runs_.of(transfer),
                        mpiio::mpi_type_of(context_.pattern.datasets[transfer.dataset].type));
    const bool blocking = options_.blocking && list.dims() > 0;
    if (blocking && calls == RequestCalls::vara && most(parts_number) > 0) {
      move_all_boxes(target, list, memory, most(boxes_number));
      return;
    }
    for (std::size_t i = 0; i < most(parts_number); ++i) {
      const auto part = i < list.parts().size() ? list.parts()[i] : Boxes::BoxRange{};
      if (blocking) {
        move_part(&File::put_varn_all, &File::get_varn_all, target, list, part, memory);
        count_calls("ncmpi_put_varn_all", "ncmpi_get_varn_all");
      } else {
        wait_if_full(std::min(most(bytes_number), options_.call_bytes));
        if (part.boxes() > 0) post_part(target, list, part, memory);
      }
    }
    // PnetCDF 1.12.3 sends ranks with and without data of a scalar different ways in its blocking
    // calls, where they wait for each other for ever.
    if (options_.blocking && list.dims() == 0 && most(parts_number) > 0) wait();
  }

  void post_part(int target, const Boxes& list, const Boxes::BoxRange& part, MemoryCursor& memory) {
    if (calls == RequestCalls::varn) {
      move_part(&File::iput_varn, &File::iget_varn, target, list, part, memory);
      count_calls("ncmpi_iput_varn", "ncmpi_iget_varn");
      return;
    }
    for (auto box = part.first; box < part.end; ++box) {
      move(&File::iput_vara, &File::iget_vara, memory.take(list.elements(box)), target,
           *list.starts(box), *list.counts(box));
    }
    count_calls("ncmpi_iput_vara", "ncmpi_iget_vara", part.boxes());
  }

  template <class Put, class Get>
  void move_part(Put put, Get get, int target, const Boxes& list, const Boxes::BoxRange& part,
                 MemoryCursor& memory) {
    move(put, get, memory.take(part.elements), target, static_cast<int>(part.boxes()),
         list.starts(part.first), list.counts(part.first));
  }

  // A blocking call is done when it returns, so parts do not matter; a rank with fewer boxes than
  // others makes calls without elements.
  void move_all_boxes(int target, const Boxes& list, MemoryCursor& memory, std::uint64_t most) {
    const std::vector<MPI_Offset> nothing(list.dims(), 0);
    for (std::size_t box = 0; box < most; ++box) {
      const bool mine = box < list.size();
      move(&File::put_vara_all, &File::get_vara_all, memory.take(mine ? list.elements(box) : 0),
           target, mine ? *list.starts(box) : nothing.data(),
           mine ? *list.counts(box) : nothing.data());
    }
    count_calls("ncmpi_put_vara_all", "ncmpi_get_vara_all", most);
  }

  void wait_if_full(std::uint64_t bytes) {
    if (pending_ > 0 && pending_ + bytes > options_.call_bytes) {
      context_.clock.span("early_wait", [this] { wait(); });
    }
    pending_ += bytes;
  }

  void wait() {
    file().wait_all();
    count_calls("ncmpi_wait_all", "ncmpi_wait_all");
    pending_ = 0;
  }

  /// Bytes posted since the last wait, the same upper bound on all ranks.
  std::uint64_t pending_ = 0;
  SelectionCache<Boxes> boxes_;
  BufferRuns memory_runs_;
  RoundMaxima maxima_;
};

// Ranks that have nothing to put leave out the reduction of the number of records, for which the
// others wait for ever.
std::optional<std::string> may_hang(const Pattern& pattern, const Settings& settings) {
  const bool has_records = std::ranges::any_of(pattern.datasets, &Dataset::has_time);
  if (!has_records || pnetcdf::library_version() != "1.15.0") return std::nullopt;
  if (!pnetcdf_options("any").read(settings).blocking) return std::nullopt;
  return "PnetCDF 1.15.0 hangs in blocking calls of record variables where a rank has nothing";
}

}  // namespace
#endif

namespace {

/// pnetcdf-varn with a hint that PnetCDF knows since a version: beside what the library does by
/// itself, in one table. Advice tries the hint with each method.
MethodInfo varn_with_hint(const std::string& name, const std::string& summary,
                          [[maybe_unused]] const mpiio::Hints& hints,
                          [[maybe_unused]] const PnetcdfVersion& since) {
  auto info = pnetcdf_info(name, summary, pnetcdf_options("ncmpi_put_varn_all per variable"));
  info.kind = MethodKind::yardstick;  // pnetcdf-varn makes the same file
#if SLABMARK_WITH_PNETCDF
  info.make = [hints](const MethodContext& context) {
    return std::make_unique<PnetcdfRequests<RequestCalls::varn>>(
        context, pnetcdf_options("any").read(context.settings), hints);
  };
  refuse_more(info, may_hang);
  refuse_more(info,
              [hint = hints.front().first, since](const Pattern&,
                                                  const Settings&) -> std::optional<std::string> {
                if (pnetcdf::library_is_since(since)) return std::nullopt;
                return fmt::format("PnetCDF {} does not know the hint {}, {}.{} and newer do",
                                   pnetcdf::library_version(), hint, since.first, since.second);
              });
#endif
  return info;
}

}  // namespace

MethodInfo pnetcdf_varn_method() {
  auto info = pnetcdf_info("pnetcdf-varn", "one ncmpi_iput_varn per variable, then ncmpi_wait_all",
                           pnetcdf_options("ncmpi_put_varn_all per variable"));
#if SLABMARK_WITH_PNETCDF
  info.make = make_pnetcdf<PnetcdfRequests<RequestCalls::varn>>;
  refuse_more(info, may_hang);
#endif
  return info;
}

MethodInfo pnetcdf_varn_aggregated_method() {
  return varn_with_hint("pnetcdf-varn-aggregated",
                        "the same, through one rank per node (nc_num_aggrs_per_node=1)",
                        {{"nc_num_aggrs_per_node", "1"}}, {1, 14});
}

MethodInfo pnetcdf_varn_mpiio_method() {
  return varn_with_hint(
      "pnetcdf-varn-mpiio",
      "the same, through MPI-IO where PnetCDF has an exchange of its own (nc_driver=mpiio)",
      {{"nc_driver", "mpiio"}}, {1, 15});
}

MethodInfo pnetcdf_vara_method() {
  auto info = pnetcdf_info(
      "pnetcdf-vara", "one ncmpi_iput_vara per hyperslab and variable, then ncmpi_wait_all",
      pnetcdf_options("ncmpi_put_vara_all per hyperslab, ranks padded to equal counts"));
#if SLABMARK_WITH_PNETCDF
  info.make = make_pnetcdf<PnetcdfRequests<RequestCalls::vara>>;
  refuse_more(info, may_hang);
#endif
  return info;
}

}  // namespace slabmark
