#include "accel/pnetcdf_dropin/calls.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <vector>

#include "accel/pnetcdf_dropin/environment.hpp"
#include "accel/pnetcdf_dropin/netcdf_file.hpp"
#include "accel/pnetcdf_dropin/open_files.hpp"
#include "accel/pnetcdf_dropin/transfer.hpp"

namespace slabmark::dropin {

namespace {

constexpr const char* for_pnetcdf = "for PnetCDF to judge or convert";

/// Most bytes that a rank holds in copies of what is pending in a file.
std::uint64_t memory_limit() {
  static const std::uint64_t limit =
      number_of_variable("SLABMARK_DROPIN_MEMORY", std::uint64_t{4} << 30);
  return limit;
}

/// The file if it is in collective data mode, else null.
NetcdfFile* file_for_collective(int ncid) {
  NetcdfFile* const file = open_file(ncid);
  return file && file->mode() == NetcdfFile::Mode::collective ? file : nullptr;
}

void unpack(const std::vector<Request*>& gets) {
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
Outcome attempt(NetcdfFile& file, const LocalRequests& local) {
  try {
    const Outcome outcome = transfer(file, local);
    if (!outcome.passes_through && outcome.error == NC_NOERR) unpack(local.gets);
    return outcome;
  } catch (...) {
    return {false, code_of_exception()};
  }
}

/// A rank takes part in a collective call also where memory is short for what `collect` adds.
template <class Collect>
void bring(LocalRequests& local, const Collect& collect) {
  try {
    collect();
  } catch (const std::bad_alloc&) {
    local.no_memory = true;
  }
}

/// Collective: PnetCDF's own call for data of the file, behind all that waits to be written.
int call_natively(NetcdfFile& file, FunctionRef<int()> native) {
  const int earlier = file.settle();
  const int error = native();
  return error != NC_NOERR ? error : earlier;
}

/// Adds what a call that moves data at once asks for, and keeps its request in `requests`.
void add(NetcdfFile& file, const Call& call, LocalRequests& local,
         std::vector<std::unique_ptr<Request>>& requests) {
  AcceptResult result = file.accept(call);
  if (!result.accepted) local.unsupported_reason = for_pnetcdf;
  if (!result.request) return;
  requests.push_back(std::move(result.request));
  local.add(requests.back().get());
}

}  // namespace

int nonblocking(int ncid, const Call& call, int* id, FunctionRef<int(int*)> native) try {
  NetcdfFile* const file = open_file(ncid);
  if (!file) return native(id);
  const bool is_full = file->pending().memory().held_bytes() > memory_limit();
  bool alone = false;  // only its variable becomes PnetCDF's
  if (file->mode() == NetcdfFile::Mode::collective && !file->native().takes_all() && !is_full) {
    AcceptResult result = file->accept(call);
    if (result.request && (!call.buffered || file->has_buffer_for(*result.request))) {
      const int own = file->post(std::move(result.request));
      // PnetCDF gets the later puts of a variable that it has puts of, too.
      if (file->native().has_puts_of(call.variable)) file->hand_over(call.variable);
      if (id) *id = own;
      return NC_NOERR;
    }
    alone = result.out_of_range;
  }
  return file->pass_through(call, alone, id, native);
} catch (...) {
  return code_of_exception();
}

int blocking(int ncid, const Call& call, FunctionRef<int()> native) {
  NetcdfFile* const file = file_for_collective(ncid);
  if (!file) return native();
  LocalRequests local;
  local.blocking = true;
  std::vector<std::unique_ptr<Request>> requests;
  bool goes_on = false;
  bring(local, [&] {
    goes_on = passes_unasked(*file, most_pieces(call, file->locator()));
    if (!goes_on) add(*file, call, local, requests);
  });
  if (goes_on) return call_natively(*file, native);
  const Outcome outcome = attempt(*file, local);
  return outcome.passes_through ? call_natively(*file, native) : outcome.error;
}

int several(int ncid, int count, FunctionRef<Call(int)> call_of, FunctionRef<int()> native) {
  NetcdfFile* const file = file_for_collective(ncid);
  if (!file) return native();
  LocalRequests local;
  local.blocking = true;
  std::vector<std::unique_ptr<Request>> requests;
  bring(local, [&] {
    for (int i = 0; i < count; ++i) add(*file, call_of(i), local, requests);
  });
  if (count < 0) local.unsupported_reason = for_pnetcdf;
  const Outcome outcome = attempt(*file, local);
  return outcome.passes_through ? call_natively(*file, native) : outcome.error;
}

int unsupported(int ncid, FunctionRef<int()> native) {
  NetcdfFile* const file = open_file(ncid);
  return file ? call_natively(*file, native) : native();
}

namespace {

/// One ncmpi_wait_all of this rank.
class Wait {
 public:
  Wait(NetcdfFile& file, int count, int* ids, int* statuses)
      : file_(file), count_(count), ids_(ids), statuses_(statuses) {}

