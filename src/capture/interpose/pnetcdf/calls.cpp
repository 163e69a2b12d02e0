#include "capture/interpose/pnetcdf/calls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "capture/interpose/datatype/runs.hpp"
#include "capture/interpose/pnetcdf/captured_file.hpp"
#include "storage/pnetcdf/calls/memory_type.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::capture {

namespace {

using pnetcdf::Access;
using pnetcdf::Direction;
using pnetcdf::Verb;

/// How a call is made, beside what pnetcdf::Call says.
struct CallVariant {
  Verb verb;
  unsigned flags = 0;  ///< beside those of the direction
};

Id call_of(const CallVariant& variant, Access::Kind kind) {
  constexpr std::size_t kinds = pnetcdf::kind_names.size();
  static auto& known = *new std::vector<Id>(pnetcdf::verb_names.size() * kinds * 2, no_id);
  const bool all = (variant.flags & collective) != 0;
  Id& id =
      known[(static_cast<std::size_t>(variant.verb) * kinds + static_cast<std::size_t>(kind)) * 2 +
            (all ? 1 : 0)];
  if (id == no_id) {
    const bool puts = variant.verb == Verb::put || variant.verb == Verb::iput ||
                      variant.verb == Verb::bput || variant.verb == Verb::mput;
    id = define_call(name_of(variant.verb, kind, all), puts ? "write" : "read");
  }
  return id;
}

/// The part of a variable that a call is for.
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
Id type_of(const pnetcdf::MemoryArgument& memory, const CapturedVariable& variable) {
  static auto& known = *new std::map<nc_type, Id>;
  nc_type type = variable.type;
  if (memory.type != MPI_DATATYPE_NULL) {
    const auto element = pnetcdf::type_in_memory(memory.type);
    if (!element) return no_id;
    type = pnetcdf::nc_type_of(*element);
  }
  const auto [place, is_new] = known.try_emplace(type, no_id);
  if (place->second == no_id) place->second = type_id(name_of_type(type));
  return place->second;
}

/// True if the call was made: values that do not fit are reported, and the others are moved.
bool is_made(int error) { return error == NC_NOERR || error == NC_ERANGE; }

/// Where elements lie in the caller's memory, in elements. False: one after another, or it cannot
/// be told.
bool take_memory(const pnetcdf::MemoryArgument& memory, ByteRuns& runs) {
  if (memory.count < 0 || memory.type == MPI_DATATYPE_NULL) return false;
  const auto element = pnetcdf::type_in_memory(memory.type);
  TypeMap map;
  if (!element || !take_apart(memory.type, map)) {
    count_uncaptured("memory of an MPI datatype that cannot be taken apart");
    return false;
  }
  const auto size = static_cast<std::int64_t>(size_of(*element));
  runs = repeated(map, memory.count);
  if (runs.empty() || (runs.size() == 1 && runs.front().offset == 0)) return false;
  for (ByteRun& run : runs) {
    if (run.offset % size != 0 || run.bytes % size != 0) {
      count_uncaptured("memory that is not aligned to its elements");
      return false;
    }
    run = {run.offset / size, run.bytes / size};
  }
  return true;
}

bool lay_out(const pnetcdf::MemoryArgument& memory, Boxes& boxes) {
  ByteRuns runs;
  if (!take_memory(memory, runs)) return false;
  boxes.clear(1);
  for (const ByteRun& run : runs) boxes.add(&run.offset, &run.bytes);
  return true;
}

std::uint64_t record_move(CapturedFile& file, const pnetcdf::Call& call, const CallVariant& variant,
                          int error) {
  thread_local Selected selected;
  thread_local Boxes memory;
  const CapturedVariable* const variable = file.variable(call.variable);
  if (!variable) return 0;
  const bool made = is_made(error);
  Event event;
  event.call = call_of(variant, call.access.kind);
  event.file = file.id();
  event.dataset = variable->dataset;
  event.flags = variant.flags | (call.direction == Direction::put ? writes : reads) |
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

int move_now(int ncid, const pnetcdf::Call& call, unsigned flags, FunctionRef<int()> native) {
  const Call guard;
  const int error = native();
  if (!guard.is_user_call()) return error;
  noted([&] {
    if (CapturedFile* const file = captured_file(ncid))
      record_move(*file, call, {moving(call), flags}, error);
  });
  return error;
}

int move_several(int ncid, int count, FunctionRef<pnetcdf::Call(int)> call_of, bool all,
                 FunctionRef<int()> native) {
  const Call guard;
  const int error = native();
  if (!guard.is_user_call()) return error;
  noted([&] {
    CapturedFile* const file = captured_file(ncid);
    if (file && count == 0 && all) {  // other ranks may have parts, and wait for this one
      const Boxes nothing(0);
      Event event;
      event.call = capture::call_of({Verb::mput, collective}, Access::Kind::vara);
      event.file = file->id();
      event.flags = writes | collective;
      event.selection = &nothing;
      record(event);
    }
    for (int i = 0; file && i < count; ++i) {
      const pnetcdf::Call call = call_of(i);
      record_move(*file, call,
                  {call.direction == Direction::put ? Verb::mput : Verb::mget,
                   (all ? collective : 0U) | (i > 0 ? one_more_part : 0U)},
                  error);
    }
  });
  return error;
}

/// The elements that a datatype of the file covers: a variable, and boxes of it.
struct FilePart {
  Id dataset;
  Boxes boxes;
  std::int64_t elements = 0;
};

/// Takes bytes of the file, from where a variable begins, apart into boxes of variables.
class FileParts {
 public:
  /// `others`: the datatype may go on into all variables of the file.
  FileParts(CapturedFile& file, int varid, bool others) : record_bytes_(file.bytes_a_record()) {
    const CapturedVariable first = *file.variable(varid);
    parts_.push_back({first.dataset, Boxes(first.lengths.size())});
    if (!others) {
      add_variable(first, 0);
      return;
    }
    const MPI_Offset begin = file.begin_of(varid);
    for (int other = 0; other < file.variables(); ++other) {
      const CapturedVariable* const variable = file.variable(other);
      if (variable) add_variable(*variable, file.begin_of(other) - begin);
    }
  }

  bool take(const ByteRuns& runs) {
    for (const ByteRun& run : runs) {
      for (MPI_Offset done = 0; done < run.bytes;) {
        const MPI_Offset taken = take_row(run.offset + done, run.bytes - done);
        if (taken == 0) return false;
        done += taken;
      }
    }
    return true;
  }

  /// In the order of memory. The first is of the variable that the call names, and may be empty.
  std::vector<FilePart>& parts() { return parts_; }

 private:
  void add_variable(const CapturedVariable& variable, MPI_Offset begin) {
    if (variable.has_records) {
      first_record_ = std::min(first_record_, begin);
      in_records_[begin] = variable;
    } else {
      fixed_[begin] = variable;
    }
  }

  /// The bytes at `offset` of one row of a variable, of `most`; 0: nothing is known to lie there.
  MPI_Offset take_row(MPI_Offset offset, MPI_Offset most) {
    const bool records = offset >= first_record_;
    const MPI_Offset record = records ? (offset - first_record_) / record_bytes_ : 0;
    offset -= record * record_bytes_;
    const auto& variables = records ? in_records_ : fixed_;
    auto behind = variables.upper_bound(offset);
    if (behind == variables.begin()) return 0;
    const auto& [begin, variable] = *--behind;
    const std::size_t rank = variable.lengths.size();
    const auto type = pnetcdf::element_type_of(variable.type);
    if (!type || rank == 0) return 0;
    const auto size = static_cast<MPI_Offset>(size_of(*type));
    if ((offset - begin) % size != 0 || most % size != 0) return 0;
    const std::size_t skipped = records ? 1 : 0;
    const MPI_Offset row = rank > skipped ? variable.lengths.back() : 1;
    MPI_Offset at = (offset - begin) / size;
    const MPI_Offset elements = std::min(row - at % row, most / size);
    start_.assign(rank, record);
    count_.assign(rank, 1);
    for (std::size_t d = rank; d-- > skipped; at /= variable.lengths[d])
      start_[d] = at % variable.lengths[d];
    if (at != 0) return 0;
    if (rank > skipped) count_.back() = elements;
    if (parts_.back().dataset != variable.dataset)
      parts_.push_back({variable.dataset, Boxes(rank)});
    parts_.back().boxes.add(start_.data(), count_.data());
    parts_.back().elements += elements;
    return elements * size;
  }

  MPI_Offset record_bytes_;
  MPI_Offset first_record_ = std::numeric_limits<MPI_Offset>::max();
  std::map<MPI_Offset, CapturedVariable> fixed_, in_records_;  ///< by where they begin
  std::vector<FilePart> parts_;
  std::vector<MPI_Offset> start_, count_;
};

/// Memory of parts that follow each other in it.
class MemoryOfParts {
 public:
  /// Empty: elements lie one after another.
  explicit MemoryOfParts(ByteRuns runs) : runs_(std::move(runs)) {}

  /// The next `elements`; null: they lie one after another.
  const Boxes* take(std::int64_t elements) {
    part_.clear(1);
    while (elements > 0 && run_ < runs_.size()) {
      ByteRun& left = runs_[run_];
      const std::int64_t count = std::min(elements, left.bytes);
      part_.add(&left.offset, &count);
      elements -= count;
      left.offset += count;
      left.bytes -= count;
      if (left.bytes == 0) ++run_;
    }
    return part_.size() > 1 ? &part_ : nullptr;
  }

 private:
  ByteRuns runs_;
  Boxes part_;
  std::size_t run_ = 0;
};

}  // namespace

int move_by_filetype(int ncid, const char* name, const pnetcdf::Call& call, MPI_Datatype filetype,
                     unsigned flags, FunctionRef<int()> native) {
  const Call guard;
  const int error = native();
  if (!guard.is_user_call()) return error;
  noted([&] {
    CapturedFile* const file = captured_file(ncid);
    const CapturedVariable* const variable = file ? file->variable(call.variable) : nullptr;
    if (!variable) return;
    TypeMap map;
    const bool made = is_made(error);
    std::vector<FilePart> parts = {{variable->dataset, Boxes(variable->lengths.size())}};
    if (made && filetype != MPI_DATATYPE_NULL) {
      const bool is_apart = take_apart(filetype, map);
      const ByteRuns runs = repeated(map, 1);
      FileParts own(*file, call.variable, false);
      if (is_apart && own.take(runs)) {
        parts = std::move(own.parts());
      } else {
        FileParts all(*file, call.variable, true);
        if (!is_apart || !all.take(runs)) {
          count_uncaptured(name);
          return;
        }
        parts = std::move(all.parts());
      }
    }
    ByteRuns in_memory;
    if (!made || !take_memory(call.memory, in_memory)) in_memory.clear();
    MemoryOfParts memory(std::move(in_memory));
    Event event;
    event.call = define_call(name, call.direction == Direction::put ? "write" : "read");
    event.file = file->id();
    event.flags = flags | (call.direction == Direction::put ? writes : reads) | (made ? 0 : failed);
    event.type = type_of(call.memory, *file->variable(call.variable));
    for (const FilePart& part : parts) {
      event.dataset = part.dataset;
      event.selection = &part.boxes;
      event.memory = memory.take(part.elements);
      record(event);
      event.flags |= one_more_part;
    }
  });
  return error;
}

int wait(int ncid, const char* name, unsigned flags, int count, const int* ids,
         FunctionRef<int()> native) {
  const Call guard;
  CapturedFile* const file = guard.is_user_call() ? captured_file(ncid) : nullptr;
  thread_local std::vector<int> asked;  // waiting overwrites them
  asked.clear();
  if (file && count > 0 && ids) noted([&] { asked.assign(ids, ids + count); });
  const int error = native();
  if (!file) return error;
  noted([&] {
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

int post(int ncid, const pnetcdf::Call& call, int* id, FunctionRef<int(int*)> native) {
  const Call guard;
  const int error = native(id);
  if (!guard.is_user_call()) return error;
  noted([&] {
    CapturedFile* const file = captured_file(ncid);
    if (!file) return;
    const std::uint64_t request =
        record_move(*file, call, {posting(call), is_made(error) ? nonblocking : 0U}, error);
    if (id && request > 0) file->posted(*id, request);
  });
  return error;
}

int move_collectively(int ncid, const pnetcdf::Call& call, FunctionRef<int()> native) {
  return move_now(ncid, call, collective, native);
}

int move_alone(int ncid, const pnetcdf::Call& call, FunctionRef<int()> native) {
  return move_now(ncid, call, 0, native);
}

int move_several_collectively(int ncid, int count, FunctionRef<pnetcdf::Call(int)> call_of,
                              FunctionRef<int()> native) {
  return move_several(ncid, count, call_of, true, native);
}

int move_several_alone(int ncid, int count, FunctionRef<pnetcdf::Call(int)> call_of,
                       FunctionRef<int()> native) {
  return move_several(ncid, count, call_of, false, native);
}

}  // namespace slabmark::capture
