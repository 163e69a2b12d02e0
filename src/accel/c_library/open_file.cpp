#include "accel/c_library/open_file.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "accel/c_library/element_type.hpp"
#include "accel/c_library/raw_format.hpp"
#include "core/base/checksum.hpp"
#include "core/parallel/subset.hpp"

namespace slabmark::rearrange {

namespace {

/// At its end nothing is left of what a file has copied for I/O ranks and not handed over.
struct Dropped {
  Handover* handover;
  std::int64_t file;
  ~Dropped() {
    if (handover) handover->drop(file);
  }
};

std::uint64_t bytes_of(const Decomposition& decomposition) {
  return decomposition.count() * size_of(decomposition.type());
}

constexpr std::int64_t no_offer = std::numeric_limits<std::int64_t>::min();

std::int64_t digest_of(const mpiio::Hints& hints) {
  Checksum digest;
  for (const auto& [name, value] : hints) {
    digest.add(std::hash<std::string>()(name));
    digest.add(std::hash<std::string>()(value));
  }
  return static_cast<std::int64_t>(digest.value() >> 1);
}

/// See FileData::Moved.
std::int64_t number_of_pieces(const Decomposition& decomposition, bool holes) {
  return 2 * decomposition.number() + (holes ? 1 : 0);
}

}  // namespace

OpenFile::OpenFile(std::shared_ptr<System> system, const std::string& path, int mode,
                   const mpiio::Hints& hints, const slabmark_format& format, void* context)
    : system_(std::move(system)),
      format_(format),
      context_(context),
      writable_(mode != SLABMARK_READ),
      number_(system_->next_number()) {
  system_->agree_on_options();
  const auto failure = caught([&] {
    if (mode >= SLABMARK_READ && mode <= SLABMARK_CREATE) return;
    throw Failure(SLABMARK_EARGUMENT, fmt::format("{} is no mode to open a file in.", mode));
  });
  const std::int64_t text = digest_of(hints);
  std::int64_t common[] = {mode, -mode, text, -text};
  agree(system_->comm(), failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS, "Ranks open a file in different modes; name the same on all.");
  }
  // MPI-IO may wait for ranks that have no such hint.
  const bool are_same = common[2] == -common[3];
  const mpiio::Hints of_all = are_same ? hints : FileData::of_root(system_->comm(), hints);
  may_copy_ = system_->held();
  data_ = std::make_unique<FileData>(*system_, number_,
                                     FileData::Opening{path, mode, of_all, format.fresh_from,
                                                       format.padding, format.swaps_bytes != 0});
}

bool OpenFile::is_raw() const { return format_.inq_array == raw_format().inq_array; }

// Functions of the format have left the sentence with this thread.
void OpenFile::check(int code) const {
  if (code != SLABMARK_OK) throw Failure(code, slabmark_message());
}

int OpenFile::inq_varid(const char* name) {
  if (!format_.inq_varid) {
    throw Failure(SLABMARK_EVARIABLE, "Variables of this file have no names.");
  }
  int variable = 0;
  check(format_.inq_varid(context_, name, &variable));
  return variable;
}

void OpenFile::set_frame(int variable, std::int64_t frame) {
  if (frame < 0) {
    throw Failure(SLABMARK_EFRAME, fmt::format("There is no record {}; they count from 0.", frame));
  }
  slabmark_array array{};
  const int code = format_.inq_array(context_, variable, 0, 1, &array);
  if (code == SLABMARK_EVARIABLE) check(code);
  this->variable(variable).frame = frame;
}

OpenFile::Variable& OpenFile::variable(int number) {
  Variable& found = variables_[number];
  if (found.name.empty()) found.name = FileData::name_of(number);
  return found;
}

slabmark_array OpenFile::array_of(int variable, std::int64_t frame, bool writes) {
  slabmark_array array{};
  check(format_.inq_array(context_, variable, frame, writes, &array));
  if (frame > 0 && !array.has_records) {
    throw Failure(SLABMARK_EFRAME, fmt::format("Variable {} has no records.", variable));
  }
  return array;
}

