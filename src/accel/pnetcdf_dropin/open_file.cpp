#include "accel/pnetcdf_dropin/open_file.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "accel/pnetcdf_dropin/native.hpp"
#include "core/base/error.hpp"
#include "core/base/has_memory.hpp"
#include "core/base/number.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/mpiio/implementation.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::dropin {

namespace {

// PnetCDF counts its ids from 0 on: even ones put, odd ones get.
constexpr int first_id = 1 << 30;

// Where aggregators' ranges begin unless a stripe says otherwise.
constexpr std::uint64_t page = 4096;

// PnetCDF refuses larger requests, unless it was built for them.
constexpr std::uint64_t largest_request = std::numeric_limits<int>::max();

std::uint64_t number_in(const std::string& text, std::uint64_t otherwise) {
  try {
    return parse_size(text, "a hint");
  } catch (const InputError&) {
    return otherwise;  // libraries put words there, too
  }
}

std::uint64_t number_of(const std::map<std::string, std::string>& hints, const std::string& name,
                        std::uint64_t otherwise) {
  const auto found = hints.find(name);
  return found == hints.end() ? otherwise : number_in(found->second, otherwise);
}

std::uint64_t number_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? number_in(value, 0) : 0;
}

bool is_put_of(const Request& request, int variable) {
  return request.direction == Direction::put && request.variable == variable;
}

bool is_off(std::string_view word) { return word == "off" || word == "0" || word == "disable"; }

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value && !is_off(value);
}

// PnetCDF copies up to 4 KiB of what it must convert to the file's byte order. A copy of 16 KiB
// takes 0.5 us, as long as looking at larger memory twice; to move it takes 3.
constexpr std::uint64_t most_small = 16u << 10;

/// Some rank of this process has changed the memory of a pending put.
std::atomic<bool> copies_from_now_on = false;

/// What this file is to do. PnetCDF copies all that it must convert where it may not convert it in
/// the program's memory.
CopyPolicy copy_policy(const std::map<std::string, std::string>& in_effect) {
  const char* const set = std::getenv("SLABMARK_DROPIN_COPY");
  const std::string_view word = set ? set : "";
  if (word == "never") return CopyPolicy::never;
  const auto in_place = in_effect.find("nc_in_place_swap");
  const bool may_not = in_place != in_effect.end() && in_place->second == "disable";
  // A misspelled word must not give up what the user asked for, so it copies all.
  const bool is_default = word.empty() || word == "overlap";
  return is_default && !may_not ? CopyPolicy::overlap : CopyPolicy::always;
}

struct Files {
  std::mutex mutex;  // threads may each have files of their own
  std::unordered_map<int, std::unique_ptr<OpenFile>> by_id;
};

Files& files() {
  static auto& all = *new Files;
  return all;
}

void remember(int ncid, std::unique_ptr<OpenFile> file) {
  const std::lock_guard lock(files().mutex);
  files().by_id[ncid] = std::move(file);
}

}  // namespace

OpenFile* open_file(int ncid) {
  const std::lock_guard lock(files().mutex);
  const auto found = files().by_id.find(ncid);
  return found == files().by_id.end() ? nullptr : found->second.get();
}

void forget(int ncid) {
  std::unique_ptr<OpenFile> file;
  {
    const std::lock_guard lock(files().mutex);
    if (auto its = files().by_id.extract(ncid)) file = std::move(its.mapped());
  }
  if (!file) return;
  auto engine = file->shared_engine();
  file.reset();  // others go on meanwhile
  Engine::leave(std::move(engine));
}

void forget_open_files() { files().by_id.clear(); }

namespace {

/// What can be said of a file that PnetCDF has opened.
struct Opened {
  bool takes = false;  ///< this rank would
  std::map<std::string, std::string> hints, in_effect;

