#include "rearrange/library/open_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/checksum.hpp"
#include "parallel/subset.hpp"
#include "rearrange/library/element_type.hpp"
#include "rearrange/library/raw_format.hpp"

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
  agreed(system_->comm(), SLABMARK_EARGUMENT, [&] {
    if (mode >= SLABMARK_READ && mode <= SLABMARK_CREATE) return;
    throw Failure(SLABMARK_EARGUMENT, fmt::format("{} is no mode to open a file in.", mode));
  });
  data_ = std::make_unique<FileData>(*system_, number_,
                                     FileData::Opening{path, mode, hints, format.fresh_from,
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
  const slabmark_array array = array_of(call.variable, frame, call.writes);
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

void OpenFile::post(const Call& call) {
  // All ranks count alike, also one whose call fails, so that they flush together.
  if (call.copies) held_ += call.decomposition->most_bytes();
  const auto failure = caught([&] {
    Request request = request_of(call);
    auto& pending = call.writes ? puts_ : gets_;
    if (request.place.elements > 0 && pending.contains(request.place.offset)) flush();
    if (call.copies) copy(request);
    pending.insert(request.place.offset);
    requests_.push_back(std::move(request));
  });
  if (failure) refuse(failure);  // before the flush
  if (system_->held() > 0 && held_ > system_->held()) flush();
  if (failure) std::rethrow_exception(failure);
}

// As if it had left a copy: ranks must choose alike.
void OpenFile::refuse(const std::exception_ptr& failure) {
  if (system_->handover()) system_->handover()->claim(number_);
  if (!refused_) refused_ = failure;
}

std::int64_t OpenFile::digest(Operation operation) const {
  Checksum digest;
  const auto add = [&](auto value) { digest.add(static_cast<std::uint64_t>(value)); };
  add(operation);
  for (const Request& request : requests_) {
    add(request.variable);
    add(request.frame);
    add(request.decomposition->number());
    add(request.place.offset);
    add((request.writes ? 1 : 0) + (request.has_fill ? 2 : 0));
    add(request.position ? static_cast<std::int64_t>(*request.position) : -1);
  }
  return static_cast<std::int64_t>(digest.value() >> 1);  // ranks compare it by its negative, too
}

void OpenFile::flush_as(Operation operation) {
  const std::int64_t all = digest(operation);
  Requests requests = std::exchange(requests_, {});
  puts_.clear();
  gets_.clear();
  std::exception_ptr failure = std::exchange(refused_, nullptr);
  held_ = 0;
  if (operation == Operation::flush) {
    system_->make_room();
  } else {
    system_->wait_for_background();
  }
  std::int64_t end_record = 0;
  bool reads = false;
  for (const Request& request : requests) {
    if (request.writes) end_record = std::max(end_record, request.frame + 1);
    reads |= !request.writes;
  }
  const bool later = system_->writes_in_background() && !reads && operation == Operation::flush;
  const bool by_thread = later && !system_->io_ranks();
  Handover* const handover = system_->handover();
  const Dropped dropped{handover, number_};
  if (!failure) failure = data_->broken();
  if (!failure && by_thread) {
    failure = caught([&] {
      for (Request& request : requests) prepare_copy(request);
    });
  }
  const auto written = static_cast<std::int64_t>(handover ? handover->written() : 0);
  std::int64_t common[] = {all, -all, end_record, -written};
  agree(system_->comm(), failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS,
                  "Ranks made different calls before this one, or another one than this; nothing "
                  "of them was moved.");
  }
  if (handover) handover->know_written(static_cast<std::uint64_t>(-common[3]));
  if (format_.grow && end_record > records_) {
    const auto grow = [&] { check(format_.grow(context_, end_record)); };
    if (later) {  // nobody waits for the others to hear of it
      if (const auto failed = caught(grow)) refuse(failed);
    } else {
      agreed(system_->comm(), SLABMARK_EARGUMENT, grow);
    }
    records_ = end_record;
  }
  for (const Request& request : requests) {
    if (request.has_fill) request.decomposition->holes();
  }
  if (by_thread) {
    // Behind the agreement, so that nobody waits for the others to copy.
    for (Request& request : requests) copy_apart(request);
    move_by_thread(std::move(requests));
    return;
  }
  if (!later) system_->wait_for_background();
  if (later && handover && hand_over(requests)) return;
  move(requests, true, later);
  move(requests, false);
}

void OpenFile::move(const Requests& requests, bool writing, bool later) {
  FileData::Moved moved;
  const auto add = [&](const Request& request, const PiecesPtr& pieces, bool holes,
                       std::byte* buffer) {
    moved.parts.push_back({request.place, pieces, buffer, *request.name});
    moved.pieces.push_back(number_of_pieces(*request.decomposition, holes));
    moved.variables.push_back(request.variable);
  };
  for (const Request& request : requests) {
    if (request.writes != writing || request.place.elements == 0) continue;
    add(request, request.decomposition->pieces(), false, request.data);
    if (request.has_fill) {
      add(request, request.decomposition->holes(), true,
          const_cast<std::byte*>(request.fill.data()));
    }
  }
  if (!moved.parts.empty()) data_->move(moved, writing, later);
}

void OpenFile::move_by_thread(Requests requests) {
  std::uint64_t bytes = 0;
  for (const Request& request : requests) bytes += request.decomposition->most_bytes();
  const auto shared = std::make_shared<const Requests>(std::move(requests));
  const auto work = [this, shared] {
    if (data_->broken()) return;  // on all ranks, since what failed did so on all
    const auto failure = caught([&] {
      // Asleep until all have come that far, lest it take a core from the program.
      sleeping_barrier(data_->movers(), std::chrono::microseconds(200));
      move(*shared, true);
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
bool OpenFile::hand_over(Requests& requests) {
  Handover& handover = *system_->handover();
  if (!handover.claim(number_)) return false;
  std::erase_if(requests, [](const Request& request) { return request.place.elements == 0; });
  if (requests.empty()) return true;
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

void OpenFile::sync() {
  flush_as(Operation::sync);
  data_->sync();
  agreed(system_->comm(), SLABMARK_EIO, [&] {
    if (format_.sync) check(format_.sync(context_, 1));
  });
}

void OpenFile::close() {
  const auto flushed = caught([&] { flush_as(Operation::close); });
  const auto closed = caught([&] {
    data_->close();
    agreed(system_->comm(), SLABMARK_EIO, [&] {
      if (format_.sync && writable_ && !flushed) check(format_.sync(context_, 0));
    });
  });
  const int code = format_.close ? format_.close(std::exchange(context_, nullptr)) : SLABMARK_OK;
  if (flushed) std::rethrow_exception(flushed);
  if (closed) std::rethrow_exception(closed);
  check(code);
}

}  // namespace slabmark::rearrange