  /// Collective. Nothing: PnetCDF is to make the call, and has all requests.
  std::optional<int> run() {
    if (file_.native().takes_all())
      local_.unsupported_reason = "requests that PnetCDF converts or refuses";
    bring(local_, [&] { collect(); });
    int native_error = NC_NOERR;
    const auto wait_in_pnetcdf = [&] {
      native_error = file_.native().wait_all(
          by_kind() && local_.native_puts ? NC_PUT_REQ_ALL : static_cast<int>(native_ids_.size()),
          native_ids_.data(), native_statuses_.data());
    };
    local_.wait_in_pnetcdf = std::cref(wait_in_pnetcdf);
    const Outcome outcome = attempt(file_, local_);
    if (outcome.passes_through) {
      file_.hand_over();
      return std::nullopt;
    }
    finish(outcome.error);
    return outcome.error == NC_NOERR ? native_error : outcome.error;
  }

 private:
  bool by_kind() const { return count_ < 0; }

  void collect() {
    if (count_ < NC_PUT_REQ_ALL || (count_ > 0 && !ids_)) {
      local_.unsupported_reason = "for PnetCDF to judge";
    } else if (by_kind()) {
      requests_ = file_.pending().of_kind(count_);
      local_.native_puts = file_.native().has_puts_alone() && count_ != NC_GET_REQ_ALL;
    } else {
      collect_by_ids();
    }
    for (Request* request : requests_) local_.add(request);
    file_.pending().memory().check(local_.puts);
  }

  void collect_by_ids() {
    std::set<int> seen;
    for (int i = 0; i < count_; ++i) {
      if (ids_[i] == NC_REQ_NULL) continue;
      Request* const request = file_.pending().find(ids_[i]);
      if (request && seen.insert(ids_[i]).second) {
        requests_.push_back(request);
      } else if (file_.native().has_puts_alone() && file_.native().knows(ids_[i])) {
        native_ids_.push_back(ids_[i]);
        native_statuses_.push_back(NC_NOERR);
        native_places_.push_back(i);
        local_.native_puts = true;
      } else if (!local_.unsupported_reason) {
        local_.unsupported_reason = "ids that are not pending";
      }
    }
    // In the order of the calls, whatever that of the ids.
    std::ranges::sort(requests_, {}, [](const Request* request) { return request->id / 2; });
  }

  void finish(int error) {
    if (local_.no_memory) {
      file_.pending().drop(count_, ids_);  // also those that could not be collected
    } else {
      file_.pending().drop(requests_);
    }
    for (int i = 0; i < count_; ++i) {
      if (statuses_) statuses_[i] = ids_[i] == NC_REQ_NULL ? NC_NOERR : error;
      ids_[i] = NC_REQ_NULL;
    }
    for (std::size_t i = 0; i < native_places_.size(); ++i) {
      ids_[native_places_[i]] = native_ids_[i];
      if (statuses_) statuses_[native_places_[i]] = native_statuses_[i];
    }
  }

  NetcdfFile& file_;
  int count_;
  int* ids_;
  int* statuses_;
  LocalRequests local_;
  std::vector<Request*> requests_;
  // Ids that PnetCDF has, and where among the ids they stand.
  std::vector<int> native_ids_, native_statuses_, native_places_;
};

}  // namespace

int wait_all(int ncid, int count, int* ids, int* statuses, FunctionRef<int(int*)> native) try {
  NetcdfFile* const file = open_file(ncid);
  if (!file) return native(ids);
  if (file->mode() == NetcdfFile::Mode::collective) {
    if (const auto code = Wait(*file, count, ids, statuses).run()) return *code;
  }
  return call_natively(*file, [&] { return file->native().with_native_ids(count, ids, native); });
} catch (...) {
  return code_of_exception();
}

int wait(int ncid, int count, int* ids, FunctionRef<int(int*)> native) try {
  NetcdfFile* const file = open_file(ncid);
  if (!file) return native(ids);
  file->hand_over();
  return file->native().with_native_ids(count, ids, native);
} catch (...) {
  return code_of_exception();
}

int cancel(int ncid, int count, int* ids, int* statuses, FunctionRef<int(int*, int*)> native) try {
  NetcdfFile* const file = open_file(ncid);
  if (!file) return native(ids, statuses);
  PendingRequests& pending = file->pending();
  std::vector<int> rest;
  if (count < 0 && count >= NC_PUT_REQ_ALL) {
    pending.drop(pending.of_kind(count));
  } else if (count > 0 && ids) {
    std::vector<Request*> own;
    for (int i = 0; i < count; ++i) {
      Request* const request = pending.find(ids[i]);
      const bool found = request && std::ranges::find(own, request) == own.end();
      if (found) own.push_back(request);
      rest.push_back(found ? NC_REQ_NULL : ids[i]);
    }
    pending.drop(own);
  }
  int* const others = rest.empty() ? ids : rest.data();
  const int error = file->native().with_native_ids(
      count, others, [&](int* native_ids) { return native(native_ids, statuses); });
  std::copy(rest.begin(), rest.end(), ids);
  return error;
} catch (...) {
  return code_of_exception();
}

int close(int ncid, FunctionRef<int()> native) {
  NetcdfFile* const file = open_file(ncid);
  if (!file) {
    const int error = native();
    forget(ncid);
    return error;
  }
  // PnetCDF has its own words for requests that nobody waited for.
  file->hand_over();
  try {
    if (file->report().wanted) file->report().print(file->group().comm(), file->name());
  } catch (const std::bad_alloc&) {  // no line
  }
  const int own = file->close();
  const int error = native();
  forget(ncid);
  return error != NC_NOERR ? error : own;
}

}  // namespace slabmark::dropin
