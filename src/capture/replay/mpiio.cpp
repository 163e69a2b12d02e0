#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/format/event_flags.hpp"
#include "capture/replay/replay.hpp"
#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/datatype.hpp"
#include "storage/mpiio/datatype.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

namespace {

int mode_of(const Json& file) {
  const std::map<std::string, int> all = {{"rdonly", MPI_MODE_RDONLY},
                                          {"rdwr", MPI_MODE_RDWR},
                                          {"wronly", MPI_MODE_WRONLY},
                                          {"create", MPI_MODE_CREATE},
                                          {"excl", MPI_MODE_EXCL},
                                          {"unique_open", MPI_MODE_UNIQUE_OPEN},
                                          {"sequential", MPI_MODE_SEQUENTIAL},
                                          {"append", MPI_MODE_APPEND}};
  int mode = 0;
  for (const auto& word : file.value("amode", Json::array())) {
    if (const auto found = all.find(word.get<std::string>()); found != all.end()) {
      mode |= found->second;
    }
  }
  if (mode == 0) mode = MPI_MODE_RDWR;
  return mode;
}

/// Runs of bytes as a type.
Datatype type_of_runs(const BoxArray& boxes) {
  mpiio::BlockList blocks(MPI_BYTE);
  for (std::size_t i = 0; i < boxes.count; ++i) {
    blocks.add({boxes.starts[i] + boxes.first(0), static_cast<std::uint64_t>(boxes.counts[i])});
  }
  return blocks.datatype();
}

/// The calls that a program made of MPI-IO, once more: through its views, by its pointers.
class MpiioReplay : public Replay {
 public:
  explicit MpiioReplay(const Context& context) : Replay(context), rank_(context.rank) {}

  void make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) override;
  void sync() override {
    for (const auto& [opening, file] : files_) {
      path_ = context_.path_of(opening);
      check(MPI_File_sync(file), "MPI_File_sync");
    }
  }
  void end() override {
    for (auto& [opening, file] : files_) {
      path_ = context_.path_of(opening);
      check(MPI_File_close(&file), "MPI_File_close");
    }
    files_.clear();
  }

 private:
  void check(int code, const std::string& call) const {
    if (code == MPI_SUCCESS) return;
    throw IoError(fmt::format("{} failed on '{}': {}.", call, path_, mpi_error_text(code)));
  }
  void open(const CapturedEvent& event);
  void set_view(MPI_File file, const CapturedEvent& event);
  void move(const std::string& call, MPI_File file, const CapturedEvent& event, std::byte* memory);
  void wait(const CapturedEvent& event);
  std::uint64_t bytes_of(const CapturedEvent& event) const;

  const RankReader& rank_;
  std::string path_;                                ///< of the file of the call at hand
  std::map<std::uint64_t, MPI_File> files_;         ///< by opening
  std::map<std::uint64_t, MPI_Request> requests_;   ///< by the number of the rank's request
  std::map<std::uint64_t, Datatype> memory_types_;  ///< by list
  std::map<std::uint64_t, std::byte*> split_;       ///< by opening: memory of what was begun
};

void MpiioReplay::open(const CapturedEvent& event) {
  const auto& described = rank_.file(event.file);
  const auto hints = hints_of(described, context_.hints);
  const mpiio::Info info(hints);
  const Comm& comm = context_.comm_of(described);
  int mode = mode_of(described);
  // Of what the program found there nothing is known: it is an empty file.
  if (!(mode & MPI_MODE_RDONLY)) {
    mode |= MPI_MODE_CREATE;
  } else if (!comm.broadcast(std::uint64_t{std::filesystem::exists(path_)}, 0)) {
    mode = (mode & ~MPI_MODE_RDONLY) | MPI_MODE_RDWR | MPI_MODE_CREATE;
  }
  MPI_File file = MPI_FILE_NULL;
  check(MPI_File_open(comm.get(), path_.c_str(), mode, info.get(), &file), "MPI_File_open");
  files_[event.file] = file;
}

void MpiioReplay::set_view(MPI_File file, const CapturedEvent& event) {
  if (event.arguments.size() < 3 || !event.memory) return;
  const auto displacement = event.arguments[0];
  const auto etype_bytes = static_cast<int>(event.arguments[1]);
  const auto extent = static_cast<MPI_Aint>(event.arguments[2]);
  const auto etype = contiguous(etype_bytes, MPI_BYTE);
  const auto boxes = rank_.lists.get(*event.memory);
  if (etype_bytes < 1 || std::any_of(boxes.counts.begin(), boxes.counts.end(),
                                     [&](auto count) { return count % etype_bytes != 0; })) {
    throw InputError(fmt::format("{} are damaged: a view of '{}' is not of whole elements.",
                                 rank_.lists.place(), path_));
  }
  const bool is_plain = boxes.count == 1 && boxes.counts[0] == extent && boxes.starts[0] == 0;
  Datatype filetype;
  if (is_plain && extent % etype_bytes == 0) {
    filetype = contiguous(static_cast<int>(extent / etype_bytes), etype.get());
  } else {
    mpiio::BlockList blocks(etype.get());
    for (std::size_t i = 0; i < boxes.count; ++i) {
      blocks.add({boxes.starts[i] + boxes.first(0),
                  static_cast<std::uint64_t>(boxes.counts[i] / etype_bytes)});
    }
    const auto runs = blocks.datatype();
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    check(MPI_Type_create_resized(runs.get(), 0, extent, &resized), "MPI_Type_create_resized");
    filetype = Datatype(resized);
  }
  check(MPI_File_set_view(file, displacement, etype.get(), filetype.get(), "native", MPI_INFO_NULL),
        "MPI_File_set_view");
}