  Opened(MPI_Info info, int mode, int error, const int* ncid) {
    if (info != MPI_INFO_NULL) hints = mpiio::entries_of(info);
    // With NC_SHARE PnetCDF has the disk store each call.
    if (error != NC_NOERR || (mode & NC_SHARE) || is_off(hints["slabmark"])) return;
    const char* const value = std::getenv("SLABMARK_DROPIN");
    if (value && is_off(value)) return;
    int format = 0;
    if (SLABMARK_NATIVE(ncmpi_inq_format)(*ncid, &format) != NC_NOERR) return;
    takes = format == NC_FORMAT_CLASSIC || format == NC_FORMAT_CDF2 || format == NC_FORMAT_CDF5;
    MPI_Info used = MPI_INFO_NULL;
    if (!takes || SLABMARK_NATIVE(ncmpi_inq_file_info)(*ncid, &used) != NC_NOERR) return;
    in_effect = mpiio::entries_of(used);
    MPI_Info_free(&used);
    takes = in_effect["nc_burst_buf"] != "enable" && number_of(in_effect, "nc_num_subfiles", 0) < 2;
  }
};

// What is kept of a file before its first request, with room to spare.
constexpr std::uint64_t bytes_of_file = 64u << 10;

}  // namespace

void opened(MPI_Comm comm, const char* path, MPI_Info info, int mode, bool created, int error,
            const int* ncid) {
  int is_on = 0, between_groups = 1;
  MPI_Initialized(&is_on);
  if (!is_on || comm == MPI_COMM_NULL ||
      MPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) {
    return;
  }
  auto engine = Engine::of(comm);
  // Ranks that disagree would wait for each other for ever.
  // All must choose the same, also where the file system looks different to them.
  CopyPolicy copies = CopyPolicy::overlap;  // which is each rank's own
  enum { taken, reported, aggregators, node_ranks, stripes, alignment, unlocked, kept, numbers };
  std::uint64_t agreed[numbers] = {};
  try {
    const Opened here(info, mode, error, ncid);
    copies = copy_policy(here.in_effect);
    agreed[kept] = engine->may_be_kept();
    agreed[reported] = is_set("SLABMARK_REPORT");
    agreed[aggregators] = number_of(here.hints, "cb_nodes", 0);
    agreed[node_ranks] = number_of_variable("SLABMARK_DROPIN_NODE_RANKS");
    agreed[stripes] = std::max<std::uint64_t>(number_of(here.in_effect, "striping_factor", 1), 1);
    agreed[alignment] = std::max(number_of(here.in_effect, "striping_unit", page), page);
    agreed[unlocked] = here.takes && !posix::locks_file_to_write(path);
    agreed[taken] = here.takes && has_memory_for(bytes_of_file);
  } catch (const std::bad_alloc&) {  // not taken
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, agreed, numbers, MPI_UINT64_T, MPI_MIN, engine->comm.get()),
            "MPI_Allreduce");
  engine->keep(agreed[kept] != 0);
  if (!agreed[taken]) {
    Engine::leave(std::move(engine));
    return;
  }
  RearrangerSettings settings;
  settings.aggregators = agreed[aggregators];
  settings.node_ranks = agreed[node_ranks];
  settings.stripes = agreed[stripes];
  settings.writers = agreed[unlocked] ? 0 : 1;
  const std::string place = mpiio::absolute(path);
  const bool writes = created || (mode & NC_WRITE);
  remember(*ncid, std::make_unique<OpenFile>(
                      engine, OpenFile::Opening{*ncid, path, place, identity_of(place), writes,
                                                created, agreed[reported] != 0, settings,
                                                agreed[alignment], copies}));
}

OpenFile::OpenFile(std::shared_ptr<Engine> engine, Opening opening)
    : engine_(std::move(engine)),
      opening_(std::move(opening)),
      mode_(opening_.created ? Mode::define : Mode::collective) {
  report_.wanted = opening_.reports;
}

void OpenFile::enter(Mode mode) {
  if (mode_ == Mode::define) header_known_ = false;
  mode_ = mode;
}

