#include <fmt/format.h>

#include "bench/method/options.hpp"
#include "bench/method/pnetcdf/info.hpp"

#if SLABMARK_WITH_NETCDF4
#include <algorithm>
#include <optional>

#include "bench/method/shared/data_sieving.hpp"
#include "bench/method/shared/netcdf_definition.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/method/shared/typed_memory.hpp"
#include "bench/pattern/box_list.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/mpiio/romio_hints.hpp"
#include "storage/netcdf4/file.hpp"
#include "storage/posix/file.hpp"
#endif

namespace slabmark {

namespace {

struct Netcdf4Options {
  std::uint64_t call_bytes = std::uint64_t{1} << 30;
};

OptionTable<Netcdf4Options> netcdf4_options() {
  return OptionTable<Netcdf4Options>().add("netcdf4.call_bytes", &Netcdf4Options::call_bytes,
                                           "most bytes of one call", Size{8});
}

#if SLABMARK_WITH_NETCDF4

/// One nc_put_vara per hyperslab, as models write netCDF-4 through netCDF-C. The chunks are the
/// library's own choice, unless the pattern has some. A rank with fewer hyperslabs than others
/// takes part in collective calls with counts of 0. netCDF-C has no such call for scalars, so these
/// move independently.
class Netcdf4Var : public Method {
 public:
  explicit Netcdf4Var(const MethodContext& context)
      : Method(context),
        options_(netcdf4_options().read(context.settings)),
        sieving_(mpiio::romio_hears_hints_of_opening()) {}

  // As for HDF5, through which the library writes: see Hdf5Method::choose_hints().
  void choose_hints() override {
    if (context_.comm.size() < 3) return;
    const auto measure = [this](const auto& transfers, auto& out) { count_boxes(transfers, out); };
    if (some_rank_has_less(context_.comm, context_.pattern, measure)) {
      sieving_.leave_out(context_.settings, "In some calls a rank may have nothing");
    }
  }

  void create(const std::string& path) override {
    const mpiio::Info info(sieving_.added_to(context_.settings.hints));
    file_ = netcdf4::File::create(context_.comm.get(), path, info.get());
  }

  void define() override {
    variables_ = define_netcdf(
        *file_, context_.pattern,
        [this](const std::string& name, const Dataset& dataset, const std::vector<int>& dims) {
          const int variable = file_->def_var(name, dataset.type, dims);
          if (dataset.chunk) file_->def_var_chunking(variable, chunk_of(dataset));
          return variable;
        });
    file_->enddef();
    choose_access();
  }

  void open(const std::string& path) override {
    const mpiio::Info info(context_.settings.hints);
    file_ = netcdf4::File::open(context_.comm.get(), path, info.get());
    for (const auto& name : netcdf_names(context_.pattern)) {
      variables_.push_back(file_->inq_varid(name));
    }
    choose_access();
  }

  void prepare() override {
    most_boxes_ =
        RoundMaxima(context_.comm, context_.pattern, [this](const auto& transfers, auto& out) {
          boxes_.next_round();
          count_boxes(transfers, out);
        });
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      move_transfer(transfers[i], buffers[i], most_boxes_.at(round, i));
    }
    boxes_.next_round();
    runs_.next_round();
  }

  void sync() override {
    file_->sync();
    posix::File::open(file_->path(), posix::File::Access::read).sync();
  }

  void close() override { file_->close(); }

  Json effective() const override {
    Json effective = {{"library", "netCDF-C " + netcdf4::library_version()},
                      {"file_format", "netCDF-4"},
                      {"calls", {{writing() ? "nc_put_vara" : "nc_get_vara", calls_}}}};
    sieving_.report(effective, context_.settings);
    return effective;
  }

 private:
  using Boxes = BoxList<std::size_t>;

  /// With time in front. The library takes none that is longer than the variable.
  static std::vector<std::size_t> chunk_of(const Dataset& dataset) {
    std::vector<std::size_t> lengths;
    if (dataset.has_time) lengths.push_back(1);
    for (std::size_t d = 0; d < dataset.dimensions.size(); ++d) {
      lengths.push_back(std::min((*dataset.chunk)[d], dataset.dimensions[d].length));
    }
    return lengths;
  }

  const Dataset& dataset_of(const Transfer& transfer) const {
    return context_.pattern.datasets[transfer.dataset];
  }

  static bool is_scalar(const Dataset& dataset) {
    return !dataset.has_time && dataset.dimensions.empty();
  }

  void choose_access() {
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      file_->set_collective(variables_[i], !is_scalar(context_.pattern.datasets[i]));
    }
  }

  Boxes& boxes(const Transfer& transfer) {
    const Dataset& dataset = dataset_of(transfer);
    const std::uint64_t most = options_.call_bytes / size_of(dataset.type);
    const auto variant = 2 * size_of(dataset.type) + (dataset.has_time ? 1 : 0);
    return boxes_.get(transfer.file, nullptr, variant,
                      [&] { return Boxes(*transfer.file, dataset.has_time, most); });
  }

  void count_boxes(const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out) {
    for (const auto& transfer : transfers) out.push_back(boxes(transfer).size());
  }

  void move_transfer(const Transfer& transfer, std::byte* buffer, std::uint64_t most) {
    const Dataset& dataset = dataset_of(transfer);
    Boxes& list = boxes(transfer);
    list.set_time(transfer.time);
    auto bounce = runs_.bounce(transfer, buffer, size_of(dataset.type));
    for (std::size_t box = 0; box < list.size(); ++box) {
      const std::uint64_t elements = list.elements(box);
      std::byte* const memory = bounce ? bounce->take(elements, writing()) : buffer;
      move(transfer.dataset, *list.starts(box), *list.counts(box), memory);
      if (bounce && !writing()) bounce->scatter(elements);
      if (!bounce) buffer += elements * size_of(dataset.type);
    }
    if (is_scalar(dataset)) return;
    const std::vector<std::size_t> nothing(list.dims(), 0);
    for (std::size_t box = list.size(); box < most; ++box) {
      move(transfer.dataset, nothing.data(), nothing.data(), &nothing_);
    }
  }

  void move(std::size_t dataset, const std::size_t* starts, const std::size_t* counts,
            std::byte* memory) {
    if (writing()) {
      file_->put_vara(variables_[dataset], starts, counts, memory);
    } else {
      file_->get_vara(variables_[dataset], starts, counts, memory);
    }
    ++calls_;
  }

  const Netcdf4Options options_;
  DataSieving sieving_;
  std::optional<netcdf4::File> file_;
  std::vector<int> variables_;
  SelectionCache<Boxes> boxes_;
  BufferRuns runs_;
  RoundMaxima most_boxes_;
  std::byte nothing_{};  ///< memory of calls that move nothing
  std::uint64_t calls_ = 0;
};

#endif

}  // namespace

MethodInfo netcdf4_var_method() {
  MethodInfo info{.name = "netcdf4-var",
                  .summary = "one nc_put_vara per hyperslab of netCDF-C, collective",
                  .format = FileFormat::netcdf4,
                  .options = netcdf4_options(),
                  .supports = beyond_netcdf,
                  .overlaps_in_mpiio = has_overlaps};
#if SLABMARK_WITH_NETCDF4
  info.make = make_method<Netcdf4Var>;
#else
  info.missing = "a parallel netCDF-C of the same HDF5 was not found at configure time";
#endif
  return info;
}

}  // namespace slabmark
