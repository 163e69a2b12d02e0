// The drop-in for PnetCDF, loaded so that the other adapters go on to call PnetCDF itself.
#include <algorithm>
#include <dlfcn.h>
#include <stdexcept>
#include <utility>

#include <pnetcdf.h>

#include "collective/conformance/adapter.hpp"
#include "collective/conformance/environment.hpp"
#include "collective/conformance/mpi_info.hpp"
#include "collective/conformance/netcdf.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark::conformance {

namespace {

enum class PnetcdfCalls { nonblocking, blocking };

void* dropin_symbol(const char* name) {
  static void* const library = dlopen(SLABMARK_DROPIN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library ? dlsym(library, name) : nullptr;
  if (!symbol) throw std::runtime_error(dlerror());
  return symbol;
}

/// The drop-in's function of that name.
#define DROPIN(name) reinterpret_cast<decltype(&(name))>(dropin_symbol(#name))

/// A rank's part of a request as PnetCDF is told of it.
struct Varn {
  std::vector<std::vector<MPI_Offset>> starts, counts;
  std::vector<MPI_Offset*> start, count;

  Varn(const Array& array, const Request& request, int rank) {
    const Boxes boxes =
        boxes_of(array, request.record, request.runs[static_cast<std::size_t>(rank)]);
    for (const auto& one : boxes.starts) starts.emplace_back(one.begin(), one.end());
    for (const auto& one : boxes.counts) counts.emplace_back(one.begin(), one.end());
    for (auto& one : starts) start.push_back(one.data());
    for (auto& one : counts) count.push_back(one.data());
  }
  int boxes() const { return static_cast<int>(start.size()); }
};

class DropinSession : public Session {
 public:
  DropinSession(const Comm& comm, const Program& program, PnetcdfCalls calls, bool writes)
      : rank_(comm.rank()), program_(program), calls_(calls), writes_(writes) {}
  ~DropinSession() override {
    if (ncid_ >= 0) DROPIN(ncmpi_close)(ncid_);
  }

  void create(MPI_Comm comm, const std::string& path, MPI_Info info) {
    check_netcdf(
        DROPIN(ncmpi_create)(comm, path.c_str(), NC_NOCLOBBER | NC_64BIT_DATA, info, &ncid_),
        "ncmpi_create");
    variables_ = define_netcdf(ncid_, program_);
    check_netcdf(DROPIN(ncmpi_enddef)(ncid_), "ncmpi_enddef");
  }

  void open(MPI_Comm comm, const std::string& path, MPI_Info info) {
    check_netcdf(DROPIN(ncmpi_open)(comm, path.c_str(), NC_NOWRITE, info, &ncid_), "ncmpi_open");
    variables_ = find_netcdf(ncid_, program_);
  }

  // A rank whose request is refused takes part in what follows.
  void move(std::size_t step, Buffers& buffers) override {
    const Step& requests = program_.steps[step];
    int error = NC_NOERR;
    const auto note = [&](int code) { error = error == NC_NOERR ? code : error; };
    for (std::size_t r = 0; r < requests.size(); ++r) {
      note(calls_ == PnetcdfCalls::blocking ? move_now(requests[r], buffers[r])
                                            : post(requests[r], buffers[r]));
    }
    if (calls_ == PnetcdfCalls::nonblocking)
      note(DROPIN(ncmpi_wait_all)(ncid_, NC_REQ_ALL, nullptr, nullptr));
    check_netcdf(error, "step " + std::to_string(step));
  }

  void close() override {
    check_netcdf(DROPIN(ncmpi_close)(std::exchange(ncid_, -1)), "ncmpi_close");
  }

 private:
  int post(const Request& request, std::vector<std::byte>& buffer) {
    const Array& array = program_.array_of(request);
    const Varn varn(array, request, rank_);
    if (varn.boxes() == 0) return NC_NOERR;  // a rank without elements makes no call
    const auto elements = static_cast<MPI_Offset>(buffer.size() / size_of(array.type));
    const auto put_or_get = [&](auto* function) {
      return function(ncid_, variables_[request.array], varn.boxes(), varn.start.data(),
                      varn.count.data(), buffer.data(), elements, mpiio::mpi_type_of(array.type),
                      nullptr);
    };
    return writes_ ? put_or_get(DROPIN(ncmpi_iput_varn)) : put_or_get(DROPIN(ncmpi_iget_varn));
  }

  int move_now(const Request& request, std::vector<std::byte>& buffer) {
    const Array& array = program_.array_of(request);
    const Varn varn(array, request, rank_);
    const MPI_Datatype type = mpiio::mpi_type_of(array.type);
    const auto elements = static_cast<MPI_Offset>(buffer.size() / size_of(array.type));
    const auto is_one_box = [&](const RunList& runs) {
      return boxes_of(array, request.record, runs).starts.size() == 1;
    };
    const int variable = variables_[request.array];
    if (std::all_of(request.runs.begin(), request.runs.end(), is_one_box)) {
      const auto put_or_get = [&](auto* function) {
        return function(ncid_, variable, varn.start[0], varn.count[0], buffer.data(), elements,
                        type);
      };
      return writes_ ? put_or_get(DROPIN(ncmpi_put_vara_all))
                     : put_or_get(DROPIN(ncmpi_get_vara_all));
    }
    const auto put_or_get = [&](auto* function) {
      return function(ncid_, variable, varn.boxes(), varn.start.data(), varn.count.data(),
                      buffer.data(), elements, type);
    };
    return writes_ ? put_or_get(DROPIN(ncmpi_put_varn_all))
                   : put_or_get(DROPIN(ncmpi_get_varn_all));
  }

  int rank_;
  const Program& program_;
  PnetcdfCalls calls_;
  bool writes_;
  int ncid_ = -1;
  std::vector<int> variables_;
};

class DropinAdapter : public Adapter {
 public:
  DropinAdapter(const Comm& comm, const OpenOptions& options, PnetcdfCalls calls)
      : comm_(comm), info_(options.hints), calls_(calls) {
    // It reads SLABMARK_DROPIN_MEMORY once, so little_memory must be ignored.
    if (options.no_shared_memory) node_ranks_.emplace("SLABMARK_DROPIN_NODE_RANKS", "1");
    if (options.overlap) overlap_.emplace("SLABMARK_OVERLAP", "on");
  }

  std::string lacks(Ability ability) const override {
    if (calls_ == PnetcdfCalls::nonblocking) return "";
    if (ability == Ability::overrun)
      return "PnetCDF 1.12.3 hangs where one rank's collective call is refused";
    if (ability == Ability::overlap_in_few_pieces)
      return "PnetCDF moves few pieces by itself, and leaves open which of two values stays";
    if (ability == Ability::leave_holes)
      return "PnetCDF moves few pieces by itself, and MPI-IO fills holes beyond the end with "
             "anything";
    static const bool is_ompio = mpiio::mpi_io_implementation(".") == "OMPIO";
    if (ability == Ability::fail && is_ompio)
      return "PnetCDF moves some calls by itself, and OMPIO loses what does not fit";
    return "";
  }

  Overlap overlap() const override {
    return calls_ == PnetcdfCalls::blocking ? Overlap::later_call : Overlap::higher_rank;
  }

  std::unique_ptr<Session> create(const std::string& path, const Program& program) override {
    auto session = std::make_unique<DropinSession>(comm_, program, calls_, true);
    session->create(comm_.get(), path, info_.get());
    return session;
  }
  std::unique_ptr<Session> open(const std::string& path, const Program& program) override {
    auto session = std::make_unique<DropinSession>(comm_, program, calls_, false);
    session->open(comm_.get(), path, info_.get());
    return session;
  }
  std::unique_ptr<PlainFile> open_plainly(const std::string& path, const Program&) const override {
    return open_netcdf(path);
  }

 private:
  const Comm& comm_;
  MpiInfo info_;
  PnetcdfCalls calls_;
  std::optional<WithVariable> node_ranks_, overlap_;
};

AdapterInfo dropin_info(const char* name, PnetcdfCalls calls) {
  return {name, [calls](const Comm& comm, const OpenOptions& options) {
            return std::make_unique<DropinAdapter>(comm, options, calls);
          }};
}

}  // namespace

std::vector<AdapterInfo> dropin_adapters() {
  return {dropin_info("dropin-nonblocking", PnetcdfCalls::nonblocking),
          dropin_info("dropin-blocking", PnetcdfCalls::blocking)};
}

}  // namespace slabmark::conformance