void OpenFile::know_header() {
  if (header_known_) return;
  int count = 0;
  MPI_Offset record_size = 0;
  unlimited_dimension_ = -1;
  SLABMARK_NATIVE(ncmpi_inq_nvars)(opening_.ncid, &count);
  SLABMARK_NATIVE(ncmpi_inq_unlimdim)(opening_.ncid, &unlimited_dimension_);
  SLABMARK_NATIVE(ncmpi_inq_recsize)(opening_.ncid, &record_size);
  record_size_ = static_cast<std::uint64_t>(record_size);
  shapes_.assign(static_cast<std::size_t>(std::max(count, 0)), std::nullopt);
  variables_.assign(shapes_.size(), std::nullopt);
  lengths_.clear();
  header_known_ = true;
}

const Shape* OpenFile::shape(int id) {
  know_header();
  if (id < 0 || static_cast<std::size_t>(id) >= shapes_.size()) return nullptr;
  auto& known = shapes_[static_cast<std::size_t>(id)];
  if (known) return &*known;
  int dims = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_varndims)(opening_.ncid, id, &dims) != NC_NOERR) return nullptr;
  std::vector<int> ids(static_cast<std::size_t>(dims) + 1);
  SLABMARK_NATIVE(ncmpi_inq_vardimid)(opening_.ncid, id, ids.data());
  ids.pop_back();
  Shape found;
  for (const int dimension : ids) {
    const bool of_records = dimension == unlimited_dimension_;
    found.lengths.push_back(of_records ? 0 : length_of(dimension));
    found.has_records |= of_records;
  }
  known = std::move(found);
  return &*known;
}

MPI_Offset OpenFile::length_of(int dimension) {
  const auto [found, is_new] = lengths_.try_emplace(dimension, 0);
  if (is_new) SLABMARK_NATIVE(ncmpi_inq_dimlen)(opening_.ncid, dimension, &found->second);
  return found->second;
}

const OpenFile::Variable* OpenFile::variable(int id) {
  const Shape* const its_shape = shape(id);
  if (!its_shape) return nullptr;
  auto& known = variables_[static_cast<std::size_t>(id)];
  if (known) return &*known;
  nc_type type = NC_NAT;
  MPI_Offset offset = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_vartype)(opening_.ncid, id, &type) != NC_NOERR ||
      SLABMARK_NATIVE(ncmpi_inq_varoffset)(opening_.ncid, id, &offset) != NC_NOERR) {
    return nullptr;
  }
  known = {is_classic(type) ? std::optional(type) : std::nullopt, *its_shape,
           static_cast<std::uint64_t>(offset)};
  return &*known;
}

std::uint64_t OpenFile::most_pieces(const Call& call) {
  constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
  const Access& access = call.access;
  if (access.kind == Access::Kind::var1) return 1;
  const Shape* const its = shape(call.variable);
  if (!its || !access.count || access.stride || access.kind == Access::Kind::varn) return unknown;
  std::uint64_t pieces = 1;
  bool in_one = true;  // the dimensions behind
  for (std::size_t d = its->lengths.size(); d-- > 0 && pieces < unknown / largest_request;) {
    const MPI_Offset count = access.count[d];
    if (count < 0 || count > static_cast<MPI_Offset>(largest_request)) return unknown;
    const bool of_records = d == 0 && its->has_records;
    if (!in_one || of_records) pieces *= static_cast<std::uint64_t>(count);
    in_one = in_one && count == its->lengths[d];
  }
  return pieces;
}

std::uint64_t OpenFile::records() {
  know_header();
  MPI_Offset records = 0;
  if (unlimited_dimension_ >= 0) {
    SLABMARK_NATIVE(ncmpi_inq_dimlen)(opening_.ncid, unlimited_dimension_, &records);
  }
  return static_cast<std::uint64_t>(records);
}

