#include "capture/pnetcdf/calls.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "capture/datatype/runs.hpp"
#include "capture/pnetcdf/captured_file.hpp"
#include "dropin/pnetcdf/calls.hpp"

namespace slabmark::capture {

namespace {

using dropin::Access;
using dropin::Direction;

enum class Verb { put, get, iput, iget, bput, mput, mget };
constexpr std::array<const char*, 7> verb_names = {"put",  "get",  "iput", "iget",
                                                   "bput", "mput", "mget"};
constexpr std::array<const char*, 6> kind_names = {"var", "var1", "vara", "vars", "varm", "varn"};

/// How a call is made, beside what dropin::Call says.
struct Manner {
  Verb verb;
  unsigned flags = 0;  ///< beside those of the direction
};

Id call_of(const Manner& manner, Access::Kind kind) {
  constexpr std::size_t ways = verb_names.size() * kind_names.size() * 2;
  static auto& known = *new std::vector<Id>(ways, no_id);
  const bool all = (manner.flags & collective) != 0;
  const auto place =
      (static_cast<std::size_t>(manner.verb) * kind_names.size() + static_cast<std::size_t>(kind)) *
          2 +
      (all ? 1 : 0);
  Id& id = known[place];
  if (id == no_id) {
    const std::string verb = verb_names[static_cast<std::size_t>(manner.verb)];
    id = define_call(
        "ncmpi_" + verb + "_" + kind_names[static_cast<std::size_t>(kind)] + (all ? "_all" : ""),
        verb.ends_with("put") ? "write" : "read");
  }
  return id;
}

/// What part of a variable a call is for.
class Selected {
 public:
  void set(const Access& access, const CapturedVariable& variable, const CapturedFile& file) {
    using Kind = Access::Kind;
    const std::size_t rank = variable.lengths.size();
    boxes_.clear(rank);
    is_all_ = rank == 0 || (access.kind == Kind::var && !variable.has_records);
    if (is_all_) return;
    if (access.kind == Kind::var) {
      zeros_.assign(rank, 0);
      lengths_ = variable.lengths;
      lengths_[0] = file.records();
      boxes_.add(zeros_.data(), lengths_.data());
    } else if (access.kind == Kind::varn && are_all_given(access)) {
      boxes_.set_rows(static_cast<std::size_t>(access.boxes), access.starts, access.counts);
    } else if (access.kind == Kind::varn) {
      ones_.assign(rank, 1);
      for (int i = 0; i < access.boxes; ++i) {
        const MPI_Offset* const count = access.counts ? access.counts[i] : nullptr;
        if (access.starts[i]) boxes_.add(access.starts[i], count ? count : ones_.data());
      }
    } else {
      ones_.assign(rank, 1);
      const MPI_Offset* const count = access.count ? access.count : ones_.data();
      for (std::size_t d = 0; d < rank; ++d) {
        if (count[d] == 0) return;
      }
      boxes_.add(access.start, access.stride, count, static_cast<const MPI_Offset*>(nullptr));
    }
  }

  /// Null: all of the variable.
  const Boxes* boxes() const { return is_all_ ? nullptr : &boxes_; }

 private:
  /// Of a varn: whether no start or count is left out.
  static bool are_all_given(const Access& access) {
    if (access.boxes <= 0 || !access.counts) return false;
    const auto is_given = [](const MPI_Offset* numbers) { return numbers != nullptr; };
    return std::all_of(access.starts, access.starts + access.boxes, is_given) &&
           std::all_of(access.counts, access.counts + access.boxes, is_given);
  }

