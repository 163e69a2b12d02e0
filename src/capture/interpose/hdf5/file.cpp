// Files: how they are created and opened, flushed and closed.
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <mpi.h>

#include "capture/interpose/hdf5/describe.hpp"
#include "capture/interpose/hdf5/forward.hpp"

namespace slabmark::capture {

namespace {

/// Openings by HDF5's own number of an open file, which it gives only once.
std::map<unsigned long, Id>& openings() {
  static auto& all = *new std::map<unsigned long, Id>;  // HDF5 may end after static objects
  return all;
}

#ifndef OPEN_MPI
#ifdef MPI_ABI_VERSION
constexpr bool for_standard_abi = true;
#else
constexpr bool for_standard_abi = false;
#endif

/// True if MPI's functions in `library` take the handles of the standard ABI.
bool has_standard_abi(void* library) {
  Dl_info found{};
  return dladdr(dlsym(library, "PMPI_Comm_size"), &found) != 0 && found.dli_fname != nullptr &&
         std::string_view(found.dli_fname).find("libmpi_abi") != std::string_view::npos;
}
#endif

/// MPI's functions as HDF5 has them. A serial HDF5 has none, and nothing is loaded for it.
struct Mpi {
  decltype(&MPI_Initialized) initialized = nullptr;
  decltype(&MPI_Comm_size) comm_size = nullptr;
  decltype(&MPI_Comm_rank) comm_rank = nullptr;
  decltype(&MPI_Comm_free) comm_free = nullptr;
  decltype(&MPI_Info_free) info_free = nullptr;
  decltype(&MPI_Info_get_nkeys) info_size = nullptr;
  decltype(&MPI_Info_get_nthkey) info_key = nullptr;
  decltype(&MPI_Info_get) info_get = nullptr;

  explicit Mpi(void* library) {
    // First as the program itself sees them, since it may hold the null handles; but a module of
    // Python may have loaded MPI for itself.
    const auto find = [&](const char* name, auto& found) {
      void* address = dlsym(RTLD_DEFAULT, name);
      if (address == nullptr) address = dlsym(library, name);
      found = reinterpret_cast<std::remove_reference_t<decltype(found)>>(address);
      return found != nullptr;
    };
    // Open MPI's handles are addresses within it, others' are numbers, and the standard ABI's
    // others again. (Named by MPI's own words, they would tie this library to MPI.)
#ifdef OPEN_MPI
    const bool is_ours = find("ompi_mpi_comm_world", world) &&
                         find("ompi_mpi_comm_null", no_comm) && find("ompi_mpi_info_null", no_info);
#else
    const bool is_ours = dlsym(library, "ompi_mpi_comm_world") == nullptr &&
                         has_standard_abi(library) == for_standard_abi;
    world = MPI_COMM_WORLD;
    no_comm = MPI_COMM_NULL;
    no_info = MPI_INFO_NULL;
#endif
    is_there = is_ours && find("PMPI_Initialized", initialized) &&
               find("PMPI_Comm_size", comm_size) && find("PMPI_Comm_rank", comm_rank) &&
               find("PMPI_Comm_free", comm_free) && find("PMPI_Info_free", info_free) &&
               find("PMPI_Info_get_nkeys", info_size) && find("PMPI_Info_get_nthkey", info_key) &&
               find("PMPI_Info_get", info_get);
  }

  MPI_Comm world{};
  MPI_Comm no_comm{};
  MPI_Info no_info{};
  bool is_there = false;  ///< and of the kind that this was compiled with
};

Json hints_of(const Mpi& mpi, MPI_Info info) {
  auto hints = Json::object();
  int count = 0;
  if (info == mpi.no_info || mpi.info_size(info, &count) != MPI_SUCCESS) return hints;
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    mpi.info_key(info, i, key);
    mpi.info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found != 0) hints[key] = value;
  }
  return hints;
}

