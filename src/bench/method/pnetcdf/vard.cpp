#include "bench/method/pnetcdf/info.hpp"

#if SLABMARK_WITH_PNETCDF
#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/method/pnetcdf/method.hpp"
#include "bench/method/raw/mpi_order.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "bench/method/shared/typed_memory.hpp"
#include "storage/mpiio/element_type.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

/// Variables that one vard call can take together: it wants one element type, and keeps the number
/// of records only if the variable that it is given has records.
struct VardGroup {
  ElementType type;
  bool has_time;

  bool operator==(const VardGroup&) const = default;
};

std::vector<VardGroup> groups_of(const Pattern& pattern, std::span<const Transfer> transfers) {
  std::vector<VardGroup> groups;
  for (const auto& transfer : transfers) {
    const auto& dataset = pattern.datasets[transfer.dataset];
    const VardGroup group{dataset.type, dataset.has_time};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

/// One blocking ncmpi_put_vard_all a round for all variables of one element type. A file type made
/// once per selection is placed at each variable that uses the selection.
class PnetcdfVard : public PnetcdfMethod {
 public:
  using PnetcdfMethod::PnetcdfMethod;

  void prepare() override {
    record_bytes_ = file().inq_recsize();
    calls_ = RoundMaxima(context_.comm, context_.pattern,
                         [this](const auto& transfers, auto& out) { measure(transfers, out); });
    if (context_.pattern.rounds == 0) return;
    const auto transfers = context_.pattern.transfers(0);
    for (const auto& group : groups_of(context_.pattern, transfers)) {
      file_types_.prepare(transfers, order(transfers, group), mpiio::mpi_type_of(group.type));
    }
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    const auto groups = groups_of(context_.pattern, transfers);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      move_group(transfers, groups[i], calls_.at(round, i), buffers);
    }
    pieces_.next_round();
    file_types_.next_round();
  }

 private:
  bool in_group(const Transfer& transfer, const VardGroup& group) const {
    const auto& dataset = context_.pattern.datasets[transfer.dataset];
    return group == VardGroup{dataset.type, dataset.has_time};
  }

  std::uint64_t most_elements(const VardGroup& group) const {
    return options_.call_bytes / size_of(group.type);
  }

  // Calls that each group of a round needs.
  void measure(const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out) const {
    for (const auto& group : groups_of(context_.pattern, transfers)) {
      std::uint64_t elements = 0;
      for (const auto& transfer : transfers) {
        if (in_group(transfer, group)) elements += transfer.file->element_count();
      }
      out.push_back((elements + most_elements(group) - 1) / most_elements(group));
    }
  }

  // The variable of the group that comes first in the file. The call is given this one, and its
  // file types count from there.
  std::size_t lead(std::span<const Transfer> transfers, const VardGroup& group) {
    std::size_t lead = 0;
    auto first = std::numeric_limits<std::uint64_t>::max();
    for (const auto& transfer : transfers) {
      if (!in_group(transfer, group)) continue;
      const auto offset = file().inq_varoffset(variable(transfer.dataset));
      if (offset >= first) continue;
      first = offset;
      lead = transfer.dataset;
    }
    return lead;
  }

  FileOrder order(std::span<const Transfer> transfers, const VardGroup& group) {
    const auto origin = file().inq_varoffset(variable(lead(transfers, group)));
    return order_in_file(context_.pattern, transfers, pieces_,
                         [&](const Transfer& transfer) -> std::optional<std::uint64_t> {
                           if (!in_group(transfer, group)) return std::nullopt;
                           const auto record = group.has_time ? transfer.time * record_bytes_ : 0;
                           return file().inq_varoffset(variable(transfer.dataset)) - origin +
                                  record;
                         });
  }

  void move_group(const std::vector<Transfer>& transfers, const VardGroup& group,
                  std::uint64_t calls, std::span<std::byte* const> buffers) {
    if (calls == 0) return;
    const auto element = mpiio::mpi_type_of(group.type);
    const auto first_variable = variable(lead(transfers, group));
    const auto ordered = order(transfers, group);
    if (calls == 1 && !ordered.empty() && !ordered.interleaved()) {
      move_all(first_variable, file_types_.of_all(transfers, ordered, element),
               memory_of(memory_blocks(ordered, buffers, element),
                         buffers[ordered.transfers().front().index], element));
      return;
    }
    const auto parts = cut_in_calls(ordered, buffers, element, most_elements(group));
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (call < parts.size()) {
        move_all(first_variable, parts[call].file.datatype(),
                 memory_of(parts[call].memory, parts[call].base, element));
      } else {
        move_all(first_variable, {}, {nullptr, 0, element, {}});
      }
    }
  }

  void move_all(int first_variable, const mpiio::Datatype& filetype, const TypedMemory& memory) {
    move(&pnetcdf::File::put_vard_all, &pnetcdf::File::get_vard_all, memory, first_variable,
         filetype.get());
    count_calls("ncmpi_put_vard_all", "ncmpi_get_vard_all");
  }

  std::uint64_t record_bytes_ = 0;
  SelectionCache<FilePieces> pieces_;
  FileTypes file_types_;
  RoundMaxima calls_;
};

// Its release notes call the vard calls deprecated; they return NC_ENOTSUPPORT whatever they get.
std::optional<std::string> without_vard(const Pattern&, const Settings&) {
  int major = 0;
  int minor = 0;
  const std::string version = pnetcdf::library_version();
  const bool known = std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2;
  if (!known || std::pair(major, minor) < std::pair(1, 15)) return std::nullopt;
  return fmt::format("PnetCDF {} has no vard calls any more", version);
}

}  // namespace
#endif

MethodInfo pnetcdf_vard_method() {
  auto info = pnetcdf_info("pnetcdf-vard", "one blocking ncmpi_put_vard_all per time step and type",
                           pnetcdf_options());
#if SLABMARK_WITH_PNETCDF
  info.make = make_pnetcdf<PnetcdfVard>;
  refuse_more(info, without_vard);
#endif
  return info;
}

}  // namespace slabmark