OpenFile::Taken OpenFile::take(const Call& call) {
  const bool puts = call.direction == Direction::put;
  const Variable* const variable = this->variable(call.variable);
  if (!variable || !variable->type || (puts && !opening_.writable)) return {};
  const bool needs_records =
      variable->shape.has_records && (!puts || call.access.kind == Access::Kind::var);
  const auto found = engine_->geometries.find(
      variable->shape, call.access, needs_records ? static_cast<MPI_Offset>(records()) : 0, puts,
      largest_request / size_of(*variable->type));
  if (!found.valid) return {};
  if (!found.geometry) {
    // Also of nothing, text is no number.
    const auto nothing = UserMemory::of(call.memory, *variable->type, 0, found.counts, nullptr);
    return {nothing.has_value(), nullptr};
  }
  auto request = std::make_unique<Request>();
  request->direction = call.direction;
  request->buffered = call.buffered;
  request->variable = call.variable;
  request->geometry = found.geometry;
  request->first_record = found.first_record;
  request->end_record = found.end_record;
  request->type = *variable->type;
  request->memory = UserMemory::of(call.memory, request->type, found.geometry->elements(),
                                   found.counts, call.access.imap);
  if (!request->memory) return {};
  if (!puts && !always_fits(request->type, request->memory->type())) return {};
  if (!request->memory->is_plain() || call.buffered) {
    request->packed = std::make_unique_for_overwrite<std::byte[]>(request->bytes());
    if (puts && !request->memory->pack(request->packed.get())) {
      return {false, nullptr, !call.buffered};
    }
  }
  return {true, std::move(request)};
}

void OpenFile::copy(Request& request) {
  request.packed = std::make_unique_for_overwrite<std::byte[]>(request.bytes());
  request.memory->pack(request.packed.get());
}

// Programs use one buffer for put after put, and PnetCDF lets that pass where it copies. Once one
// did, each put of the file is copied. Last of all the request is entered among those in place: it
// is not there where this throws.
void OpenFile::keep_apart(Request& request) {
  if (opening_.copies == CopyPolicy::never) return;
  const auto [begin, end] = request.memory->range();
  // No two of them have memory in common, so their ends ascend, too.
  auto next = in_place_.upper_bound(begin);
  if (next != in_place_.begin()) --next;
  while (next != in_place_.end() && std::less()(next->first, end)) {
    Request& pending = *next->second;
    if (!std::less()(begin, pending.memory->range().second)) {
      ++next;
      continue;
    }
    check_memory({&pending});
    copy(pending);
    held_bytes_ += pending.bytes();
    next = in_place_.erase(next);
    opening_.copies = CopyPolicy::always;
  }
  if (request.direction == Direction::get || request.packed) return;
  if (opening_.copies == CopyPolicy::always || copies_from_now_on ||
      request.bytes() <= most_small) {
    copy(request);
  } else {
    request.sample = request.memory->sample();
    in_place_.emplace(begin, &request);
  }
}

void OpenFile::check_memory(const std::vector<Request*>& puts) {
  for (const Request* put : puts) {
    const bool is_watched = !put->packed && opening_.copies != CopyPolicy::never;
    if (is_watched && put->memory->sample() != put->sample) changed_variable_ = put->variable;
  }
}

void OpenFile::copy_from_now_on(int variable) {
  changed_variable_ = none_changed;
  if (copies_from_now_on.exchange(true) || !engine_->comm.is_root()) return;
  char name[NC_MAX_NAME + 1] = "";
  SLABMARK_NATIVE(ncmpi_inq_varname)(opening_.ncid, variable, name);
  std::fprintf(
      stderr,
      "slabmark: %s: the memory of a put of '%s' was changed before ncmpi_wait_all, and the "
      "file holds what it was changed to. PnetCDF does not allow that; leave the memory "
      "alone until the wait, or set SLABMARK_DROPIN_COPY=always.\n",
      opening_.path.c_str(), name);
}

int OpenFile::post(std::unique_ptr<Request> request) {
  if (pending_.empty() && handed_over_.empty()) {
    next_id_ = 0;
    has_lost_ids_ = false;
  }
  request->id = first_id + 2 * next_id_++ + (request->direction == Direction::get ? 1 : 0);
  if (request->buffered) buffered_.push_back({request->id, request->bytes()});
  pending_.push_back(std::move(request));
  Request& its = *pending_.back();
  try {
    keep_apart(its);
  } catch (...) {
    pending_.pop_back();
    throw;
  }
  if (its.packed) held_bytes_ += its.bytes();
  return its.id;
}

