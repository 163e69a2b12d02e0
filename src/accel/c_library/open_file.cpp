#include "accel/c_library/open_file.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "accel/c_library/element_type.hpp"
#include "accel/c_library/handing_over.hpp"
#include "accel/c_library/raw_format.hpp"
#include "core/base/checksum.hpp"
#include "core/parallel/subset.hpp"

namespace slabmark::rearrange {

namespace {

std::int64_t digest_of(const mpiio::Hints& hints) {
  Checksum digest;
  for (const auto& [name, value] : hints) {
    digest.add(std::hash<std::string>()(name));
    digest.add(std::hash<std::string>()(value));
  }
  return static_cast<std::int64_t>(digest.value() >> 1);
}

std::int64_t digest_of(std::int64_t operation, const Requests& requests) {
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
  may_copy_ = system_->options().held();
  data_ = std::make_unique<FileData>(
      *system_, number_,
      FileData::Opening{path, mode, of_all, format.fresh_from, format.padding,
                        format.swaps_bytes != 0, format.is_shared != 0});
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

Request OpenFile::request_of(const Call& call) {
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
  const slabmark_array array =
      array_of(call.variable, frame, call.writes || frame < pending_.put_records);
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
  Request request{.writes = call.writes,
                  .variable = call.variable,
                  .frame = array.has_records ? frame : -1,
                  .decomposition = call.decomposition,
                  .place = {static_cast<std::uint64_t>(array.offset), size_of(array.type),
                            decomposition.elements()},
                  .data = call.data,
                  .has_fill = call.fill != nullptr,
                  .name = &variable.name};
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
    const auto copy = handover->copy(number_, request.pieces_number(false), request.data,
                                     request.place.element_bytes);
    if (copy) {
      request.position = copy->position;
      request.data = copy->memory;
      return;
    }
  }
  request.copy_to(system_->copies());
}

void OpenFile::post(const Call& call) {
  Request request = request_of(call);
  request.round = (call.writes ? pending_.put_rounds : pending_.get_rounds).round_of(request);
  if (call.copies) {
    copy(request);
    pending_.held += call.decomposition->most_bytes();
  }
  if (call.writes) pending_.put_records = std::max(pending_.put_records, request.frame + 1);
  pending_.requests.push_back(std::move(request));
}

// As if it had left a copy: ranks must choose alike.
void OpenFile::refuse(const std::exception_ptr& failure, bool copies) {
  if (copies && system_->handover()) system_->handover()->claim(number_);
  if (!pending_.refused) pending_.refused = failure;
}

// A rank whose call was refused does not know what the others have copied in it, nor do they know
// of that. So each call is taken for the largest, which all count alike; when that reaches the
// bound, ranks ask each other how much it really is.
void OpenFile::bound_copies() {
  const std::uint64_t most = system_->options().held(), next = system_->largest_buffer();
  if (most == 0) return;
  if (next <= may_copy_) {
    may_copy_ -= next;
    return;
  }
  std::int64_t held[] = {static_cast<std::int64_t>(pending_.held)};
  agree(system_->comm(), nullptr, SLABMARK_EARGUMENT, held);
  const auto all = static_cast<std::uint64_t>(held[0]);
  may_copy_ = most - std::min(all, most);
  if (all > most) flush();
}

/// Finds where the arrays lie by now: what the program does in its file library may have moved
/// them.
void OpenFile::locate(Requests& requests) {
  for (Request& request : requests) {
    // The call has asked whether there is such a record, or will be.
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

OpenFile::Delivery OpenFile::delivery_of(Operation operation, const Requests& requests) const {
  const bool later = system_->writes_in_background() && !format_.is_shared &&
                     operation == Operation::flush &&
                     std::ranges::all_of(requests, &Request::writes);
  if (!later) return Delivery::now;
  return system_->io_ranks() ? Delivery::by_io_ranks : Delivery::by_thread;
}

/// Collective: that all ranks can flush, and the same. Tells how the file grows by it.
Growth OpenFile::agree_on(Operation operation, Pending& pending, Delivery delivery) {
  Requests& requests = pending.requests;
  std::exception_ptr failure = pending.refused;
  if (!failure) failure = data_->deferred_error();
  if (!failure) failure = caught([&] { locate(requests); });
  if (!failure && delivery == Delivery::by_thread) {
    failure = caught([&] {
      for (Request& request : requests) request.prepare_copy(system_->copies());
    });
  }
  Handover* const handover = system_->handover();
  const std::int64_t all = digest_of(static_cast<std::int64_t>(operation), requests);
  const Requests none;
  const GrowthOffer offer(system_->comm(), format_.grow ? requests : none);
  const std::int64_t records = format_.grow ? format_.inq_records(context_) : 0;
  const auto written = static_cast<std::int64_t>(handover ? handover->written() : 0);
  std::int64_t common[] = {all, -all, offer.value(), -records, -written};
  agree(system_->comm(), failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1]) {
    throw Failure(SLABMARK_ERANKS,
                  "Ranks made different calls before this one, or another one than this; nothing "
                  "of them was moved.");
  }
  if (handover) handover->know_written(static_cast<std::uint64_t>(-common[4]));
  Growth growth = offer.chosen(common[2]);
  growth.is_new = growth.records > -common[3];
  return growth;
}

void OpenFile::grow(const Growth& growth, Delivery delivery) {
  const auto grow = [&] {
    check(format_.grow(context_, growth.records, growth.variable, growth.rank,
                       growth.element ? &*growth.element : nullptr));
  };
  if (delivery == Delivery::now) {
    agreed(system_->comm(), SLABMARK_EARGUMENT, grow);
  } else if (const auto failed = caught(grow)) {  // nobody waits for the others to hear of it
    refuse(failed, false);
  }
}

void OpenFile::flush_as(Operation operation) {
  Pending pending = std::exchange(pending_, {});
  may_copy_ = system_->options().held();
  if (operation == Operation::flush) {
    system_->make_room();
  } else {
    system_->wait_for_background();
  }
  const Delivery delivery = delivery_of(operation, pending.requests);
  const HandoverGuard guard(system_->handover(), number_);
  const Growth growth = agree_on(operation, pending, delivery);
  if (growth.is_new) grow(growth, delivery);
  for (const Request& request : pending.requests) {
    if (request.has_fill) request.decomposition->holes();
  }
  deliver(std::move(pending.requests), growth.records, delivery);
}

void OpenFile::deliver(Requests requests, std::int64_t records, Delivery delivery) {
  switch (delivery) {
    case Delivery::by_thread:
      // Behind the agreement, so that nobody waits for the others to copy.
      for (Request& request : requests) request.copy_to(system_->copies());
      return move_by_thread(std::move(requests), records);
    case Delivery::by_io_ranks:
      if (system_->handover() && hand_over(*system_, *data_, requests, records)) return;
      return move_rounds(requests, records, true);
    case Delivery::now:
      system_->wait_for_background();
      move_rounds(requests, records, false);
  }
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
  MovedRequests moved(records);
  for (const Request& request : requests) {
    if (request.writes != writing || request.round != round || request.place.elements == 0) {
      continue;
    }
    moved.add(request, false, request.decomposition->pieces(), request.data);
    if (request.has_fill) {
      moved.add(request, true, request.decomposition->holes(),
                const_cast<std::byte*>(request.fill.data()));
    }
  }
  if (!moved.get().parts.empty()) data_->move(moved.get(), writing, later);
}

void OpenFile::move_by_thread(Requests requests, std::int64_t records) {
  std::uint64_t bytes = 0;
  for (const Request& request : requests) bytes += request.decomposition->most_bytes();
  const auto shared = std::make_shared<const Requests>(std::move(requests));
  const auto work = [this, shared, records] {
    if (data_->deferred_error()) return;  // on all ranks, since what failed did so on all
    const auto failure = caught([&] {
      // Asleep until all have come that far, lest it take a core from the program.
      sleeping_barrier(data_->movers(), std::chrono::microseconds(200));
      move_rounds(*shared, records, false);
    });
    if (failure) data_->set_deferred_error(failure);
  };
  const SystemOptions& options = system_->options();
  system_->background().submit(work, bytes, {options.in_flight(), options.held()});
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

// Earlier flushes stay, whatever fails at last.
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
