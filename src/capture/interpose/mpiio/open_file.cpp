#include "capture/interpose/mpiio/open_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "capture/format/spool_frame.hpp"
#include "capture/interpose/world/world.hpp"

namespace slabmark::capture {

namespace {

struct Posted {
  std::uint64_t number = 0;  ///< the recorder's
  Id opening = no_id;
};

// Never destroyed: programs may call MPI while static objects end.
struct State {
  std::mutex mutex;
  std::map<MPI_File, OpenFile> files;
  std::map<MPI_Request, Posted> requests;
};

State& state() {
  static auto& one = *new State;
  return one;
}

Id bytes_id() { return define(R"({"kind":"bytes"})"); }

unsigned failed_if(int error) { return error == MPI_SUCCESS ? 0 : unsigned{failed}; }

Json words_of_mode(int mode) {
  const std::pair<int, const char*> all[] = {{MPI_MODE_RDONLY, "rdonly"},
                                             {MPI_MODE_RDWR, "rdwr"},
                                             {MPI_MODE_WRONLY, "wronly"},
                                             {MPI_MODE_CREATE, "create"},
                                             {MPI_MODE_EXCL, "excl"},
                                             {MPI_MODE_DELETE_ON_CLOSE, "delete_on_close"},
                                             {MPI_MODE_UNIQUE_OPEN, "unique_open"},
                                             {MPI_MODE_SEQUENTIAL, "sequential"},
                                             {MPI_MODE_APPEND, "append"}};
  auto words = Json::array();
  for (const auto& [flag, word] : all) {
    if ((mode & flag) != 0) words.push_back(word);
  }
  return words;
}

void to_boxes(const ByteRuns& runs, Boxes& boxes) {
  boxes.clear(1);
  for (const auto& run : runs) boxes.add(&run.offset, &run.bytes);
}

/// A communicator of the file's ranks for what capture asks itself; all of them call this.
MPI_Comm own_comm(MPI_File file, OpenFile& open) {
  if (open.comm != MPI_COMM_NULL || !has_world()) return open.comm;
  MPI_Group of_file = MPI_GROUP_NULL, of_world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  constexpr int tag = 6205;
  if (PMPI_File_get_group(file, &of_file) != MPI_SUCCESS) return open.comm;
  // MPICH 4.0 crashes where it makes a communicator of a file's own group.
  int size = 0;
  PMPI_Group_size(of_file, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> in_world(ranks.size());
  PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
  PMPI_Group_translate_ranks(of_file, size, ranks.data(), of_world, in_world.data());
  // Not with processes that were spawned, which are in another world.
  if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end()) {
    PMPI_Group_incl(of_world, size, in_world.data(), &group);
    PMPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &open.comm);
    PMPI_Group_free(&group);
  }
  for (MPI_Group* const each : {&of_file, &of_world}) PMPI_Group_free(each);
  return open.comm;
}

/// True if this rank looks where a call begins. By Pointer::ordered the ranks do so together: all,
/// also one whose recording has ended.
bool takes_part(const Call& call, Pointer pointer) {
  return pointer == Pointer::ordered ? call.is_outermost() : call.is_user_call();
}

/// Makes the shared pointer this process's own until the file is closed: what lies between asking
/// for it and the call that moves it is one step among all captured processes that see the lock.
/// Negative where there can be none.
int lock_shared_pointer() {
  const char* const pattern = std::getenv(pattern_variable);
  if (pattern == nullptr) return -1;
  const auto folder = std::string(pattern) + spool_folder_ending;
  mkdir(folder.c_str(), 0777);
  const int lock = open((folder + "/" + spool_lock).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock >= 0 && flock(lock, LOCK_EX) == 0) return lock;
  if (lock >= 0) close(lock);
  return -1;
}

}  // namespace

OpenFile* find_file(MPI_File file) {
  const std::lock_guard guard(state().mutex);
  const auto found = state().files.find(file);
  return found == state().files.end() ? nullptr : &found->second;
}

Json hints_of(MPI_Info info) {
  auto hints = Json::object();
  int count = 0;
  if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &count) != MPI_SUCCESS) return hints;
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    std::vector<char> value(MPI_MAX_INFO_VAL + 1);
    int found = 0;
    PMPI_Info_get_nthkey(info, i, key);
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0) hints[key] = value.data();
  }
  return hints;
}