int OpenFile::post_natively(const Call& call, bool alone, int* id,
                            const std::function<int(int*)>& native) {
  // The attached buffer holds what is pending here, too, as far as PnetCDF is to know.
  if (call.buffered && !buffered_.empty()) hand_over();
  const auto goes_before = [&](const auto& request) {
    return !alone || is_put_of(*request, call.variable);
  };
  int native_id = NC_REQ_NULL;
  int error = native(&native_id);
  if (native_id != NC_REQ_NULL && std::ranges::any_of(pending_, goes_before)) {
    SLABMARK_NATIVE(ncmpi_cancel)(opening_.ncid, 1, &native_id, static_cast<int*>(nullptr));
    hand_over(alone ? call.variable : every_variable);
    error = native(&native_id);
  }
  if (native_id != NC_REQ_NULL) mark_native(alone ? call.variable : every_variable);
  if (id) *id = native_id;
  return error;
}

// Without memory to know the variable by, all go the same way.
void OpenFile::mark_native(int variable) noexcept {
  try {
    if (variable != every_variable) native_variables_.insert(variable);
    native_pending_ |= variable == every_variable;
  } catch (...) {
    native_pending_ = true;
  }
}

int OpenFile::repost(const Request& request, int* id) {
  const auto boxes = request.geometry->boxes(request.first_record);
  const UserMemory& memory = *request.memory;
  MemoryArgument from = memory.argument();
  const MPI_Offset* imap = memory.imap();
  if (request.packed && request.direction == Direction::put) {
    from = {request.packed.get(), static_cast<MPI_Offset>(request.geometry->elements()),
            mpi_type_of(request.type)};
    imap = nullptr;
  }
  const int ncid = opening_.ncid;
  const int variable = request.variable;
  if (boxes.start_of.size() == 1) {
    const MPI_Offset* const stride = boxes.strides.empty() ? nullptr : boxes.strides.data();
    const auto* const start = boxes.starts.data();
    const auto* const count = boxes.counts.data();
    if (request.direction == Direction::get) {
      return SLABMARK_NATIVE(ncmpi_iget_varm)(ncid, variable, start, count, stride, imap,
                                              from.address, from.count, from.type, id);
    }
    if (request.buffered) {
      return SLABMARK_NATIVE(ncmpi_bput_varm)(ncid, variable, start, count, stride, imap,
                                              from.address, from.count, from.type, id);
    }
    return SLABMARK_NATIVE(ncmpi_iput_varm)(ncid, variable, start, count, stride, imap,
                                            from.address, from.count, from.type, id);
  }
  const int count = static_cast<int>(boxes.start_of.size());
  auto* const* const starts = boxes.start_of.data();
  auto* const* const counts = boxes.count_of.data();
  if (request.direction == Direction::get) {
    return SLABMARK_NATIVE(ncmpi_iget_varn)(ncid, variable, count, starts, counts, from.address,
                                            from.count, from.type, id);
  }
  if (request.buffered) {
    return SLABMARK_NATIVE(ncmpi_bput_varn)(ncid, variable, count, starts, counts, from.address,
                                            from.count, from.type, id);
  }
  return SLABMARK_NATIVE(ncmpi_iput_varn)(ncid, variable, count, starts, counts, from.address,
                                          from.count, from.type, id);
}

// Where a bput is among them all go: of two parties with parts of a buffer none knows when which
// part is free again.
void OpenFile::hand_over(int puts_of) noexcept {
  const auto is_bput = [&](const auto& request) {
    return is_put_of(*request, puts_of) && request->buffered;
  };
  if (std::ranges::any_of(pending_, is_bput)) puts_of = every_variable;
  for (auto& request : pending_) {
    if (puts_of != every_variable && !is_put_of(*request, puts_of)) continue;
    release(*request);
    std::erase_if(buffered_, [&](const Buffered& one) { return one.id == request->id; });
    try {
      HandedOver& its = handed_over_[request->id];
      its.error = repost(*request, &its.native_id);
      its.request = std::move(request);  // PnetCDF may write from the copy
    } catch (...) {
      lost_ = NC_ENOMEM;
      has_lost_ids_ = true;
      request.reset();
    }
    mark_native(puts_of);
  }
  std::erase(pending_, nullptr);
  free_buffered();
}