/// With which ranks and hints a parallel program opens a file. Collective over them, as opening is.
void describe_communicator(hid_t access, Json& file) {
  if (hdf5().H5Pget_fapl_mpio == nullptr) return;
  static const Mpi mpi(dlopen(hdf5().path, RTLD_LAZY | RTLD_NOLOAD));
  if (!mpi.is_there) return;
  MPI_Comm comm{};
  MPI_Info info = mpi.no_info;
  {
    const QuietErrors quiet;  // of a list of another driver
    if (hdf5().H5Pget_fapl_mpio(access, &comm, &info) < 0) return;
  }
  file["hdf5"]["driver"] = "mpio";
  if (auto hints = hints_of(mpi, info); !hints.empty()) file["hints"] = std::move(hints);
  if (info != mpi.no_info) mpi.info_free(&info);
  // Of the driver alone (HDF5_DRIVER=mpio) the list says not who: HDF5 takes all ranks, and begins
  // MPI itself where the program has not.
  const bool is_said = comm != mpi.no_comm;
  int is_initialized = 1;
  if (!is_said) mpi.initialized(&is_initialized);
  if (is_initialized == 0) return;
  int ranks = 1;
  mpi.comm_size(is_said ? comm : mpi.world, &ranks);
  file["ranks"] = ranks;
  if (is_said) mpi.comm_free(&comm);
  int rank = 0;
  mpi.comm_rank(mpi.world, &rank);
  mpi.comm_size(mpi.world, &ranks);
  set_rank(rank, ranks);
}

Json describe_file(const char* path, hid_t creation, hid_t access) {
  Json file{{"kind", "file"}, {"level", "hdf5"}};
  file["hdf5"]["access"] = encoded_list(access);
  if (creation > 0) file["hdf5"]["creation"] = encoded_list(creation);
  describe_communicator(access, file);
  name_file(file, path, file.value("ranks", 1));
  return file;
}

void describe_library() {
  const auto& version = hdf5().version;
  describe_process(
      text_of({{"libraries",
                {{"hdf5", std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
                              std::to_string(version[2])}}}}));
}

/// The access list that the connector below sees.
class Lower {
 public:
  explicit Lower(hid_t access) {
    const KeptErrors errors;
    access_ = hdf5().H5Pcopy(access);
    hdf5().H5Pget_vol_info(access, &info_);
    if (info_ != nullptr) {
      const auto& info = *static_cast<const pass_through::Info*>(info_);
      connector = info.under;
      hdf5().H5Pset_vol(access_, connector, info.under_info);
    } else {
      connector = hdf5().H5VLregister_connector_by_value(H5_VOL_NATIVE, H5P_DEFAULT);
      hdf5().H5Pset_vol(access_, connector, nullptr);
    }
    // Objects keep the connector's number for as long as they are there, and a failed close may
    // keep them to the end.
    hdf5().H5Iinc_ref(connector);
  }
  ~Lower() {
    const KeptErrors errors;
    hdf5().H5Pclose(access_);
    if (info_ != nullptr) pass_through::InfoCallbacks<Recording>::free(info_);
  }
  Lower(const Lower&) = delete;
  Lower& operator=(const Lower&) = delete;

  hid_t access() const { return access_; }
  hid_t connector = H5I_INVALID_HID;

 private:
  hid_t access_ = H5I_INVALID_HID;
  void* info_ = nullptr;
};

std::optional<unsigned long> number_of(const Object& file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FILENO;
  args.args.get_fileno.fileno = &number;
  if (hdf5().H5VLfile_get(file.under, file.connector, &args, hdf5().default_transfer(), nullptr) <
      0) {
    return std::nullopt;
  }
  return number;
}

/// `open`: makes it below, with a list.
template <class Open>
void* opened(const Call& call, const char* function, const char* effect, const char* path,
             unsigned flags, hid_t creation, hid_t access, void** request, const Open& open) {
  Json description;
  // Asks for the communicator, which HDF5 duplicates: one rank less, and the others would hang.
  if (call.is_outermost()) description = describe_file(path, creation, access);
  const Lower lower(access);
  auto* under = open(lower.access());
  if (under == nullptr) {
    if (call.is_user_call()) {
      record({.call = define_call(function, effect),
              .file = open_file(text_of(description)),
              .flags = failed});
    }
    return nullptr;
  }
  auto* file = new Object{.under = under, .connector = lower.connector};
  wrap_request(request, *file);
  if (!call.is_user_call()) return file;
  describe_library();
  file->file = open_file(text_of(description));
  const std::int64_t arguments[] = {flags};
  record({.call = define_call(function, effect), .file = file->file, .arguments = arguments});
  return file;
}