OpenFile::Request OpenFile::request_of(const Call& call) {
  const Decomposition& decomposition = *call.decomposition;
  if (call.writes && !writable_) {
    throw Failure(SLABMARK_EREADONLY, "The file is open for reading; open it with SLABMARK_WRITE.");
  }
  if (call.count < 0 || static_cast<std::uint64_t>(call.count) != decomposition.count()) {
    throw Failure(SLABMARK_ELENGTH,
                  fmt::format("The buffer has {} elements, and the decomposition {} on this rank.",
                              call.count, decomposition.count()));
  }
  if (!call.data && call.count > 0) {
    throw Failure(SLABMARK_EARGUMENT, "The buffer is a null pointer.");
  }
  const Variable& variable = this->variable(call.variable);
  const std::int64_t frame = variable.frame;
  const slabmark_array array = array_of(call.variable, frame, call.writes || frame < put_records_);
  if (!are_alike(array.type, decomposition.type())) {
    throw Failure(
        SLABMARK_ETYPE,
        fmt::format("Variable {} is of {}, the decomposition of {}; nothing is converted.",
                    call.variable, name_of(array.type), name_of(decomposition.type())));
  }
  if (static_cast<std::uint64_t>(array.elements) != decomposition.elements()) {
    throw Failure(SLABMARK_ELENGTH,
                  fmt::format("Variable {} has {} elements{}, and the decomposition {}.",
                              call.variable, array.elements, array.has_records ? " a record" : "",
                              decomposition.elements()));
  }
  Request request{
      call.writes,
      0,
      call.variable,
      array.has_records ? frame : -1,
      call.decomposition,
      {static_cast<std::uint64_t>(array.offset), size_of(array.type), decomposition.elements()},
      call.data,
      nullptr,
      std::nullopt,
      call.fill != nullptr,
      {},
      &variable.name};
  if (call.fill) {
    const std::uint64_t size = request.place.element_bytes;
    request.fill.resize(std::min(decomposition.elements(), Decomposition::most_fill) * size);
    for (std::uint64_t at = 0; at < request.fill.size(); at += size) {
      std::memcpy(request.fill.data() + at, call.fill, size);
    }
  }
  return request;
}

void OpenFile::copy(Request& request) {
  if (Handover* const handover = system_->handover()) {
    const auto copy = handover->copy(number_, number_of_pieces(*request.decomposition, false),
                                     request.data, request.place.element_bytes);
    if (copy) {
      request.position = copy->position;
      request.data = copy->memory;
      return;
    }
  }
  copy_apart(request);
}

/// Has memory for a copy, with which copy_apart() cannot fail.
void OpenFile::prepare_copy(Request& request) {
  if (!request.copy) request.copy = system_->copies().memory(bytes_of(*request.decomposition));
}

void OpenFile::copy_apart(Request& request) {
  prepare_copy(request);
  std::byte* const copy = request.copy.get();
  const std::uint64_t bytes = bytes_of(*request.decomposition);
  if (request.data != copy && bytes > 0) std::memcpy(copy, request.data, bytes);
  request.data = copy;
}

int OpenFile::Rounds::round_of(const Request& request) {
  const std::pair array(request.variable, request.frame);
  if (request.place.elements > 0 && !arrays.insert(array).second) {
    ++round;
    arrays = {array};
  }
  return round;
}

void OpenFile::post(const Call& call) {
  Request request = request_of(call);
  request.round = (call.writes ? put_rounds_ : get_rounds_).round_of(request);
  if (call.copies) copy(request);
  if (call.copies) held_ += call.decomposition->most_bytes();
  if (call.writes) put_records_ = std::max(put_records_, request.frame + 1);
  requests_.push_back(std::move(request));
}

// As if it had left a copy: ranks must choose alike.
void OpenFile::refuse(const std::exception_ptr& failure, bool copies) {
  if (copies && system_->handover()) system_->handover()->claim(number_);
  if (!refused_) refused_ = failure;
}