bool OpenFile::is_with_pnetcdf(int id) const { return id < first_id || handed_over_.contains(id); }

int OpenFile::wait_natively(int count, int* ids, int* statuses) {
  const auto native = [&](int* native_ids) {
    return SLABMARK_NATIVE(ncmpi_wait_all)(opening_.ncid, count, native_ids, statuses);
  };
  return with_native_ids(count, ids, std::cref(native));
}

std::uint64_t OpenFile::buffered_bytes() const {
  std::uint64_t bytes = 0;
  for (const Buffered& one : buffered_) bytes += one.bytes;
  return bytes;
}

// In the attached buffer, which is PnetCDF's, and holds only what PnetCDF put there.
bool OpenFile::has_buffer_for(const Request& request) const {
  MPI_Offset size = 0, used = 0;
  return SLABMARK_NATIVE(ncmpi_inq_buffer_size)(opening_.ncid, &size) == NC_NOERR &&
         SLABMARK_NATIVE(ncmpi_inq_buffer_usage)(opening_.ncid, &used) == NC_NOERR &&
         static_cast<std::uint64_t>(used) + buffered_bytes() + request.bytes() <=
             static_cast<std::uint64_t>(size);
}

std::vector<Request*> OpenFile::pending_of(int kind) const {
  std::vector<Request*> found;
  for (const auto& request : pending_) {
    if (request->is_of(kind)) found.push_back(request.get());
  }
  return found;
}

// Ids ascend in the list.
Request* OpenFile::pending(int id) const {
  const auto found = std::lower_bound(
      pending_.begin(), pending_.end(), id / 2,
      [](const std::unique_ptr<Request>& request, int half) { return request->id / 2 < half; });
  return found != pending_.end() && (*found)->id == id ? found->get() : nullptr;
}

void OpenFile::drop(const std::vector<Request*>& requests) {
  for (Request* request : requests) request->id = NC_REQ_NULL;
  drop_done();
}

void OpenFile::drop(int count, const int* ids) {
  for (const auto& request : pending_) {
    const bool is_named = count < 0
                              ? request->is_of(count)
                              : ids && std::find(ids, ids + count, request->id) != ids + count;
    if (is_named) request->id = NC_REQ_NULL;
  }
  drop_done();
}

void OpenFile::drop_done() {
  std::erase_if(pending_, [&](const auto& request) {
    const bool is_done = request->id == NC_REQ_NULL;
    if (is_done) release(*request);
    return is_done;
  });
  free_buffered();
}

void OpenFile::free_buffered() {
  while (!buffered_.empty() && !pending(buffered_.back().id)) buffered_.pop_back();
}

/// Of one that will not be pending any more.
void OpenFile::release(const Request& request) {
  if (request.packed) {
    held_bytes_ -= request.bytes();
  } else if (request.direction == Direction::put) {
    in_place_.erase(request.memory->address());
  }
}

int OpenFile::with_native_ids(int count, int* ids, const std::function<int(int*)>& call) {
  const int lost = std::exchange(lost_, NC_NOERR);
  int refused = NC_NOERR;
  for (int i = 0; ids && i < count; ++i) {
    const auto found = handed_over_.find(ids[i]);
    if (found == handed_over_.end()) {
      // PnetCDF would refuse the call for it, in which other ranks wait for this one.
      if (has_lost_ids_ && ids[i] >= first_id) ids[i] = NC_REQ_NULL;
      continue;
    }
    HandedOver& its = found->second;
    its.place = i;
    ids[i] = its.native_id;
    if (refused == NC_NOERR) refused = its.error;
  }
  const int error = call(ids);
  for (auto its = handed_over_.begin(); its != handed_over_.end();) {
    const int place = std::exchange(its->second.place, -1);
    const bool is_done = place >= 0 && ids[place] == NC_REQ_NULL;
    if (place >= 0 && !is_done) ids[place] = its->first;
    its = is_done ? handed_over_.erase(its) : std::next(its);
  }
  int left = 0;
  SLABMARK_NATIVE(ncmpi_inq_nreqs)(opening_.ncid, &left);
  if (left == 0) {
    native_pending_ = false;
    native_variables_.clear();
    handed_over_.clear();  // until now PnetCDF may have needed their memory
  }
  if (lost != NC_NOERR) return lost;
  return error == NC_NOERR ? refused : error;
}