std::uint64_t MpiioReplay::bytes_of(const CapturedEvent& event) const {
  if (event.selection == CapturedEvent::Selection::box) return event.counts.at(0);
  if (event.selection != CapturedEvent::Selection::list) return 0;
  return rank_.lists.get(event.list).elements();
}

void MpiioReplay::move(const std::string& call, MPI_File file, const CapturedEvent& event,
                       std::byte* memory) {
  const auto bytes = bytes_of(event);
  MPI_Datatype type = MPI_BYTE;
  auto count = static_cast<int>(bytes);
  std::optional<Datatype> large;
  if (event.memory && bytes > 0) {
    auto [place, is_new] = memory_types_.try_emplace(*event.memory);
    if (is_new) place->second = type_of_runs(rank_.lists.get(*event.memory));
    type = place->second.get();
    count = 1;
  } else if (bytes > std::uint64_t{1} << 30) {
    mpiio::BlockList blocks(MPI_BYTE);
    blocks.add({0, bytes});
    large = blocks.datatype();
    type = large->get();
    count = 1;
  }
  const MPI_Offset offset = event.arguments.empty() ? 0 : event.arguments[0];
  static std::byte none[1];
  auto* const data = memory == nullptr ? none : memory;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;

#define SLABMARK_CALL(name, ...)                            \
  if (call == #name) {                                      \
    check(name(file, __VA_ARGS__), call);                   \
    if (request != MPI_REQUEST_NULL && event.request > 0) { \
      requests_[event.request] = request;                   \
    }                                                       \
    return;                                                 \
  }
#define SLABMARK_BOTH(before, after, ...)                     \
  SLABMARK_CALL(MPI_File_##before##write##after, __VA_ARGS__) \
  SLABMARK_CALL(MPI_File_##before##read##after, __VA_ARGS__)
  SLABMARK_BOTH(, _at, offset, data, count, type, &status)
  SLABMARK_BOTH(, _at_all, offset, data, count, type, &status)
  SLABMARK_BOTH(i, _at, offset, data, count, type, &request)
  SLABMARK_BOTH(i, _at_all, offset, data, count, type, &request)
  SLABMARK_BOTH(, , data, count, type, &status)
  SLABMARK_BOTH(, _all, data, count, type, &status)
  SLABMARK_BOTH(i, , data, count, type, &request)
  SLABMARK_BOTH(i, _all, data, count, type, &request)
  split_[event.file] = data;
  SLABMARK_BOTH(, _at_all_begin, offset, data, count, type)
  SLABMARK_BOTH(, _all_begin, data, count, type)
#undef SLABMARK_BOTH
#undef SLABMARK_CALL
}

void MpiioReplay::wait(const CapturedEvent& event) {
  for (const auto number : event.listed) {
    const auto found = requests_.find(number);
    if (found == requests_.end()) continue;
    check(MPI_Wait(&found->second, MPI_STATUS_IGNORE), "MPI_Wait");
    requests_.erase(found);
  }
}

/// The order in which ranks come to a pointer that they share is another one each time. So what
/// went by it goes to the same place by its offset.
std::string without_shared_pointer(std::string call) {
  const std::pair<std::string, std::string> others[] = {{"_ordered", "_at_all"},
                                                        {"_shared", "_at"}};
  for (const auto& [shared, explicitly] : others) {
    const auto at = call.find(shared);
    if (at != std::string::npos && !call.ends_with("seek_shared")) {
      call.replace(at, shared.size(), explicitly);
    }
  }
  return call;
}

void MpiioReplay::make(std::span<const CapturedEvent> parts, std::span<std::byte* const> memory) {
  const auto& event = parts.front();
  const auto call = without_shared_pointer(rank_.call(event.call).name);
  path_ = context_.path_of(event.file);
  if (call == "MPI_File_open") return open(event);
  auto& file = opened(files_, event.file);
  const auto argument = event.arguments.empty() ? 0 : event.arguments[0];
  if (!event.listed.empty()) return wait(event);
  if (event.moves()) return move(call, file, event, memory.front());
  if (call == "MPI_File_set_view") return set_view(file, event);
  if (call == "MPI_File_set_size") return check(MPI_File_set_size(file, argument), call);
  if (call == "MPI_File_preallocate") return check(MPI_File_preallocate(file, argument), call);
  if (call == "MPI_File_sync") return check(MPI_File_sync(file), call);
  if (call == "MPI_File_seek") return check(MPI_File_seek(file, argument, MPI_SEEK_SET), call);
  if (call == "MPI_File_seek_shared") {
    return check(MPI_File_seek_shared(file, argument, MPI_SEEK_SET), call);
  }
  if (call == "MPI_File_set_atomicity") {
    return check(MPI_File_set_atomicity(file, argument != 0), call);
  }
  MPI_Status status;
  auto* const data = split_[event.file];
#define SLABMARK_END(name) \
  if (call == #name) return check(name(file, data, &status), call);
  SLABMARK_END(MPI_File_write_at_all_end)
  SLABMARK_END(MPI_File_read_at_all_end)
  SLABMARK_END(MPI_File_write_all_end)
  SLABMARK_END(MPI_File_read_all_end)
#undef SLABMARK_END
  if (call == "MPI_File_close") {
    check(MPI_File_close(&file), call);
    files_.erase(event.file);
  }
}

}  // namespace

std::unique_ptr<Replay> make_mpiio_replay(const Replay::Context& context) {
  return std::make_unique<MpiioReplay>(context);
}

}  // namespace slabmark