// A rank whose call was refused does not know what the others have copied in it, nor do they know
// of that. So each call is taken for the largest, which all count alike; when that reaches the
// bound, ranks ask each other how much it really is.
void OpenFile::bound_copies() {
  const std::uint64_t most = system_->held(), next = system_->largest_buffer();
  if (most == 0) return;
  if (next <= may_copy_) {
    may_copy_ -= next;
    return;
  }
  std::int64_t held[] = {static_cast<std::int64_t>(held_)};
  agree(system_->comm(), nullptr, SLABMARK_EARGUMENT, held);
  const auto all = static_cast<std::uint64_t>(held[0]);
  may_copy_ = most - std::min(all, most);
  if (all > most) flush();
}

/// Finds where the arrays lie by now: what the program does in its file library may have moved
/// them.
void OpenFile::locate(Requests& requests) {
  for (Request& request : requests) {
    // That there is such a record, or will be, was asked in the call.
    const slabmark_array array =
        array_of(request.variable, std::max<std::int64_t>(request.frame, 0), true);
    if (static_cast<std::uint64_t>(array.elements) != request.place.elements) {
      throw Failure(SLABMARK_ELENGTH,
                    fmt::format("Variable {} has {} elements, and had {} when it was named.",
                                request.variable, array.elements, request.place.elements));
    }
    request.place.offset = static_cast<std::uint64_t>(array.offset);
  }
}

std::int64_t OpenFile::digest(Operation operation, const Requests& requests) {
  Checksum digest;
  const auto add = [&](auto value) { digest.add(static_cast<std::uint64_t>(value)); };
  add(operation);
  for (const Request& request : requests) {
    add(request.variable);
    add(request.frame);
    add(request.decomposition->number());
    add(request.place.offset);
    add((request.writes ? 1 : 0) + (request.has_fill ? 2 : 0));
    add(request.position ? static_cast<std::int64_t>(*request.position) : -1);
  }
  return static_cast<std::int64_t>(digest.value() >> 1);  // ranks compare it by its negative, too
}

/// Those that write records, the last record first, and of that the last call, whose elements stay:
/// the same on all ranks.
std::vector<const OpenFile::Request*> OpenFile::growing(const Requests& requests) const {
  std::vector<const Request*> growing;
  if (!format_.grow) return growing;
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    if (request->writes && request->frame >= 0 && request->place.elements > 0) {
      growing.push_back(&*request);
    }
  }
  std::ranges::stable_sort(growing, std::ranges::greater(), &Request::frame);
  return growing;
}

/// The first of them of which this rank has an element, as a number that is greater for an earlier
/// one, and then for a lower rank; the root also has the holes, where they are filled and no rank
/// has an element.
std::int64_t OpenFile::offer(const std::vector<const Request*>& growing) const {
  const std::int64_t voices = system_->comm().size() + 1;
  for (std::size_t i = 0; i < growing.size(); ++i) {
    const std::int64_t first = -static_cast<std::int64_t>(i) * voices;
    if (!growing[i]->decomposition->pieces()->empty()) return first - system_->comm().rank();
    if (growing[i]->has_fill && system_->comm().is_root()) return first - (voices - 1);
  }
  return no_offer;
}

OpenFile::Growth OpenFile::growth(const std::vector<const Request*>& growing,
                                  std::int64_t offer) const {
  if (offer == no_offer) return {};
  const std::int64_t voices = system_->comm().size() + 1;
  const Request& request = *growing[static_cast<std::size_t>(-offer / voices)];
  const auto voice = static_cast<int>(-offer % voices);
  const bool fills = voice == voices - 1;
  Growth growth{request.frame + 1, request.variable, fills ? 0 : voice, std::nullopt};
  if (system_->comm().rank() != growth.rank) return growth;
  if (fills) {
    growth.element = {0, request.fill.data()};
  } else {
    const Piece& piece = request.decomposition->pieces()->front();
    growth.element = {static_cast<std::int64_t>(piece.file),
                      request.data + piece.buffer * request.place.element_bytes};
  }
  return growth;
}