void* create(const char* name, unsigned flags, hid_t creation, hid_t access, hid_t list,
             void** request) {
  const Call call;
  return opened(call, "H5Fcreate", "create", name, flags, creation, access, request,
                [&](hid_t lower) {
                  return hdf5().H5VLfile_create(name, flags, creation, lower, list, request);
                });
}

void* open(const char* name, unsigned flags, hid_t access, hid_t list, void** request) {
  const Call call;
  return opened(
      call, "H5Fopen", "open", name, flags, H5I_INVALID_HID, access, request,
      [&](hid_t lower) { return hdf5().H5VLfile_open(name, flags, lower, list, request); });
}

herr_t reopen(const Call& call, Object& mine, H5VL_file_specific_args_t* args, hid_t list,
              void** request) {
  const auto status = hdf5().H5VLfile_specific(mine.under, mine.connector, args, list, request);
  if (status < 0) return status;
  if (call.is_user_call()) record({.call = define_call("H5Freopen", "other"), .file = mine.file});
  auto* made = wrapped(*args->args.reopen.file, mine);
  *args->args.reopen.file = made;
  wrap_request(request, mine);
  return status;
}

herr_t file_specific(void* object, H5VL_file_specific_args_t* args, hid_t list, void** request) {
  const Call call;
  if (args->op_type == H5VL_FILE_IS_ACCESSIBLE || args->op_type == H5VL_FILE_DELETE) {
    auto below = *args;
    auto& access = args->op_type == H5VL_FILE_DELETE ? below.args.del.fapl_id
                                                     : below.args.is_accessible.fapl_id;
    const Lower lower(access);
    access = lower.access();
    const auto status = hdf5().H5VLfile_specific(nullptr, lower.connector, &below, list, request);
    wrap_request(request, {.connector = lower.connector});
    return status;
  }
  auto& mine = as_object(object);
  if (args->op_type == H5VL_FILE_REOPEN) return reopen(call, mine, args, list, request);
  const auto status = hdf5().H5VLfile_specific(mine.under, mine.connector, args, list, request);
  if (call.is_user_call() && args->op_type == H5VL_FILE_FLUSH) {
    record(
        {.call = define_call("H5Fflush", "flush"), .file = mine.file, .flags = failed_if(status)});
  }
  wrap_request(request, mine);
  return status;
}

/// The native connector finishes opening here, and can say which file it is.
herr_t file_optional(void* object, H5VL_optional_args_t* args, hid_t list, void** request) {
  const Call call;
  auto& mine = as_object(object);
  const auto status = hdf5().H5VLfile_optional(mine.under, mine.connector, args, list, request);
  wrap_request(request, mine);
  if (status >= 0 && args->op_type == H5VL_NATIVE_FILE_POST_OPEN && mine.file != no_id) {
    if (const auto number = number_of(mine)) openings()[*number] = mine.file;
  }
  return status;
}

herr_t close_file(void* object, hid_t list, void** request) {
  const Call call;
  const auto file = as_object(object).file;
  const auto status = close_through<&Hdf5::H5VLfile_close>(object, list, request);
  if (call.is_user_call()) {
    record({.call = define_call("H5Fclose", "close"), .file = file, .flags = failed_if(status)});
  }
  return status;
}

}  // namespace

Id file_of(unsigned long number, const Object& object) {
  const auto found = openings().find(number);
  if (found != openings().end()) return found->second;
  // HDF5 itself has opened it, by an external link.
  std::size_t length = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_NAME;
  args.args.get_name = {H5I_DATASET, 0, nullptr, &length};
  const auto ask = [&] {
    return hdf5().H5VLfile_get(object.under, object.connector, &args, hdf5().default_transfer(),
                               nullptr) >= 0;
  };
  std::string path;
  if (ask()) {
    path.resize(length);
    args.args.get_name.buf = path.data();
    args.args.get_name.buf_size = length + 1;
    if (!ask()) path.clear();
  }
  const auto file = open_file(text_of({{"kind", "file"}, {"level", "hdf5"}, {"path", path}}));
  record({.call = define_call("H5Fopen by an external link", "open"), .file = file});
  return openings()[number] = file;
}

const H5VL_file_class_t file_callbacks = {
    create, open, forward<&Hdf5::H5VLfile_get>, file_specific, file_optional, close_file};

}  // namespace slabmark::capture
