// The library for programs in C: files without header, of PnetCDF, and of HDF5.
#include <map>
#include <stdexcept>
#include <utility>

#include "accel/c_library/api/rearrange_hdf5.h"
#include "collective/conformance/adapter.hpp"
#include "collective/conformance/hdf5.hpp"
#include "collective/conformance/mpi_info.hpp"
#if SLABMARK_WITH_PNETCDF
#include "accel/c_library/api/rearrange_pnetcdf.h"
#include "collective/conformance/netcdf.hpp"
#endif

namespace slabmark::conformance {

namespace {

void check_library(int code) {
  if (code != SLABMARK_OK) throw std::runtime_error(slabmark_message());
}

/// The library's number of a type; a character is a byte.
slabmark_type library_type(ElementType type) {
  static constexpr LibraryTypes<slabmark_type> types{{{{ElementType::int8, SLABMARK_INT8},
                                                       {ElementType::uint8, SLABMARK_UINT8},
                                                       {ElementType::int16, SLABMARK_INT16},
                                                       {ElementType::uint16, SLABMARK_UINT16},
                                                       {ElementType::int32, SLABMARK_INT32},
                                                       {ElementType::uint32, SLABMARK_UINT32},
                                                       {ElementType::int64, SLABMARK_INT64},
                                                       {ElementType::uint64, SLABMARK_UINT64},
                                                       {ElementType::float32, SLABMARK_FLOAT32},
                                                       {ElementType::float64, SLABMARK_FLOAT64},
                                                       {ElementType::character, SLABMARK_UINT8}}}};
  return types.at(type);
}

/// The state that the sessions of an adapter share.
struct System {
  const Comm& comm;
  MpiInfo info;
  int number = 0;
  /// By type, extent, and what all ranks have of it.
  std::map<std::tuple<ElementType, Extent, std::vector<RunList>>, int> decompositions;

  System(const Comm& all, const OpenOptions& options) : comm(all), info(options.hints) {
    check_library(slabmark_init(comm.get(), &number));
    const auto set = [this](const char* name, const char* value) {
      check_library(slabmark_set_option(number, name, value));
    };
    if (options.little_memory) set("window", "1K");
    if (options.little_memory) set("held", "3000");
    if (options.no_shared_memory) set("node_ranks", "1");
    if (options.overlap) set("overlap", "2");
  }
  ~System() { slabmark_finalize(number); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  int decomposition(const Array& array, const Request& request) {
    const auto [found, is_new] =
        decompositions.try_emplace({array.type, array.extent, request.runs}, 0);
    if (!is_new) return found->second;
    std::vector<std::int64_t> starts, lengths;
    for (const Run run : request.runs[static_cast<std::size_t>(comm.rank())]) {
      starts.push_back(static_cast<std::int64_t>(run.offset));
      lengths.push_back(static_cast<std::int64_t>(run.length));
    }
    const std::vector<std::int64_t> extent(array.extent.begin(), array.extent.end());
    const int code = slabmark_init_decomp_runs(
        number, library_type(array.type), static_cast<int>(extent.size()), extent.data(),
        static_cast<std::int64_t>(starts.size()), starts.data(), lengths.data(), &found->second);
    if (code != SLABMARK_OK) decompositions.erase(found);
    check_library(code);
    return found->second;
  }
};

class LibrarySession : public Session {
 public:
  LibrarySession(System& system, const Program& program, bool writes)
      : system_(system), program_(program), writes_(writes) {}

