#include "accel/pnetcdf_dropin/calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <set>

#include "accel/pnetcdf_dropin/native.hpp"
#include "accel/pnetcdf_dropin/open_file.hpp"
#include "accel/pnetcdf_dropin/transfer.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark::dropin {

namespace {

/// Most bytes that a rank holds in copies of what is pending in a file.
std::uint64_t memory_limit() {
  constexpr std::uint64_t otherwise = std::uint64_t{4} << 30;
  static const std::uint64_t limit = [] {
    const char* const value = std::getenv("SLABMARK_DROPIN_MEMORY");
    try {
      return value && *value ? parse_size(value, "SLABMARK_DROPIN_MEMORY") : otherwise;
    } catch (const InputError&) {
      return otherwise;
    }
  }();
  return limit;
}

/// The file if its data are taken where it stands.
OpenFile* in_mode(int ncid, OpenFile::Mode mode) {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  return file && file->mode() == mode ? file : nullptr;
}

void finish(const std::vector<Request*>& gets) {
  for (const Request* request : gets) {
    if (request->packed) request->memory->unpack(request->packed.get());
  }
}

/// PnetCDF's code of the exception at hand: none leaves a function of C.
int code_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return NC_ENOMEM;
  } catch (...) {
    return NC_EFILE;
  }
}

/// Collective.
Outcome attempt(OpenFile& file, const Brought& brought) {
  try {
    const Outcome outcome = transfer(file, brought);
    if (!outcome.native && outcome.error == NC_NOERR) finish(brought.gets);
    return outcome;
  } catch (...) {
    return {false, code_of_exception()};
  }
}

/// Of the ids of a wait, those that PnetCDF has.
struct NativeIds {
  std::vector<int> ids, statuses, places;

  void add(int id, int place) {
    ids.push_back(id);
    places.push_back(place);
    statuses.push_back(NC_NOERR);
  }
  void tell(int* all_ids, int* all_statuses) const {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      all_ids[places[i]] = ids[i];
      if (all_statuses) all_statuses[places[i]] = statuses[i];
    }
  }
};

/// A collective call brings what `collect` adds to it, even if that is too much for this rank.
template <class Collect>
void bring(Brought& brought, const Collect& collect) {
  try {
    collect();
  } catch (const std::bad_alloc&) {
    brought.no_memory = true;
  }
}

}  // namespace

int nonblocking(int ncid, const Call& call, int* id, const std::function<int(int*)>& native) try {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  if (!file) return native(id);
  const bool full = file->held_bytes() > memory_limit();
  bool alone = false;  // only its variable becomes PnetCDF's
  if (file->mode() == OpenFile::Mode::collective && !file->has_native_pending() && !full) {
    OpenFile::Taken taken = file->take(call);
    if (taken.request && (!call.buffered || file->has_buffer_for(*taken.request))) {
      const int own = file->post(std::move(taken.request));
      // Of a variable that it has puts of, PnetCDF gets the later ones, too.
      if (file->has_native_puts_of(call.variable)) file->hand_over(call.variable);
      if (id) *id = own;
      return NC_NOERR;
    }
    alone = taken.out_of_range;
  }
  return file->post_natively(call, alone, id, native);
} catch (...) {
  return code_of_exception();
}

int blocking(int ncid, const Call& call, const std::function<int()>& native) {
  OpenFile* const file = in_mode(ncid, OpenFile::Mode::collective);
  if (!file) return native();
  Brought brought;
  brought.blocking = true;
  OpenFile::Taken taken;
  const bool puts = call.direction == Direction::put;
  bool is_left = false;
  bring(brought, [&] {
    is_left = goes_unasked(*file, file->most_pieces(call));
    if (is_left) return;
    taken = file->take(call);
    if (!taken.taken) brought.native_reason = "for PnetCDF to judge or convert";
    if (taken.request) (puts ? brought.puts : brought.gets).push_back(taken.request.get());
  });
  if (!is_left) {
    const Outcome outcome = attempt(*file, brought);
    if (!outcome.native) return outcome.error;
  }
  return native();
}

int several(int ncid, int count, const std::function<Call(int)>& call_of,
            const std::function<int()>& native) {
  OpenFile* const file = in_mode(ncid, OpenFile::Mode::collective);
  if (!file) return native();
  Brought brought;
  brought.blocking = true;
  std::vector<std::unique_ptr<Request>> requests;
  bool puts = false;
  bring(brought, [&] {
    for (int i = 0; i < count; ++i) {
      const Call call = call_of(i);
      puts = call.direction == Direction::put;
      OpenFile::Taken taken = file->take(call);
      if (!taken.taken) brought.native_reason = "for PnetCDF to judge or convert";
      if (!taken.request) continue;
      requests.push_back(std::move(taken.request));
      (puts ? brought.puts : brought.gets).push_back(requests.back().get());
    }
  });
  if (count < 0) brought.native_reason = "for PnetCDF to judge or convert";
  const Outcome outcome = attempt(*file, brought);
  if (!outcome.native) return outcome.error;
  return native();
}

