#include "bench/method/as_captured/replay.hpp"

#if SLABMARK_WITH_PNETCDF
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <pnetcdf.h>

#include "bench/method/pnetcdf/method.hpp"
#include "capture/format/recorder.hpp"
#include "core/parallel/datatype.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/file.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

using nlohmann::json;

nc_type nc_type_of(const std::string& name) {
  constexpr std::pair<const char*, nc_type> types[] = {
      {"int8", NC_BYTE},     {"uint8", NC_UBYTE},   {"char", NC_CHAR},     {"int16", NC_SHORT},
      {"uint16", NC_USHORT}, {"int32", NC_INT},     {"uint32", NC_UINT},   {"int64", NC_INT64},
      {"uint64", NC_UINT64}, {"float32", NC_FLOAT}, {"float64", NC_DOUBLE}};
  for (const auto& [known, type] : types) {
    if (name == known) return type;
  }
  throw InputError(fmt::format("NetCDF has no type {}.", name));
}

class PnetcdfReplay : public Replay {
 public:
  explicit PnetcdfReplay(const Context& context) : Replay(context), rank_(context.rank) {}

  void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) override {
    const CapturedEvent& event = parts.front();
    const std::string name = rank_.definition(event.call).value("name", "");
    path_ = context_.path_of(event.file);
    if (name == "ncmpi_create" || name == "ncmpi_open") {
      open(event, name == "ncmpi_create");
      return;
    }
    file_ = &opened(files_, event.file);
    if (event.moves()) {
      move(name, parts, memory);
    } else if (event.requests != CapturedEvent::Requests::none) {
      wait(name, event);
    } else {
      control(name, event);
    }
  }

  // Those before 1.15 have ranks without requests write under a lock, too.
  bool waits_write_together() const override { return pnetcdf::library_is_since({1, 15}); }

  void sync() override {
    for (const auto& [opening, file] : files_) {
      path_ = context_.path_of(opening);
      check(ncmpi_sync(file.id), "ncmpi_sync");
    }
  }

  void end() override {
    for (const auto& [opening, file] : files_) ncmpi_close(file.id);
    files_.clear();
  }

 private:
  using Number = MPI_Offset;

  void check(int code, const char* call) const {
    pnetcdf::check(code, call, path_, context_.together.rank());
  }

  // ---- Files, variables ----

  void open(const CapturedEvent& event, bool is_new) {
    const json& file = rank_.file(event.file);
    const mpiio::Info info(hints_of(file, context_.settings));
    const int mode = file.value("mode", 0);
    const MPI_Comm comm = context_.comm_of(file).get();
    int id = -1;
    check(is_new ? ncmpi_create(comm, path_.c_str(), mode & ~NC_NOCLOBBER, info.get(), &id)
                 : ncmpi_open(comm, path_.c_str(), mode, info.get(), &id),
          is_new ? "ncmpi_create" : "ncmpi_open");
    files_[event.file].id = id;
  }

  /// Values of attributes are not known: they are zeros, or blanks in texts.
  void put_attributes(int variable, const json& attributes) {
    for (const json& attribute : attributes) {
      const std::string name = attribute.value("name", "");
      const std::string type = attribute.value("type", "");
      const auto count = attribute.value("count", Number{0});
      MPI_Offset found = 0;
      if (ncmpi_inq_attlen(file_->id, variable, name.c_str(), &found) == NC_NOERR) continue;
      if (type == "char") {
        const std::string text(static_cast<std::size_t>(count), ' ');
        check(ncmpi_put_att_text(file_->id, variable, name.c_str(), count, text.c_str()),
              "ncmpi_put_att_text");
      } else {
        const std::vector<long long> zeros(static_cast<std::size_t>(count) + 1);
        check(ncmpi_put_att_longlong(file_->id, variable, name.c_str(), nc_type_of(type), count,
                                     zeros.data()),
              "ncmpi_put_att_longlong");
      }
    }
  }

  void define(const CapturedEvent& event) {
    const json structure =
        event.details == CapturedEvent::none ? json::object() : rank_.definition(event.details);
    for (const json& dimension : structure.value("dimensions", json::array())) {
      const std::string name = dimension.value("name", "");
      if (int known = -1; ncmpi_inq_dimid(file_->id, name.c_str(), &known) == NC_NOERR) continue;
      const json length = dimension.value("length", json());
      int made = -1;
      check(ncmpi_def_dim(file_->id, name.c_str(),
                          length.is_null() ? NC_UNLIMITED : length.get<Number>(), &made),
            "ncmpi_def_dim");
    }
    put_attributes(NC_GLOBAL, structure.value("attributes", json::array()));
    for (const std::uint64_t dataset : std::exchange(file_->to_define, {})) {
      const json& definition = rank_.definition(dataset);
      std::vector<int> dimensions;
      for (const json& dimension : definition.value("dimensions", json::array())) {
        dimensions.push_back(-1);
        check(ncmpi_inq_dimid(file_->id, dimension.get<std::string>().c_str(), &dimensions.back()),
              "ncmpi_inq_dimid");
      }
      int variable = -1;
      check(ncmpi_def_var(file_->id, definition.value("name", "").c_str(),
                          nc_type_of(definition.value("type", "")),
                          static_cast<int>(dimensions.size()), dimensions.data(), &variable),
            "ncmpi_def_var");
      if (definition.value("filled", false))
        check(ncmpi_def_var_fill(file_->id, variable, 0, nullptr), "ncmpi_def_var_fill");
      put_attributes(variable, definition.value("attributes", json::array()));
      file_->variables[dataset] = variable;
    }
  }

  int variable(std::uint64_t dataset) {
    const auto known = file_->variables.find(dataset);
    if (known != file_->variables.end()) return known->second;
    int variable = -1;
    const std::string name = rank_.definition(dataset).value("name", "");
    check(ncmpi_inq_varid(file_->id, name.c_str(), &variable), "ncmpi_inq_varid");
    return file_->variables[dataset] = variable;
  }

  void control(const std::string& name, const CapturedEvent& event) {
    const auto argument = [&](std::size_t i) {
      return i < event.arguments.size() ? static_cast<Number>(event.arguments[i]) : Number{0};
    };
    if (name == "ncmpi_put_att") {
      put_attributes(variable(event.dataset),
                     rank_.definition(event.dataset).value("attributes", json::array()));
    } else if (name == "ncmpi_def_var") {
      file_->to_define.push_back(event.dataset);
    } else if (name == "ncmpi_enddef") {
      define(event);
      check(ncmpi_enddef(file_->id), "ncmpi_enddef");
    } else if (name == "ncmpi__enddef") {
      define(event);
      check(ncmpi__enddef(file_->id, argument(0), argument(1), argument(2), argument(3)),
            "ncmpi__enddef");
    } else if (name == "ncmpi_redef") {
      check(ncmpi_redef(file_->id), "ncmpi_redef");
      file_->filetypes.clear();  // records may become longer
    } else if (name == "ncmpi_begin_indep_data") {
      check(ncmpi_begin_indep_data(file_->id), "ncmpi_begin_indep_data");
    } else if (name == "ncmpi_end_indep_data") {
      check(ncmpi_end_indep_data(file_->id), "ncmpi_end_indep_data");
    } else if (name == "ncmpi_sync") {
      check(ncmpi_sync(file_->id), "ncmpi_sync");
    } else if (name == "ncmpi_sync_numrecs") {
      check(ncmpi_sync_numrecs(file_->id), "ncmpi_sync_numrecs");
    } else if (name == "ncmpi_flush") {
      check(ncmpi_flush(file_->id), "ncmpi_flush");
    } else if (name == "ncmpi_buffer_attach") {
      check(ncmpi_buffer_attach(file_->id, argument(0)), "ncmpi_buffer_attach");
    } else if (name == "ncmpi_buffer_detach") {
      check(ncmpi_buffer_detach(file_->id), "ncmpi_buffer_detach");
    } else if (name == "ncmpi_set_fill") {
      int before = 0;
      check(ncmpi_set_fill(file_->id, static_cast<int>(argument(0)), &before), "ncmpi_set_fill");
    } else if (name == "ncmpi_fill_var_rec") {
      check(ncmpi_fill_var_rec(file_->id, variable(event.dataset), argument(0)),
            "ncmpi_fill_var_rec");
    } else if (name == "ncmpi_close" || name == "ncmpi_abort") {
      const int id = file_->id;
      files_.erase(event.file);
      check(name == "ncmpi_close" ? ncmpi_close(id) : ncmpi_abort(id), name.c_str());
    } else {
      throw InputError(
          fmt::format("The captured program called {}, which is not known here.", name));
    }
  }

  // ---- Transfers ----

  /// Where in the variable, as arrays that PnetCDF takes.
  struct Place {
    std::vector<Number> start, count, stride;
    std::vector<Number> numbers;  ///< of a list of boxes
    std::vector<Number*> starts, counts;
    Number elements = 1;
  };

  /// Lists are taken apart once: variables share them, and each step has them elsewhere.
  struct KnownList {
    Place place;
    std::vector<std::int64_t> origin;
    bool strided = false;
  };

  Place& place_of(const CapturedEvent& event, Place& own) {
    using Selection = CapturedEvent::Selection;
    if (event.selection == Selection::list) return list_at(event);
    own = {};
    if (event.selection == Selection::box) {
      own.start.assign(event.origin.begin(), event.origin.end());
      own.count.assign(event.counts.begin(), event.counts.end());
    } else {
      own.start.assign(event.rank, 0);
      own.count.assign(event.rank, 0);
      if (event.selection == Selection::all) {
        const json extent = rank_.definition(event.dataset).value("extent", json::array());
        for (std::size_t d = 0; d < event.rank; ++d) own.count[d] = extent.at(d).get<Number>();
      }
    }
    for (const Number count : own.count) own.elements *= count;
    return own;
  }

  Place& list_at(const CapturedEvent& event) {
    auto known = lists_.find(event.list);
    if (known == lists_.end()) {
      const BoxArray boxes = rank_.lists.get(event.list);
      KnownList made;
      const std::size_t rank = boxes.rank;
      made.strided = !boxes.strides.empty();
      made.origin.assign(rank, 0);
      made.place.elements = static_cast<Number>(boxes.elements());
      made.place.numbers.resize(2 * rank * boxes.count);
      for (std::size_t i = 0; i < boxes.count; ++i) {
        Number* const at = made.place.numbers.data() + 2 * rank * i;
        std::copy_n(boxes.starts.begin() + static_cast<std::ptrdiff_t>(i * rank), rank, at);
        std::copy_n(boxes.counts.begin() + static_cast<std::ptrdiff_t>(i * rank), rank, at + rank);
        made.place.starts.push_back(at);
        made.place.counts.push_back(at + rank);
      }
      if (made.strided) {
        made.place.count.assign(boxes.counts.begin(), boxes.counts.end());
        made.place.stride.assign(boxes.strides.begin(), boxes.strides.end());
      }
      known = lists_.emplace(event.list, std::move(made)).first;
    }
    KnownList& list = known->second;
    if (!std::equal(list.origin.begin(), list.origin.end(), event.origin.begin(),
                    event.origin.end())) {
      for (Number* const start : list.place.starts) {
        for (std::size_t d = 0; d < event.rank; ++d) start[d] += event.origin[d] - list.origin[d];
      }
      list.origin = event.origin;
    }
    if (list.strided) list.place.start.assign(event.origin.begin(), event.origin.end());
    return list.place;
  }

  MPI_Datatype type_of(std::uint64_t dataset) {
    MPI_Datatype& type = types_[dataset];
    if (type == MPI_Datatype{}) {
      type = mpiio::mpi_type_of(*find_element_type(rank_.definition(dataset).value("type", "")));
    }
    return type;
  }

  static const Number* of(const std::vector<Number>& numbers) {
    static const Number zero = 0;  // a scalar has none, but PnetCDF wants them not to be null
    return numbers.empty() ? &zero : numbers.data();
  }

  void move(const std::string& name, std::span<const CapturedEvent> parts,
            std::span<std::byte* const> memory) {
    if (name.starts_with("ncmpi_m")) {
      move_several(name, parts, memory);
      return;
    }
    if (name.find("_vard") != std::string::npos) {
      move_by_filetype(name, parts, memory);
      return;
    }
    const CapturedEvent& event = parts.front();
    Place own;
    const Place& place = place_of(event, own);
    std::vector<Number> imap;
    Number in_memory = place.elements;
    MPI_Datatype type = type_of(event.dataset);
    if (event.memory) {
      const BoxArray boxes = rank_.lists.get(*event.memory);
      if (boxes.is_map) {
        imap.assign(boxes.starts.begin(), boxes.starts.end());
      } else {
        type = type_of_memory(type, *event.memory);
        in_memory = 1;
      }
    }
    const int variable = this->variable(event.dataset);
    void* const at = memory.front();
    const int id = file_->id;
    int request = 0;
    // Ranks must make the same call, however many boxes each has.
    const bool is_varn = name.find("_varn") != std::string::npos;
    std::vector<Number*> starts = place.starts, counts = place.counts;
    if (is_varn && starts.empty() && place.elements > 0) {
      starts = {const_cast<Number*>(of(place.start))};
      counts = {const_cast<Number*>(of(place.count))};
    }
    const auto call = [&](auto varn, auto varm, auto vars, auto vara, auto... more) {
      if (is_varn) {
        return varn(id, variable, static_cast<int>(starts.size()), starts.data(), counts.data(), at,
                    in_memory, type, more...);
      }
      const Number* const start = of(place.start);
      const Number* const count = of(place.count);
      const Number* const stride = place.stride.empty() ? nullptr : place.stride.data();
      if (!imap.empty())
        return varm(id, variable, start, count, stride, imap.data(), at, in_memory, type, more...);
      if (stride) return vars(id, variable, start, count, stride, at, in_memory, type, more...);
      return vara(id, variable, start, count, at, in_memory, type, more...);
    };
    int code = NC_NOERR;
#define SLABMARK_CALL(verb, suffix, ...)                                \
  code = call(ncmpi_##verb##_varn##suffix, ncmpi_##verb##_varm##suffix, \
              ncmpi_##verb##_vars##suffix, ncmpi_##verb##_vara##suffix __VA_OPT__(, ) __VA_ARGS__)
    const bool all = (event.flags & capture::collective) != 0;
    if (event.flags & capture::buffered) {
      SLABMARK_CALL(bput, , &request);
    } else if (event.flags & capture::nonblocking) {
      if (event.flags & capture::writes) {
        SLABMARK_CALL(iput, , &request);
      } else {
        SLABMARK_CALL(iget, , &request);
      }
    } else if (event.flags & capture::writes) {
      if (all) {
        SLABMARK_CALL(put, _all);
      } else {
        SLABMARK_CALL(put, );
      }
    } else if (all) {
      SLABMARK_CALL(get, _all);
    } else {
      SLABMARK_CALL(get, );
    }
#undef SLABMARK_CALL
    check(code, name.c_str());
    if (event.request > 0) file_->requests[event.request] = request;
  }

  /// Elements as PnetCDF and MPI have them: runs of one type.
  struct Runs {
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;  ///< in bytes

    void add(Number length, MPI_Aint offset) {
      lengths.push_back(static_cast<int>(length));
      offsets.push_back(offset);
    }
    Datatype datatype(MPI_Datatype element) const {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      check_mpi(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                         offsets.data(), element, &made),
                "MPI_Type_create_hindexed");
      return Datatype(made);
    }
  };

  static MPI_Aint bytes_of(MPI_Datatype element) {
    int bytes = 0;
    MPI_Type_size(element, &bytes);
    return bytes;
  }

  /// Where boxes of memory lie, from the address of the first of all.
  void add_memory(std::uint64_t list, MPI_Aint bytes, MPI_Aint address, Runs& runs) const {
    const BoxArray boxes = rank_.lists.get(list);
    const std::int64_t origin = boxes.origin.empty() ? 0 : boxes.origin[0];
    for (std::size_t i = 0; i < boxes.count; ++i)
      runs.add(boxes.counts[i], address + (boxes.starts[i] + origin) * bytes);
  }

  /// Boxes of memory as one datatype, made once.
  MPI_Datatype type_of_memory(MPI_Datatype element, std::uint64_t list) {
    auto [known, is_new] = memory_types_.try_emplace({list, element});
    if (is_new) {
      Runs runs;
      add_memory(list, bytes_of(element), 0, runs);
      known->second = runs.datatype(element);
    }
    return known->second.get();
  }

  // ---- Transfers by a datatype of the file ----

  MPI_Offset offset_in_file(std::uint64_t dataset) {
    MPI_Offset offset = 0;
    check(ncmpi_inq_varoffset(file_->id, variable(dataset), &offset), "ncmpi_inq_varoffset");
    return offset;
  }

  /// The boxes of a part, from where the variable of the call begins.
  void add_part(const CapturedEvent& event, MPI_Offset begin, Runs& runs) {
    Place own;
    const Place& place = place_of(event, own);
    const json& definition = rank_.definition(event.dataset);
    const bool has_records =
        definition.contains("maximum") && definition["maximum"].at(0).is_null();
    const std::vector<Number> lengths = definition.value("extent", std::vector<Number>{});
    MPI_Offset bytes_a_record = 0;
    check(ncmpi_inq_recsize(file_->id, &bytes_a_record), "ncmpi_inq_recsize");
    const MPI_Aint bytes = bytes_of(type_of(event.dataset));
    const auto add = [&](const Number* start, const Number* count) {
      Number length = 1;
      MPI_Aint offset = 0;
      for (std::size_t d = has_records ? 1 : 0; d < event.rank; ++d) {
        offset = offset * lengths[d] + start[d];
        length *= count[d];
      }
      runs.add(length, begin + offset * bytes + (has_records ? start[0] * bytes_a_record : 0));
    };
    for (std::size_t i = 0; i < place.starts.size(); ++i) add(place.starts[i], place.counts[i]);
    if (place.starts.empty() && place.elements > 0) add(place.start.data(), place.count.data());
  }

  /// Programs make theirs once, and so does this.
  MPI_Datatype filetype_of(std::span<const CapturedEvent> parts) {
    using Selection = CapturedEvent::Selection;
    std::vector<std::uint64_t> key;
    std::vector<std::int64_t> where;
    for (const CapturedEvent& part : parts) {
      const bool by_list = part.selection == Selection::list;
      key.insert(key.end(), {part.dataset, by_list ? part.list : CapturedEvent::none});
      where.insert(where.end(), part.origin.begin(), part.origin.end());
      where.insert(where.end(), part.counts.begin(), part.counts.end());
    }
    Filetype& known = file_->filetypes[key];
    if (known.type.get() != MPI_DATATYPE_NULL && known.where == where) return known.type.get();
    Runs runs;
    const MPI_Offset begin = offset_in_file(parts.front().dataset);
    for (const CapturedEvent& part : parts) {
      if (part.selection == Selection::nothing) continue;
      add_part(part, offset_in_file(part.dataset) - begin, runs);
    }
    known = {runs.datatype(type_of(parts.front().dataset)), where};
    return known.type.get();
  }

  /// Several parts are of as many variables, which the type of the first goes on into.
  void move_by_filetype(const std::string& name, std::span<const CapturedEvent> parts,
                        std::span<std::byte* const> memory) {
    const MPI_Datatype element = type_of(parts.front().dataset);
    MPI_Datatype filetype = MPI_DATATYPE_NULL, type = element;
    std::byte* at = memory.front();
    Number count = 0, elements = 0;
    Datatype apart;
    if (parts.size() == 1) {
      elements = count = elements_of(parts.front());
      if (count > 0 && parts.front().memory) {
        type = type_of_memory(element, *parts.front().memory);
        count = 1;
      }
    } else {
      Runs runs;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Number length = elements_of(parts[i]);
        if (length == 0) continue;
        if (at == nullptr) at = memory[i];
        elements += length;
        const MPI_Aint address = memory[i] - at;
        if (parts[i].memory) {
          add_memory(*parts[i].memory, bytes_of(element), address, runs);
        } else {
          runs.add(length, address);
        }
      }
      apart = runs.datatype(element);
      type = apart.get();
      count = elements > 0 ? 1 : 0;
    }
    if (elements > 0) filetype = filetype_of(parts);
    const int id = file_->id;
    const int target = variable(parts.front().dataset);
    const bool all = (parts.front().flags & capture::collective) != 0;
    check(parts.front().flags & capture::writes
              ? (all ? ncmpi_put_vard_all : ncmpi_put_vard)(id, target, filetype, at, count, type)
              : (all ? ncmpi_get_vard_all : ncmpi_get_vard)(id, target, filetype, at, count, type),
          name.c_str());
  }

  Number elements_of(const CapturedEvent& event) {
    Place own;
    return event.selection == CapturedEvent::Selection::nothing ? 0 : place_of(event, own).elements;
  }

  void move_several(const std::string& name, std::span<const CapturedEvent> parts,
                    std::span<std::byte* const> memory) {
    const std::size_t n = parts.front().dataset == CapturedEvent::none ? 0 : parts.size();
    std::vector<Place> places(n);
    std::vector<std::vector<Number>> strides(n), maps(n);
    std::vector<int> variables;
    std::vector<Number*> starts, counts, stride_of, map_of;
    std::vector<void*> buffers;
    std::vector<Number> elements;
    std::vector<MPI_Datatype> types;
    bool mapped = false;
    for (std::size_t i = 0; i < n; ++i) {
      const CapturedEvent& event = parts[i];
      Place own;
      places[i] = place_of(event, own);
      Place& place = places[i];
      place.start.resize(std::max<std::size_t>(1, place.start.size()));
      place.count.resize(std::max<std::size_t>(1, place.count.size()));
      strides[i] = place.stride;
      strides[i].resize(place.start.size(), 1);
      if (event.memory) {
        const BoxArray map = rank_.lists.get(*event.memory);
        if (map.is_map) maps[i].assign(map.starts.begin(), map.starts.end());
      }
      mapped = mapped || !maps[i].empty();
      variables.push_back(variable(event.dataset));
      starts.push_back(place.start.data());
      counts.push_back(place.count.data());
      stride_of.push_back(strides[i].data());
      map_of.push_back(maps[i].empty() ? nullptr : maps[i].data());
      buffers.push_back(memory[i]);
      elements.push_back(place.elements);
      types.push_back(type_of(event.dataset));
    }
    const bool puts = (parts.front().flags & capture::writes) != 0;
    const bool all = (parts.front().flags & capture::collective) != 0;
    const int count = static_cast<int>(n);
    const auto call = [&](auto with_map, auto without) {
      return mapped ? with_map(file_->id, count, variables.data(), starts.data(), counts.data(),
                               stride_of.data(), map_of.data(), buffers.data(), elements.data(),
                               types.data())
                    : without(file_->id, count, variables.data(), starts.data(), counts.data(),
                              stride_of.data(), buffers.data(), elements.data(), types.data());
    };
    check(puts ? (all ? call(ncmpi_mput_varm_all, ncmpi_mput_vars_all)
                      : call(ncmpi_mput_varm, ncmpi_mput_vars))
               : (all ? call(ncmpi_mget_varm_all, ncmpi_mget_vars_all)
                      : call(ncmpi_mget_varm, ncmpi_mget_vars)),
          name.c_str());
  }

  void wait(const std::string& name, const CapturedEvent& event) {
    using Requests = CapturedEvent::Requests;
    auto& requests = file_->requests;
    std::vector<int> ids;
    for (const std::uint64_t request : event.listed) {
      const auto known = requests.find(request);
      ids.push_back(known == requests.end() ? NC_REQ_NULL : known->second);
      if (known != requests.end()) requests.erase(known);
    }
    int count = static_cast<int>(ids.size());
    if (event.requests == Requests::all) count = NC_REQ_ALL;
    if (event.requests == Requests::all_writing) count = NC_PUT_REQ_ALL;
    if (event.requests == Requests::all_reading) count = NC_GET_REQ_ALL;
    if (event.requests == Requests::all) requests.clear();
    std::vector<int> statuses(ids.size() + 1);
    check(name == "ncmpi_wait_all" ? ncmpi_wait_all(file_->id, count, ids.data(), statuses.data())
          : name == "ncmpi_cancel" ? ncmpi_cancel(file_->id, count, ids.data(), statuses.data())
                                   : ncmpi_wait(file_->id, count, ids.data(), statuses.data()),
          name.c_str());
    for (std::size_t i = 0; i < ids.size(); ++i) check(statuses[i], name.c_str());
  }

  struct Filetype {
    Datatype type;
    std::vector<std::int64_t> where;  ///< of all parts
  };
  struct File {
    int id = -1;
    std::vector<std::uint64_t> to_define;
    std::map<std::uint64_t, int> variables;  ///< by the rank's number of the dataset
    std::map<std::uint64_t, int> requests;   ///< by the rank's number
    std::map<std::vector<std::uint64_t>, Filetype> filetypes;  ///< by dataset and list of each part
  };

  const RankReader& rank_;
  std::map<std::uint64_t, File> files_;  ///< by opening
  File* file_ = nullptr;                 ///< of the call at hand
  std::string path_;                     ///< the same file's
  std::map<std::uint64_t, MPI_Datatype> types_;
  std::map<std::uint64_t, KnownList> lists_;
  std::map<std::pair<std::uint64_t, MPI_Datatype>, Datatype>
      memory_types_;  ///< by list and element
};

}  // namespace
#endif

MethodInfo as_captured_pnetcdf_method() {
#if SLABMARK_WITH_PNETCDF
  return as_captured_info("pnetcdf", FileFormat::netcdf, "pnetcdf-varn",
                          make_replay<PnetcdfReplay>);
#else
  auto info = as_captured_info("pnetcdf", FileFormat::netcdf, "pnetcdf-varn", nullptr);
  info.missing = "PnetCDF was not found at configure time";
  return info;
#endif
}

}  // namespace slabmark