  // All decompositions are made before anything is posted, so that a wrong one leaves nothing.
  void move(std::size_t step, Buffers& buffers) override {
    const Step& requests = program_.steps[step];
    std::vector<int> decompositions;
    for (const Request& request : requests) {
      decompositions.push_back(system_.decomposition(program_.array_of(request), request));
    }
    for (std::size_t r = 0; r < requests.size(); ++r) {
      const Array& array = program_.array_of(requests[r]);
      if (array.has_records) {
        if (writes_) grow(requests[r]);
        check_library(slabmark_set_frame(file_, variables_[requests[r].array],
                                         static_cast<std::int64_t>(requests[r].record)));
      }
      const auto elements = static_cast<std::int64_t>(buffers[r].size() / size_of(array.type));
      const int variable = variables_[requests[r].array];
      if (!writes_) {
        check_library(
            slabmark_iget_darray(file_, variable, decompositions[r], elements, buffers[r].data()));
        continue;
      }
      if (r % 2 == 0) {
        check_library(slabmark_iput_darray(file_, variable, decompositions[r], elements,
                                           buffers[r].data(), nullptr));
      } else {  // copied, so that the memory may go
        const std::vector<std::byte> copy = buffers[r];
        check_library(slabmark_write_darray(file_, variable, decompositions[r], elements,
                                            copy.data(), nullptr));
      }
    }
    check_library(slabmark_flush(file_));
  }

  void close() override { check_library(slabmark_close(std::exchange(file_, 0))); }

 protected:
  /// Collective: the array gets room for the record of a request.
  virtual void grow(const Request&) {}

  void inquire_variables() {
    for (const Array& array : program_.arrays) {
      check_library(slabmark_inq_varid(file_, array.name.c_str(), &variables_.emplace_back()));
    }
  }

  System& system_;
  const Program& program_;
  bool writes_;
  int file_ = 0;
  std::vector<int> variables_;
};

/// Where arrays lie in a file without header: those without records first.
struct RawPlaces {
  std::map<std::string, std::uint64_t> offsets;
  std::uint64_t record_bytes = 0;

  explicit RawPlaces(const Program& program) {
    std::uint64_t end = 0;
    for (const bool records : {false, true}) {
      const std::uint64_t begin = end;
      for (const Array& array : program.arrays) {
        if (array.has_records != records) continue;
        offsets[array.name] = end;
        end += (element_count(array.extent) * size_of(array.type) + 7) / 8 * 8;
      }
      if (records) record_bytes = end - begin;
    }
  }

  std::uint64_t offset(const Array& array, std::uint64_t record) const {
    return offsets.at(array.name) + record * (array.has_records ? record_bytes : 0);
  }
};

class RawSession : public LibrarySession {
 public:
  RawSession(System& system, const std::string& path, const Program& program, bool writes)
      : LibrarySession(system, program, writes) {
    check_library(slabmark_open_raw(system.number, path.c_str(),
                                    writes ? SLABMARK_CREATE : SLABMARK_READ, system.info.get(),
                                    &file_));
    const RawPlaces places(program);
    for (const Array& array : program.arrays) {
      check_library(slabmark_def_raw(
          file_, library_type(array.type), static_cast<std::int64_t>(element_count(array.extent)),
          static_cast<std::int64_t>(places.offset(array, 0)),
          array.has_records ? static_cast<std::int64_t>(places.record_bytes) : 0,
          &variables_.emplace_back()));
    }
  }
};

#if SLABMARK_WITH_PNETCDF
/// Open in PnetCDF on all ranks.
class NetcdfSession : public LibrarySession {
 public:
  NetcdfSession(System& system, const std::string& path, const Program& program, bool writes)
      : LibrarySession(system, program, writes) {
    if (writes) {
      check_netcdf(ncmpi_create(system.comm.get(), path.c_str(), NC_NOCLOBBER | NC_64BIT_DATA,
                                MPI_INFO_NULL, &ncid_),
                   "ncmpi_create");
      define_netcdf(ncid_, program);
      check_netcdf(ncmpi_enddef(ncid_), "ncmpi_enddef");
    } else {
      check_netcdf(ncmpi_open(system.comm.get(), path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid_),
                   "ncmpi_open");
    }
    check_library(slabmark_adopt_pnetcdf(
        system.number, ncid_, writes ? SLABMARK_WRITE : SLABMARK_READ, system.info.get(), &file_));
    inquire_variables();
  }