  Boxes boxes_;
  bool is_all_ = false;
  std::vector<MPI_Offset> zeros_, ones_, lengths_;
};

/// Of elements in memory.
Id type_of(const dropin::MemoryArgument& memory, const CapturedVariable& variable) {
  static auto& known = *new std::map<nc_type, Id>;
  const auto type = memory.type == MPI_DATATYPE_NULL ? std::optional(variable.type)
                                                     : dropin::element_type_of(memory.type);
  if (!type) return no_id;
  const auto [place, is_new] = known.try_emplace(*type, no_id);
  if (place->second == no_id) place->second = type_id(name_of_type(*type));
  return place->second;
}

/// Whether the call was made: values that do not fit are reported, and the others are moved.
bool is_made(int error) { return error == NC_NOERR || error == NC_ERANGE; }

/// Where elements lie in the caller's memory. False: one after another, or it cannot be told.
bool lay_out(const dropin::MemoryArgument& memory, Boxes& boxes) {
  if (memory.count < 0 || memory.type == MPI_DATATYPE_NULL) return false;
  const auto element = dropin::element_type_of(memory.type);
  TypeMap map;
  if (!element || !take_apart(memory.type, map)) {
    count_uncaptured("memory of an MPI datatype that cannot be taken apart");
    return false;
  }
  const auto size = static_cast<std::int64_t>(dropin::size_of(*element));
  const ByteRuns runs = repeated(map, memory.count);
  if (runs.empty() || (runs.size() == 1 && runs.front().offset == 0)) return false;
  boxes.clear(1);
  for (const ByteRun& run : runs) {
    if (run.offset % size != 0 || run.bytes % size != 0) {
      count_uncaptured("memory that is not aligned to its elements");
      return false;
    }
    const std::int64_t start = run.offset / size, count = run.bytes / size;
    boxes.add(&start, &count);
  }
  return true;
}

std::uint64_t record_move(CapturedFile& file, const dropin::Call& call, const Manner& manner,
                          int error) {
  thread_local Selected selected;
  thread_local Boxes memory;
  const CapturedVariable* const variable = file.variable(call.variable);
  if (!variable) return 0;
  const bool made = is_made(error);
  Event event;
  event.call = call_of(manner, call.access.kind);
  event.file = file.id();
  event.dataset = variable->dataset;
  event.flags = manner.flags | (call.direction == Direction::put ? writes : reads) |
                (call.buffered ? buffered : 0) | (made ? 0 : failed);
  event.rank = variable->lengths.size();
  if (made) {
    selected.set(call.access, *variable, file);
    event.selection = selected.boxes();
  } else {  // its arguments may be anything
    memory.clear(event.rank);
    event.selection = &memory;
  }
  event.type = type_of(call.memory, *variable);
  if (made && call.access.imap && !variable->lengths.empty() && call.access.count) {
    memory.clear(variable->lengths.size());
    memory.set_map(call.access.imap, call.access.count);
    event.memory = &memory;
  } else if (made && lay_out(call.memory, memory)) {
    event.memory = &memory;
  }
  return record(event);
}

int move_now(int ncid, const dropin::Call& call, const Manner& manner,
             const std::function<int()>& native) {
  const Call guard;
  const int error = native();
  if (!guard.is_programs()) return error;
  quietly([&] {
    if (CapturedFile* const file = captured_file(ncid)) record_move(*file, call, manner, error);
  });
  return error;
}

int move_several(int ncid, int count, const std::function<dropin::Call(int)>& call_of, bool all,
                 const std::function<int()>& native) {
  const Call guard;
  const int error = native();
  if (!guard.is_programs()) return error;
  quietly([&] {
    CapturedFile* const file = captured_file(ncid);
    for (int i = 0; file && i < count; ++i) {
      const dropin::Call call = call_of(i);
      record_move(*file, call,
                  {call.direction == Direction::put ? Verb::mput : Verb::mget,
                   (all ? collective : 0U) | (i > 0 ? one_more_part : 0U)},
                  error);
    }
  });
  return error;
}

/// Bytes of the file, from where the variable begins, as boxes of a variable.
bool take_boxes(const ByteRuns& runs, const CapturedVariable& variable, MPI_Offset bytes_a_record,
                Boxes& boxes) {
  const std::size_t rank = variable.lengths.size();
  if (!dropin::is_classic(variable.type) || rank == 0) return false;
  const auto size = static_cast<MPI_Offset>(dropin::size_of(variable.type));
  const std::size_t skipped = variable.has_records ? 1 : 0;
  const MPI_Offset row = rank > skipped ? variable.lengths.back() : 1;
  std::vector<MPI_Offset> start(rank), count(rank, 1);
  boxes.clear(rank);
  for (const ByteRun& run : runs) {
    for (MPI_Offset done = 0; done < run.bytes;) {
      MPI_Offset offset = run.offset + done;
      if (variable.has_records) {
        start[0] = offset / bytes_a_record;
        offset %= bytes_a_record;
      }
      if (offset % size != 0 || (run.bytes - done) % size != 0) return false;
      MPI_Offset at = offset / size;
      const MPI_Offset left = row - at % row;
      for (std::size_t d = rank; d-- > skipped; at /= variable.lengths[d])
        start[d] = at % variable.lengths[d];
      if (at != 0) return false;  // a filetype may go on into the variables behind this one
      const MPI_Offset elements = std::min(left, (run.bytes - done) / size);
      if (rank > skipped) count[rank - 1] = elements;
      boxes.add(start.data(), count.data());
      done += elements * size;
    }
  }
  return true;
}

}  // namespace

int move_by_filetype(int ncid, const char* name, const dropin::Call& call, MPI_Datatype filetype,
                     unsigned flags, const std::function<int()>& native) {
  const Call guard;
  const int error = native();
  if (!guard.is_programs()) return error;
  quietly([&] {
    CapturedFile* const file = captured_file(ncid);
    const CapturedVariable* const variable = file ? file->variable(call.variable) : nullptr;
    if (!variable) return;
    Boxes boxes(variable->lengths.size());
    TypeMap map;
    const bool made = is_made(error);
    if (made && filetype != MPI_DATATYPE_NULL &&
        (!take_apart(filetype, map) ||
         !take_boxes(repeated(map, 1), *variable, file->bytes_a_record(), boxes))) {
      count_uncaptured(name);
      return;
    }
    Event event;
    event.call = define_call(name, call.direction == Direction::put ? "write" : "read");
    event.file = file->id();
    event.dataset = variable->dataset;
    event.flags = flags | (call.direction == Direction::put ? writes : reads) | (made ? 0 : failed);
    event.type = type_of(call.memory, *variable);
    event.selection = &boxes;
    Boxes memory;
    if (made && lay_out(call.memory, memory)) event.memory = &memory;
    record(event);
  });
  return error;
}

namespace {

int wait_for(int ncid, const char* name, unsigned flags, int count, const int* ids,
             const std::function<int()>& native) {
  const Call guard;
  CapturedFile* const file = guard.is_programs() ? captured_file(ncid) : nullptr;
  thread_local std::vector<int> asked;  // waiting overwrites them
  if (file && count > 0 && ids) asked.assign(ids, ids + count);
  const int error = native();
  if (!file) return error;
  quietly([&] {
    using Which = Requests::Which;
    std::vector<std::uint64_t> listed;
    Event event;
    if (count > 0) {
      listed = file->take_requests(asked);
      event.requests = {Which::listed, listed};
    } else if (count == NC_REQ_ALL) {
      event.requests = {Which::all};
      file->forget_requests();
    } else {
      event.requests = {count == NC_PUT_REQ_ALL   ? Which::all_writing
                        : count == NC_GET_REQ_ALL ? Which::all_reading
                                                  : Which::listed};
    }
    event.call = define_call(name, (flags & cancels) ? "other" : "flush");
    event.file = file->id();
    event.flags = flags | (error == NC_NOERR ? 0 : failed);
    record(event);
  });
  return error;
}

}  // namespace

}  // namespace slabmark::capture