ArrayPlace OpenFile::place_of(ArrayName array) {
  const Variable& its = *variable(static_cast<int>(array.variable));
  const auto record = array.record == ArrayName::no_record ? 0 : array.record;
  return {its.offset + static_cast<std::uint64_t>(record) * record_size_, size_of(*its.type),
          its.shape.elements()};
}

// Variables begin at multiples of 4, but records of a single variable stand close together.
std::uint64_t OpenFile::padding() {
  know_header();
  return record_size_ % 4 == 0 ? 3 : 0;
}

bool OpenFile::is_prepared() const {
  if (!engine_->is_prepared(opening_.settings)) return false;
  const auto& aggregators = engine_->rearranger->aggregators();
  return data_.is_open() ||
         std::ranges::find(aggregators, engine_->comm.rank()) == aggregators.end();
}

int OpenFile::sync() {
  const DataFile::InUse now(data_);
  return data_.sync();
}

int OpenFile::close() {
  const DataFile::InUse now(data_);
  return data_.close();
}

// Others wait to hear of it, so nothing may be thrown.
bool OpenFile::prepare_here() try {
  if (is_prepared()) return true;
  if (!engine_->is_prepared(opening_.settings)) return false;
  // While it leads there the program's own name is taken, which may be much shorter.
  const bool leads_there = identity_of(opening_.path) == opening_.identity;
  const std::string& name = leads_there ? opening_.path : opening_.place;
  mpiio::require_length_for_mpi_io(name);
  return data_.open(name, opening_.identity, opening_.writable) == NC_NOERR;
} catch (...) {
  return false;
}

bool OpenFile::prepare() {
  if (no_data_file_) return false;
  engine_->prepare(opening_.settings);
  no_data_file_ = engine_->comm.any(!prepare_here());
  return !no_data_file_;
}

// PnetCDF enters the number of records into the header, on all ranks, when one is written: one
// element does. It is one of those that this wait writes anyway, since all others of the record may
// hold what was written through another handle of the file; and of one rank, since PnetCDF may read
// and write again what lies between elements of several. A wait enters the number also where
// writing fails, so that lower records that could be written are there.
int OpenFile::grow(const Request* last) {
  int id = NC_REQ_NULL, refused = NC_NOERR, status = NC_NOERR;
  if (last) {
    const auto& parts = last->geometry->parts();
    const Geometry::Part& part = parts.back();
    const Piece& piece = part.pieces.front();
    const auto& lengths = variable(last->variable)->shape.lengths;
    std::vector<MPI_Offset> index(lengths.size());
    MPI_Offset element = static_cast<MPI_Offset>(piece.file);
    for (std::size_t d = lengths.size(); d-- > 1; element /= lengths[d]) {
      index[d] = element % lengths[d];
    }
    index[0] = static_cast<MPI_Offset>(last->first_record + part.record);
    const std::byte* const value = last->posted().data + piece.buffer * size_of(last->type);
    refused = SLABMARK_NATIVE(ncmpi_iput_var1)(opening_.ncid, last->variable, index.data(), value,
                                               1, mpi_type_of(last->type), &id);
  }
  const int error =
      SLABMARK_NATIVE(ncmpi_wait_all)(opening_.ncid, id == NC_REQ_NULL ? 0 : 1, &id, &status);
  const int worst = std::min({refused, error, status});
  if (last && worst == NC_NOERR) counted_twice_ += size_of(last->type);
  return worst;
}

}  // namespace slabmark::dropin