  void close() override {
    LibrarySession::close();
    check_netcdf(ncmpi_close(ncid_), "ncmpi_close");
  }

 private:
  int ncid_ = -1;
};
#endif

/// Open in HDF5 on all ranks.
class Hdf5Session : public LibrarySession {
 public:
  Hdf5Session(System& system, const std::string& path, const Program& program, bool writes)
      : LibrarySession(system, program, writes), path_(path) {
    const auto access = property_list(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access.get(), system.comm.get(), MPI_INFO_NULL);
    hdf5_ = hdf5::own(writes ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get())
                             : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()),
                      H5Fclose, writes ? "H5Fcreate" : "H5Fopen", path);
    if (writes) {
      for (const Array& array : program.arrays) create_dataset(hdf5_.get(), array, path);
    }
    records_.assign(program.arrays.size(), 1);
    check_library(slabmark_adopt_hdf5(system.number, hdf5_.get(),
                                      writes ? SLABMARK_WRITE : SLABMARK_READ, system.info.get(),
                                      &file_));
    inquire_variables();
  }

  void close() override {
    LibrarySession::close();
    hdf5_ = {};
  }

 private:
  void grow(const Request& request) override {
    std::uint64_t& records = records_[request.array];
    if (request.record < records) return;
    records = request.record + 1;
    const Array& array = program_.array_of(request);
    set_records(open_dataset(hdf5_.get(), array, path_).get(), array, records, path_);
    check_library(slabmark_inq_varid(file_, array.name.c_str(), &variables_[request.array]));
  }

  std::string path_;
  hdf5::Handle hdf5_;
  std::vector<std::uint64_t> records_;  ///< by array
};

using OpenPlainly = std::unique_ptr<PlainFile> (*)(const std::string& path, const Program&);

template <class Opened>
class LibraryAdapter : public Adapter {
 public:
  LibraryAdapter(const Comm& comm, const OpenOptions& options, OpenPlainly plainly)
      : system_(comm, options), open_plainly_(plainly) {}

  std::string lacks(Ability ability) const override {
    switch (ability) {
      case Ability::share_elements:
        return "elements of two ranks are refused (SLABMARK_EOVERLAP)";
      case Ability::repeat_elements:
        return "a decomposition names an element once (SLABMARK_EDECOMP)";
      default:
        return "";
    }
  }

  std::unique_ptr<Session> create(const std::string& path, const Program& program) override {
    return std::make_unique<Opened>(system_, path, program, true);
  }
  std::unique_ptr<Session> open(const std::string& path, const Program& program) override {
    return std::make_unique<Opened>(system_, path, program, false);
  }
  std::unique_ptr<PlainFile> open_plainly(const std::string& path,
                                          const Program& program) const override {
    return open_plainly_(path, program);
  }

 private:
  System system_;
  OpenPlainly open_plainly_;
};

template <class Opened>
AdapterInfo library_info(const char* name, OpenPlainly open_plainly) {
  return {name, [open_plainly](const Comm& comm, const OpenOptions& options) {
            return std::make_unique<LibraryAdapter<Opened>>(comm, options, open_plainly);
          }};
}

}  // namespace

std::vector<AdapterInfo> library_adapters() {
  const auto raw = [](const std::string& path, const Program& program) {
    return open_raw(path, [places = RawPlaces(program)](const Array& array, std::uint64_t record) {
      return places.offset(array, record);
    });
  };
  const auto hdf5 = [](const std::string& path, const Program&) { return open_hdf5(path); };
  std::vector<AdapterInfo> infos = {library_info<RawSession>("library-raw", raw),
                                    library_info<Hdf5Session>("library-hdf5", hdf5)};
#if SLABMARK_WITH_PNETCDF
  const auto netcdf = [](const std::string& path, const Program&) { return open_netcdf(path); };
  infos.push_back(library_info<NetcdfSession>("library-netcdf", netcdf));
#endif
  return infos;
}

}  // namespace slabmark::conformance