void opened(const Call& call, MPI_Comm comm, const char* path, int mode, MPI_Info info, int error,
            MPI_File file) {
  if (!call.is_outermost()) return;
  know_rank();
  const auto id = define_call("MPI_File_open", (mode & MPI_MODE_CREATE) != 0 ? "create" : "open");
  int ranks = 1;
  PMPI_Comm_size(comm, &ranks);
  Json description{
      {"kind", "file"}, {"level", "mpiio"}, {"ranks", ranks}, {"amode", words_of_mode(mode)}};
  name_file(description, path, ranks);
  if (auto hints = hints_of(info); !hints.empty()) description["hints"] = std::move(hints);
  OpenFile open;
  open.opening = open_file(text_of(description));
  record({.call = id, .file = open.opening, .flags = failed_if(error)});
  if (error != MPI_SUCCESS) return;
  const std::lock_guard guard(state().mutex);
  state().files[file] = std::move(open);
}

void closed(const Call& call, MPI_File file, int error) {
  if (!call.is_outermost()) return;
  const std::lock_guard guard(state().mutex);
  const auto found = state().files.find(file);
  if (found == state().files.end()) return;
  record({.call = define_call("MPI_File_close", "close"),
          .file = found->second.opening,
          .flags = failed_if(error)});
  if (error != MPI_SUCCESS) return;
  if (found->second.comm != MPI_COMM_NULL) PMPI_Comm_free(&found->second.comm);
  state().files.erase(found);
}

void view_set(const Call& call, MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
              MPI_Datatype filetype, const char* representation, int error) {
  auto* const open = call.is_outermost() ? find_file(file) : nullptr;
  if (open == nullptr) return;
  MPI_Count etype_bytes = 1;
  TypeMap map;
  Boxes period;
  if (error == MPI_SUCCESS) {
    PMPI_Type_size_x(etype, &etype_bytes);
    etype_bytes = std::max<MPI_Count>(etype_bytes, 1);  // ROMIO takes one without elements
    open->view_problem = "";
    if (!take_apart(filetype, map)) {
      open->view_problem = "MPI_File_set_view with a type that MPI does not take apart";
    } else if (std::strcmp(representation, "native") != 0) {
      open->view_problem = std::string("MPI_File_set_view in the representation ") + representation;
    }
    if (displacement == MPI_DISPLACEMENT_CURRENT) {
      // Of files in MPI_MODE_SEQUENTIAL.
      MPI_Offset position = 0;
      PMPI_File_get_position_shared(file, &position);
      displacement = 0;
      open->view_problem = "MPI_File_set_view from MPI_DISPLACEMENT_CURRENT";
    }
    if (!open->view_problem.empty()) count_uncaptured(open->view_problem);
    open->view = View(displacement, etype_bytes, map);
  }
  to_boxes(map.runs, period);
  const std::int64_t arguments[] = {displacement, etype_bytes, map.extent};
  record({.call = define_call("MPI_File_set_view", "other"),
          .file = open->opening,
          .dataset = bytes_id(),
          .flags = failed_if(error),
          .memory = &period,
          .arguments = arguments});
}

void called(const Call& call, const char* name, const char* effect, MPI_File file, int error,
            std::initializer_list<std::int64_t> arguments, Id details) {
  const auto* const open = call.is_user_call() ? find_file(file) : nullptr;
  if (open == nullptr) return;
  record({.call = define_call(name, effect),
          .file = open->opening,
          .dataset = bytes_id(),
          .flags = failed_if(error),
          .details = details,
          .arguments = {arguments.begin(), arguments.size()}});
}

Transfer::Transfer(const Call& call, MPI_File file, Pointer pointer, MPI_Offset offset,
                   MPI_Count count, MPI_Datatype type)
    : file_(takes_part(call, pointer) ? find_file(file) : nullptr),
      pointer_(pointer),
      count_(count) {
  if (file_ == nullptr) return;
  quietly([&] { is_apart_ = take_apart(type, memory_); });
  offset_ = find_offset(file, pointer, offset, count * memory_.size / file_->view.etype_bytes());
}

Transfer::~Transfer() {
  if (lock_ >= 0) close(lock_);
}

