#include "capture/replay/pnetcdf/replay.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pnetcdf.h>

#include "capture/format/event_flags.hpp"
#include "capture/replay/pnetcdf/datatypes.hpp"
#include "capture/replay/pnetcdf/file.hpp"
#include "capture/replay/pnetcdf/places.hpp"
#include "core/base/error.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/calls/flexible.hpp"
#include "storage/pnetcdf/file.hpp"

namespace slabmark {

namespace {

using pnetcdf::Access;
using pnetcdf::Direction;

#define SLABMARK_ITSELF(function) function
constexpr pnetcdf::FlexibleFunction flexible_functions[] = {
    SLABMARK_FLEXIBLE_FUNCTIONS(SLABMARK_ITSELF)};
#undef SLABMARK_ITSELF

/// Numbers for PnetCDF, which wants an address also of a scalar's.
const MPI_Offset* address_of(const std::vector<MPI_Offset>& numbers) {
  static constexpr MPI_Offset zero = 0;
  return numbers.empty() ? &zero : numbers.data();
}

using CallOnFile = int (*)(int ncid);

/// The functions that take a file and nothing else; null: it is none of them.
CallOnFile find_call_on_file(std::string_view name) {
#define SLABMARK_NAMED(function) \
  { #function, function }
  constexpr std::pair<std::string_view, CallOnFile> all[] = {
      SLABMARK_NAMED(ncmpi_enddef),         SLABMARK_NAMED(ncmpi_redef),
      SLABMARK_NAMED(ncmpi_sync),           SLABMARK_NAMED(ncmpi_begin_indep_data),
      SLABMARK_NAMED(ncmpi_end_indep_data), SLABMARK_NAMED(ncmpi_sync_numrecs),
      SLABMARK_NAMED(ncmpi_flush),          SLABMARK_NAMED(ncmpi_buffer_detach),
      SLABMARK_NAMED(ncmpi_close),          SLABMARK_NAMED(ncmpi_abort)};
#undef SLABMARK_NAMED
  for (const auto& [known, call] : all) {
    if (known == name) return call;
  }
  return nullptr;
}

/// Makes the calls that a program made of PnetCDF again.
class PnetcdfReplay : public Replay {
 public:
  explicit PnetcdfReplay(const Context& context)
      : Replay(context), rank_(context.rank), places_(rank_), datatypes_(rank_) {}

  void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) override {
    const CapturedEvent& event = parts.front();
    const std::string& name = rank_.call(event.call).name;
    if (name == "ncmpi_create" || name == "ncmpi_open") {
      open(event, name == "ncmpi_create");
      return;
    }
    ReplayedNetcdf& file = opened(files_, event.file);
    if (!event.moves()) {
      event.requests == CapturedEvent::Requests::none ? control(name, event, file)
                                                      : wait(name, event, file);
    } else if (name.starts_with("ncmpi_m")) {
      file.check(move_several(parts, memory, file), name.c_str());
    } else if (name.find("_vard") != std::string::npos) {
      file.check(move_by_filetype(parts, memory, file), name.c_str());
    } else {
      move(name, event, memory.front(), file);
    }
  }

  // PnetCDF before 1.15 makes even ranks without requests write under a lock.
  bool waits_write_together() const override { return pnetcdf::library_is_since({1, 15}); }

  void sync() override {
    for (const auto& [opening, file] : files_) file.check(ncmpi_sync(file.id()), "ncmpi_sync");
  }

  void end() override {
    for (const auto& [opening, file] : files_) ncmpi_close(file.id());
    files_.clear();
  }

 private:
  void open(const CapturedEvent& event, bool is_new) {
    const Json& described = rank_.file(event.file);
    const mpiio::Info info(hints_of(described, context_.hints));
    const int mode = described.value("mode", 0);
    const MPI_Comm comm = context_.comm_of(described).get();
    const std::string& path = context_.path_of(event.file);
    const int rank = context_.together.rank();
    int id = -1;
    if (is_new) {
      pnetcdf::check(ncmpi_create(comm, path.c_str(), mode & ~NC_NOCLOBBER, info.get(), &id),
                     "ncmpi_create", path, rank);
    } else {
      pnetcdf::check(ncmpi_open(comm, path.c_str(), mode, info.get(), &id), "ncmpi_open", path,
                     rank);
    }
    files_.try_emplace(event.file, id, path, rank, rank_);
  }

  void control(const std::string& name, const CapturedEvent& event, ReplayedNetcdf& file) {
    const auto argument = [&](std::size_t i) {
      return i < event.arguments.size() ? MPI_Offset{event.arguments[i]} : MPI_Offset{0};
    };
    if (name == "ncmpi_def_var") return file.add_definition(event.dataset);
    if (name == "ncmpi_put_att") return file.put_attributes_of(event.dataset);
    if (name.ends_with("enddef")) file.define(event);
    // Records may become longer in define mode, and a number is of another file after a close.
    const bool closes = name == "ncmpi_close" || name == "ncmpi_abort";
    if (closes || name == "ncmpi_redef") datatypes_.forget_filetypes(file);
    const int id = file.id();
    int code = NC_NOERR, before = 0;
    if (const CallOnFile call = find_call_on_file(name)) {
      code = call(id);
    } else if (name == "ncmpi__enddef") {
      code = ncmpi__enddef(id, argument(0), argument(1), argument(2), argument(3));
    } else if (name == "ncmpi_buffer_attach") {
      code = ncmpi_buffer_attach(id, argument(0));
    } else if (name == "ncmpi_set_fill") {
      code = ncmpi_set_fill(id, static_cast<int>(argument(0)), &before);
    } else if (name == "ncmpi_fill_var_rec") {
      code = ncmpi_fill_var_rec(id, file.variable(event.dataset), argument(0));
    } else {
      throw InputError(
          fmt::format("The captured program called {}, which is not known here.", name));
    }
    if (!closes) return file.check(code, name.c_str());
    const ReplayedNetcdf closed = std::move(file);  // also where it could not be
    files_.erase(event.file);
    closed.check(code, name.c_str());
  }

  void move(const std::string& name, const CapturedEvent& event, std::byte* address,
            ReplayedNetcdf& file) {
    const NetcdfPlace& place = places_.of(event);
    const NetcdfMemory memory = datatypes_.memory(event, place.elements, address);
    Access access{.start = address_of(place.start), .count = address_of(place.count)};
    std::vector<MPI_Offset*> starts = place.starts, counts = place.counts;
    // Ranks must make the same call, however many boxes each has.
    if (name.find("_varn") != std::string::npos) {
      if (starts.empty() && place.elements > 0) {
        starts = {const_cast<MPI_Offset*>(access.start)};
        counts = {const_cast<MPI_Offset*>(access.count)};
      }
      access = {.kind = Access::Kind::varn,
                .boxes = static_cast<int>(starts.size()),
                .starts = starts.data(),
                .counts = counts.data()};
    } else {
      access.stride = place.stride.empty() ? nullptr : place.stride.data();
      access.imap = memory.imap.empty() ? nullptr : memory.imap.data();
      access.kind = access.imap     ? Access::Kind::varm
                    : access.stride ? Access::Kind::vars
                                    : Access::Kind::vara;
    }
    const pnetcdf::Call call{
        .direction = event.has(capture::writes) ? Direction::put : Direction::get,
        .buffered = event.has(capture::buffered),
        .variable = file.variable(event.dataset),
        .access = access,
        .memory = {memory.address, memory.count, memory.type}};
    const bool posts = event.has(capture::nonblocking | capture::buffered);
    int request = NC_REQ_NULL;
    file.check(
        pnetcdf::make_call(flexible_functions, posts ? posting(call) : moving(call),
                           !posts && event.has(capture::collective), file.id(), call, &request),
        name.c_str());
    if (event.request > 0) file.add_request(event.request, request);
  }

  /// Several parts are of as many variables, which the type of the first goes on into.
  int move_by_filetype(std::span<const CapturedEvent> parts, std::span<std::byte* const> addresses,
                       ReplayedNetcdf& file) {
    const CapturedEvent& first = parts.front();
    Datatype apart;
    const NetcdfMemory memory =
        parts.size() == 1 ? datatypes_.memory(first, places_.elements_of(first), addresses.front())
                          : datatypes_.memory(parts, addresses, places_, apart);
    const MPI_Datatype filetype =
        memory.count > 0 ? datatypes_.filetype(parts, file, places_) : MPI_DATATYPE_NULL;
    const bool all = first.has(capture::collective);
    const auto call = [&](auto function) {
      return function(file.id(), file.variable(first.dataset), filetype, memory.address,
                      memory.count, memory.type);
    };
    return first.has(capture::writes) ? call(all ? ncmpi_put_vard_all : ncmpi_put_vard)
                                      : call(all ? ncmpi_get_vard_all : ncmpi_get_vard);
  }

  int move_several(std::span<const CapturedEvent> parts, std::span<std::byte* const> addresses,
                   ReplayedNetcdf& file);
  void wait(const std::string& name, const CapturedEvent& event, ReplayedNetcdf& file);

  const RankReader& rank_;
  NetcdfPlaces places_;
  NetcdfDatatypes datatypes_;
  std::map<std::uint64_t, ReplayedNetcdf> files_;  ///< by opening
};

int PnetcdfReplay::move_several(std::span<const CapturedEvent> parts,
                                std::span<std::byte* const> addresses, ReplayedNetcdf& file) {
  struct Part {
    std::vector<MPI_Offset> start, count, stride;
    NetcdfMemory memory;
  };
  std::vector<Part> all;
  std::vector<int> variables;
  bool mapped = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].dataset == CapturedEvent::none) continue;  // a rank with no part in the call
    const NetcdfPlace& place = places_.of(parts[i]);
    Part part{place.start, place.count, place.stride,
              datatypes_.memory(parts[i], place.elements, addresses[i])};
    const std::size_t rank = std::max<std::size_t>(1, part.start.size());  // also of a scalar
    part.start.resize(rank);
    part.count.resize(rank);
    part.stride.resize(rank, 1);
    mapped = mapped || !part.memory.imap.empty();
    variables.push_back(file.variable(parts[i].dataset));
    all.push_back(std::move(part));
  }
  std::vector<MPI_Offset*> starts, counts, strides, imaps;
  std::vector<MPI_Offset> elements;
  std::vector<void*> buffers;
  std::vector<MPI_Datatype> types;
  for (Part& part : all) {
    starts.push_back(part.start.data());
    counts.push_back(part.count.data());
    strides.push_back(part.stride.data());
    imaps.push_back(part.memory.imap.empty() ? nullptr : part.memory.imap.data());
    elements.push_back(part.memory.count);
    buffers.push_back(part.memory.address);
    types.push_back(part.memory.type);
  }
  const auto call = [&](auto with_maps, auto without) {
    const int count = static_cast<int>(all.size());
    return mapped ? with_maps(file.id(), count, variables.data(), starts.data(), counts.data(),
                              strides.data(), imaps.data(), buffers.data(), elements.data(),
                              types.data())
                  : without(file.id(), count, variables.data(), starts.data(), counts.data(),
                            strides.data(), buffers.data(), elements.data(), types.data());
  };
  const bool together = parts.front().has(capture::collective);
  if (parts.front().has(capture::writes)) {
    return together ? call(ncmpi_mput_varm_all, ncmpi_mput_vars_all)
                    : call(ncmpi_mput_varm, ncmpi_mput_vars);
  }
  return together ? call(ncmpi_mget_varm_all, ncmpi_mget_vars_all)
                  : call(ncmpi_mget_varm, ncmpi_mget_vars);
}

void PnetcdfReplay::wait(const std::string& name, const CapturedEvent& event,
                         ReplayedNetcdf& file) {
  using Requests = CapturedEvent::Requests;
  std::vector<int> ids = file.take_requests(event.listed);
  if (event.requests == Requests::all) file.forget_requests();
  const int count = event.requests == Requests::all           ? NC_REQ_ALL
                    : event.requests == Requests::all_writing ? NC_PUT_REQ_ALL
                    : event.requests == Requests::all_reading ? NC_GET_REQ_ALL
                                                              : static_cast<int>(ids.size());
  const auto call = name == "ncmpi_wait_all" ? ncmpi_wait_all
                    : name == "ncmpi_cancel" ? ncmpi_cancel
                                             : ncmpi_wait;
  std::vector<int> statuses(ids.size() + 1);
  file.check(call(file.id(), count, ids.data(), statuses.data()), name.c_str());
  for (std::size_t i = 0; i < ids.size(); ++i) file.check(statuses[i], name.c_str());
}

}  // namespace

std::unique_ptr<Replay> make_pnetcdf_replay(const Replay::Context& context) {
  return std::make_unique<PnetcdfReplay>(context);
}

}  // namespace slabmark