int wait_all(int ncid, int count, int* ids, int* statuses,
             const std::function<int(int*)>& native) try {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  if (!file) return native(ids);
  const auto natively = [&] { return file->with_native_ids(count, ids, native); };
  if (file->mode() != OpenFile::Mode::collective) return natively();

  Brought brought;
  std::vector<Request*> requests;
  NativeIds native_ids;
  if (file->has_native_pending())
    brought.native_reason = "requests that PnetCDF converts or refuses";
  bring(brought, [&] {
    if (count < NC_PUT_REQ_ALL || (count > 0 && !ids)) {
      brought.native_reason = "for PnetCDF to judge";
    } else if (count < 0) {
      requests = file->pending_of(count);
      brought.native_puts = file->has_native_puts() && count != NC_GET_REQ_ALL;
    } else {
      std::set<int> seen;
      for (int i = 0; i < count; ++i) {
        if (ids[i] == NC_REQ_NULL) continue;
        Request* const request = file->pending(ids[i]);
        if (request && seen.insert(ids[i]).second) {
          requests.push_back(request);
        } else if (file->has_native_puts() && file->is_with_pnetcdf(ids[i])) {
          native_ids.add(ids[i], i);
          brought.native_puts = true;
        } else if (!brought.native_reason) {
          brought.native_reason = "ids that are not pending";
        }
      }
      // In the order of the calls, whatever that of the ids.
      std::sort(requests.begin(), requests.end(),
                [](const Request* a, const Request* b) { return a->id / 2 < b->id / 2; });
    }
    for (Request* request : requests) {
      (request->direction == Direction::put ? brought.puts : brought.gets).push_back(request);
    }
    file->check_memory(brought.puts);
  });
  int native_error = NC_NOERR;
  const auto wait_natively = [&] {
    const int number =
        count < 0 && brought.native_puts ? NC_PUT_REQ_ALL : static_cast<int>(native_ids.ids.size());
    native_error = file->wait_natively(number, native_ids.ids.data(), native_ids.statuses.data());
  };
  brought.wait_natively = std::cref(wait_natively);
  const Outcome outcome = attempt(*file, brought);
  if (outcome.native) {
    file->hand_over();
    return natively();
  }
  if (brought.no_memory) {
    file->drop(count, ids);  // also those that could not be collected
  } else {
    file->drop(requests);
  }
  for (int i = 0; i < count; ++i) {
    if (statuses) statuses[i] = ids[i] == NC_REQ_NULL ? NC_NOERR : outcome.error;
    ids[i] = NC_REQ_NULL;
  }
  native_ids.tell(ids, statuses);
  return outcome.error == NC_NOERR ? native_error : outcome.error;
} catch (...) {
  return code_of_exception();
}

int wait(int ncid, int count, int* ids, const std::function<int(int*)>& native) try {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  if (!file) return native(ids);
  file->hand_over();
  return file->with_native_ids(count, ids, native);
} catch (...) {
  return code_of_exception();
}

int cancel(int ncid, int count, int* ids, int* statuses,
           const std::function<int(int*, int*)>& native) try {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  if (!file) return native(ids, statuses);
  std::vector<int> rest;
  if (count < 0 && count >= NC_PUT_REQ_ALL) {
    file->drop(file->pending_of(count));
  } else if (count > 0 && ids) {
    std::vector<Request*> own;
    for (int i = 0; i < count; ++i) {
      Request* const request = file->pending(ids[i]);
      const bool found = request && std::find(own.begin(), own.end(), request) == own.end();
      if (found) own.push_back(request);
      rest.push_back(found ? NC_REQ_NULL : ids[i]);
    }
    file->drop(own);
  }
  int* const others = rest.empty() ? ids : rest.data();
  const int error = file->with_native_ids(
      count, others, [&](int* native_ids) { return native(native_ids, statuses); });
  std::copy(rest.begin(), rest.end(), ids);
  return error;
} catch (...) {
  return code_of_exception();
}

int close(int ncid, const std::function<int()>& native) {
  OpenFile* const file = inside_native() ? nullptr : open_file(ncid);
  if (!file) return native();
  // PnetCDF has its own words for requests that nobody waited for.
  file->hand_over();
  try {
    if (file->report().wanted) file->report().print(file->engine().comm, file->path());
  } catch (const std::bad_alloc&) {  // no line
  }
  const int own = file->close();
  const int error = native();
  forget(ncid);
  return error != NC_NOERR ? error : own;
}

}  // namespace slabmark::dropin