std::optional<MPI_Offset> Transfer::find_offset(MPI_File file, Pointer pointer, MPI_Offset offset,
                                                MPI_Offset etypes) {
  MPI_Offset found = 0;
  switch (pointer) {
    case Pointer::explicitly:
      if (offset < 0) return std::nullopt;  // OMPIO does not say that it has failed
      return offset;
    case Pointer::individual:
      if (PMPI_File_get_position(file, &found) != MPI_SUCCESS) return std::nullopt;
      return found;
    case Pointer::shared:
      lock_ = lock_shared_pointer();
      if (lock_ < 0 || PMPI_File_get_position_shared(file, &found) != MPI_SUCCESS) {
        return std::nullopt;
      }
      return found;
    case Pointer::ordered:
      break;
  }
  const auto comm = own_comm(file, *file_);
  if (comm == MPI_COMM_NULL) return std::nullopt;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Barrier(comm);  // until others' calls that move the pointer, too, have returned
  if (rank == 0) PMPI_File_get_position_shared(file, &found);
  PMPI_Bcast(&found, 1, MPI_OFFSET, 0, comm);
  MPI_Offset before = 0;
  PMPI_Exscan(&etypes, &before, 1, MPI_OFFSET, MPI_SUM, comm);
  return found + (rank == 0 ? 0 : before);
}

void Transfer::done(const char* name, unsigned flags, int error, const MPI_Request* request) {
  if (lock_ >= 0) {
    close(lock_);
    lock_ = -1;
  }
  if (file_ != nullptr && is_on()) quietly([&] { record_it(name, flags, error, request); });
}

void Transfer::record_it(const char* name, unsigned flags, int error, const MPI_Request* request) {
  const bool is_made = error == MPI_SUCCESS;  // else its arguments may be anything
  if (is_made && (!is_apart_ || !offset_ || !file_->view_problem.empty())) {
    count_uncaptured(std::string(name) + (!is_apart_ ? " with a type that MPI does not take apart"
                                          : !offset_ ? " at a place that could not be found out"
                                                     : " through such a view"));
    return;
  }
  Boxes selection(1);
  Boxes memory(1);
  bool is_dense = true;
  if (is_made) {
    const auto& view = file_->view;
    const auto bytes = count_ * memory_.size;
    to_boxes(view.bytes_of_file(*offset_ * view.etype_bytes(), bytes), selection);
    const auto runs = repeated(memory_, count_);
    is_dense = runs.empty() || (runs.size() == 1 && runs[0].offset == 0);
    if (!is_dense) to_boxes(runs, memory);
  }
  const std::int64_t arguments[] = {offset_.value_or(0)};
  const bool has_argument = pointer_ != Pointer::individual;
  const auto number = record({.call = define_call(name, (flags & writes) != 0 ? "write" : "read"),
                              .file = file_->opening,
                              .dataset = bytes_id(),
                              .flags = is_made ? flags : (flags & ~nonblocking) | failed,
                              .selection = &selection,
                              .rank = 1,
                              .memory = is_dense ? nullptr : &memory,
                              .arguments = {arguments, has_argument ? std::size_t{1} : 0}});
  if (request == nullptr || !is_made || *request == MPI_REQUEST_NULL) return;
  const std::lock_guard guard(state().mutex);
  state().requests[*request] = {number, file_->opening};
}

bool has_requests() {
  const std::lock_guard guard(state().mutex);
  return !state().requests.empty();
}

Waiting::Waiting(const Call& call, int count, const MPI_Request* requests) {
  if (!call.is_user_call()) return;
  const std::lock_guard guard(state().mutex);
  if (state().requests.empty()) return;
  for (int i = 0; i < count; ++i) {
    if (state().requests.contains(requests[i])) ours_.emplace_back(i, requests[i]);
  }
}

void Waiting::done(const char* name, const MPI_Request* requests) {
  if (ours_.empty()) return;
  std::map<Id, std::vector<std::uint64_t>> ended;  // by file
  {
    const std::lock_guard guard(state().mutex);
    for (const auto& [i, request] : ours_) {
      if (requests[i] != MPI_REQUEST_NULL) continue;
      const auto found = state().requests.find(request);
      if (found == state().requests.end()) continue;
      ended[found->second.opening].push_back(found->second.number);
      state().requests.erase(found);
    }
  }
  for (const auto& [opening, numbers] : ended) {
    record({.call = define_call(name, "flush"),
            .file = opening,
            .requests = {Requests::Which::listed, numbers}});
  }
}

}  // namespace slabmark::capture