void OpenFile::flush_as(Operation operation) {
  Requests requests = std::exchange(requests_, {});
  put_rounds_ = get_rounds_ = {};
  put_records_ = 0;
  std::exception_ptr failure = std::exchange(refused_, nullptr);
  held_ = 0;
  may_copy_ = system_->held();
  if (operation == Operation::flush) {
    system_->make_room();
  } else {
    system_->wait_for_background();
  }
  const bool reads = !std::ranges::all_of(requests, &Request::writes);
  const bool later = system_->writes_in_background() && !reads && !format_.is_shared &&
                     operation == Operation::flush;
  const bool by_thread = later && !system_->io_ranks();
  Handover* const handover = system_->handover();
  const Dropped dropped{handover, number_};
  if (!failure) failure = data_->broken();
  if (!failure) failure = caught([&] { locate(requests); });
  if (!failure && by_thread) {
    failure = caught([&] {
      for (Request& request : requests) prepare_copy(request);
    });
  }
  const std::int64_t all = digest(operation, requests);
  const auto growing = this->growing(requests);
  const std::int64_t records = format_.grow ? format_.inq_records(context_) : 0;
  const auto written = static_cast<std::int64_t>(handover ? handover->written() : 0);
  std::int64_t common[] = {all, -all, offer(growing), -records, -written};
  agree(system_->comm(), failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS,
                  "Ranks made different calls before this one, or another one than this; nothing "
                  "of them was moved.");
  }
  if (handover) handover->know_written(static_cast<std::uint64_t>(-common[4]));
  const Growth growth = this->growth(growing, common[2]);
  if (growth.records > -common[3]) {
    const auto grow = [&] {
      check(format_.grow(context_, growth.records, growth.variable, growth.rank,
                         growth.element ? &*growth.element : nullptr));
    };
    if (later) {  // nobody waits for the others to hear of it
      if (const auto failed = caught(grow)) refuse(failed, false);
    } else {
      agreed(system_->comm(), SLABMARK_EARGUMENT, grow);
    }
  }
  for (const Request& request : requests) {
    if (request.has_fill) request.decomposition->holes();
  }
  if (by_thread) {
    // Behind the agreement, so that nobody waits for the others to copy.
    for (Request& request : requests) copy_apart(request);
    move_by_thread(std::move(requests), growth.records);
    return;
  }
  if (!later) system_->wait_for_background();
  if (later && handover && hand_over(requests, growth.records)) return;
  move_rounds(requests, growth.records, later);
}

void OpenFile::move_rounds(const Requests& requests, std::int64_t records, bool later) {
  int puts = 0, gets = 0;
  for (const Request& request : requests) (request.writes ? puts : gets) = request.round + 1;
  for (int round = 0; round < puts; ++round) {
    if (later && round > 0) system_->make_room();
    move(requests, round, true, round == puts - 1 ? records : 0, later);
  }
  for (int round = 0; round < gets; ++round) move(requests, round, false, 0, false);
}

void OpenFile::move(const Requests& requests, int round, bool writing, std::int64_t records,
                    bool later) {
  FileData::Moved moved;
  moved.records = records;
  const auto add = [&](const Request& request, const PiecesPtr& pieces, bool holes,
                       std::byte* buffer) {
    moved.parts.push_back({request.place, pieces, buffer, *request.name});
    moved.pieces.push_back(number_of_pieces(*request.decomposition, holes));
    moved.variables.push_back(request.variable);
  };
  for (const Request& request : requests) {
    if (request.writes != writing || request.round != round || request.place.elements == 0) {
      continue;
    }
    add(request, request.decomposition->pieces(), false, request.data);
    if (request.has_fill) {
      add(request, request.decomposition->holes(), true,
          const_cast<std::byte*>(request.fill.data()));
    }
  }
  if (!moved.parts.empty()) data_->move(moved, writing, later);
}

void OpenFile::move_by_thread(Requests requests, std::int64_t records) {
  std::uint64_t bytes = 0;
  for (const Request& request : requests) bytes += request.decomposition->most_bytes();
  const auto shared = std::make_shared<const Requests>(std::move(requests));
  const auto work = [this, shared, records] {
    if (data_->broken()) return;  // on all ranks, since what failed did so on all
    const auto failure = caught([&] {
      // Asleep until all have come that far, lest it take a core from the program.
      sleeping_barrier(data_->movers(), std::chrono::microseconds(200));
      move_rounds(*shared, records, false);
    });
    if (failure) data_->breaks(failure);
  };
  system_->submit(work, bytes);
}