namespace slabmark::dropin {

using namespace slabmark::capture;
using slabmark::dropin::Call;

int nonblocking(int ncid, const Call& call, int* id, const std::function<int(int*)>& native) {
  const capture::Call guard;
  const int error = native(id);
  if (!guard.is_programs()) return error;
  quietly([&] {
    CapturedFile* const file = captured_file(ncid);
    if (!file) return;
    const Verb verb = call.buffered                      ? Verb::bput
                      : call.direction == Direction::put ? Verb::iput
                                                         : Verb::iget;
    const std::uint64_t request =
        record_move(*file, call, {verb, is_made(error) ? capture::nonblocking : 0U}, error);
    if (id && request > 0) file->posted(*id, request);
  });
  return error;
}

int blocking(int ncid, const Call& call, const std::function<int()>& native) {
  return move_now(ncid, call,
                  {call.direction == Direction::put ? Verb::put : Verb::get, collective}, native);
}

int independent(int ncid, const Call& call, const std::function<int()>& native) {
  return move_now(ncid, call, {call.direction == Direction::put ? Verb::put : Verb::get}, native);
}

int several(int ncid, int count, const std::function<Call(int)>& call_of,
            const std::function<int()>& native) {
  return move_several(ncid, count, call_of, true, native);
}

int several_independent(int ncid, int count, const std::function<Call(int)>& call_of,
                        const std::function<int()>& native) {
  return move_several(ncid, count, call_of, false, native);
}

int wait_all(int ncid, int count, int* ids, int*, const std::function<int(int*)>& native) {
  return wait_for(ncid, "ncmpi_wait_all", collective, count, ids, [&] { return native(ids); });
}

int wait(int ncid, int count, int* ids, const std::function<int(int*)>& native) {
  return wait_for(ncid, "ncmpi_wait", 0, count, ids, [&] { return native(ids); });
}

int cancel(int ncid, int count, int* ids, int* statuses,
           const std::function<int(int*, int*)>& native) {
  return wait_for(ncid, "ncmpi_cancel", cancels, count, ids, [&] { return native(ids, statuses); });
}

}  // namespace slabmark::dropin