/// Collective: shared memory for so many bytes a flush, in which nothing is left of what was
/// copied.
bool OpenFile::widen_handover(std::uint64_t bytes, Requests& requests) {
  Handover& handover = *system_->handover();
  if (!system_->may_hold(handover.flushes() * bytes / handover.most_served())) return false;
  agreed(system_->comm(), SLABMARK_EARGUMENT, [&] {
    for (Request& request : requests) {
      if (request.position) copy_apart(request);
      request.position.reset();
    }
  });
  system_->wait_for_background();
  system_->order(
      {static_cast<std::int64_t>(IoRanks::Order::reserve), static_cast<std::int64_t>(bytes)});
  return handover.reserve(bytes) && handover.claim(number_);
}

// All ranks have agreed that they have the same requests, so they come to the same.
bool OpenFile::hand_over(Requests& requests, std::int64_t records) {
  Handover& handover = *system_->handover();
  if (!handover.claim(number_)) return false;
  std::erase_if(requests, [](const Request& request) { return request.place.elements == 0; });
  if (requests.empty()) return true;
  // What is handed over is written at once.
  if (requests.back().round > 0) return false;
  std::uint64_t bytes = 0;
  const auto count = [&](const Request& request, const PiecesPtr& pieces, bool holes,
                         std::uint64_t elements) {
    const std::int64_t number = number_of_pieces(*request.decomposition, holes);
    if (!handover.knows(number)) {
      if (!holes) request.decomposition->refuse_shared(*request.name);
      system_->order({static_cast<std::int64_t>(IoRanks::Order::share), number});
      handover.share(number, *pieces, elements, request.decomposition);
    }
    bytes += handover.bytes_of(number, request.place.element_bytes);
  };
  const auto filled = [](const Request& request) {
    return request.fill.size() / request.place.element_bytes;
  };
  for (const Request& request : requests) {
    const Decomposition& its = *request.decomposition;
    count(request, its.pieces(), false, its.count());
    if (request.has_fill) {
      count(request, request.decomposition->holes(), true, filled(request));
    }
  }
  if (bytes == 0) return true;
  if (bytes > handover.bytes() && !widen_handover(bytes, requests)) return false;
  FileData::Moved moved;
  moved.records = records;
  std::vector<std::uint64_t> positions;
  const auto add = [&](const Request& request, bool holes, std::uint64_t position) {
    moved.parts.push_back({request.place, nullptr, nullptr, *request.name});
    moved.pieces.push_back(number_of_pieces(*request.decomposition, holes));
    moved.variables.push_back(request.variable);
    positions.push_back(position);
  };
  for (const Request& request : requests) {
    const std::uint64_t size = request.place.element_bytes;
    const auto copied = [&](bool holes, const std::byte* data) {
      return handover.copy(number_, number_of_pieces(*request.decomposition, holes), data, size)
          .value()
          .position;
    };
    add(request, false, request.position ? *request.position : copied(false, request.data));
    if (request.has_fill) add(request, true, copied(true, request.fill.data()));
  }
  data_->hand_over(moved, positions);
  return true;
}

void OpenFile::enter_records(bool durable) {
  agreed(system_->comm(), SLABMARK_EIO, [&] {
    if (format_.sync && writable_) check(format_.sync(context_, data_->records(), durable));
  });
}

void OpenFile::sync() {
  flush_as(Operation::sync);
  data_->sync();
  enter_records(true);
}

// What was flushed before stays, whatever fails at last.
void OpenFile::close() {
  const auto flushed = caught([&] { flush_as(Operation::close); });
  const auto closed = caught([&] { data_->close(); });
  const auto entered = caught([&] { enter_records(false); });
  const int code = format_.close ? format_.close(std::exchange(context_, nullptr)) : SLABMARK_OK;
  for (const auto& failure : {flushed, closed, entered}) {
    if (failure) std::rethrow_exception(failure);
  }
  check(code);
}

}  // namespace slabmark::rearrange
