#include "accel/pnetcdf_dropin/transfer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <set>

#include "core/base/has_memory.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark::dropin {

namespace {

// A blocking call is taken where some rank's request falls into so many pieces: fewer are no work
// for PnetCDF.
constexpr std::int64_t worth_a_plan = 32;
constexpr const char* few_pieces = "few pieces";

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

// Memory of a call beside its plan, for each request and for all.
constexpr std::uint64_t bytes_of_call = 1u << 20;
constexpr std::uint64_t bytes_of_request = 256;

/// State of all ranks that each must know, by one reduction to the largest of each number.
struct AgreedState {
  struct Shift {
    std::int64_t highest = -largest, minus_lowest = -largest;
  };
  using Shifts = std::array<Shift, RankGroup::most_plans>;

  std::int64_t no_memory = 0, passes_through = 0, puts = 0, gets = 0, native_puts = 0, last_put = 0,
               pieces = 0, missed = 0, unprepared = 0, changed_variable = PutMemory::none_changed;
  std::int64_t minus_records = -largest;  ///< that PnetCDF has
  Shifts put_shifts, get_shifts;          ///< of each plan that is kept

  /// The end of the records that a rank puts; of several ranks that put as many, the lowest has the
  /// largest number.
  static constexpr std::int64_t ranks = std::int64_t{1} << 31;
  void puts_up_to(std::uint64_t end_record, int rank) {
    last_put = std::max(last_put, static_cast<std::int64_t>(end_record) * ranks + ranks - 1 - rank);
  }
  std::uint64_t end_record() const { return static_cast<std::uint64_t>(last_put / ranks); }
  bool is_of(int rank) const { return last_put % ranks == ranks - 1 - rank; }
  bool grows() const { return end_record() > static_cast<std::uint64_t>(-minus_records); }

  void agree(const Comm& comm) {
    static_assert(sizeof *this % sizeof(std::int64_t) == 0);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, this, sizeof *this / sizeof(std::int64_t), MPI_INT64_T,
                            MPI_MAX, comm.get()),
              "MPI_Allreduce");
  }
};

/// The puts or the gets of a call, and the plans that are kept for such.
class DirectionBatch {
 public:
  DirectionBatch(const std::vector<Request*>& requests, PlanCache& plans,
                 AgreedState::Shifts& shifts)
      : requests_(requests), plans_(plans), shifts_(shifts) {}

  const std::vector<Posted>& posted() const { return posted_; }
  std::vector<std::byte*> memory() const {
    std::vector<std::byte*> all;
    for (const Posted& one : posted_) all.push_back(one.data);
    return all;
  }
  PlanCache& plans() const { return plans_; }

  /// Says of each plan by how many records this rank's requests are further on.
  void propose() {
    for (const Request* request : requests_) posted_.push_back(request->posted());
    const RequestKey key(posted_);
    std::size_t i = 0;
    for (const auto& plan : plans_) {
      const std::int64_t shift = plan.key.shift_of(key);
      if (shift == PlannedRequests::none()) {
        shifts_[i] = {largest, largest};
      } else if (shift != PlannedRequests::any()) {
        shifts_[i] = {shift, -shift};
      }
      ++i;
    }
  }

  /// Makes the plan that serves all ranks the latest one.
  void choose() {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const auto [highest, minus_lowest] = shifts_[i];
      const bool any = highest == -largest && minus_lowest == -largest;
      if (!any && highest != -minus_lowest) continue;
      plans_.use(i);
      shift_ = any ? 0 : highest;
      return;
    }
  }

  /// Records by which the requests of all ranks lie further on than the latest plan; none() where
  /// no plan serves. The group drops its plans where it is prepared for other settings.
  std::int64_t shift() const { return plans_.empty() ? PlannedRequests::none() : shift_; }

  std::uint64_t distinct_pieces() const {
    std::set<const Geometry*> geometries;
    std::uint64_t pieces = 0;
    for (const Posted& one : posted_) {
      if (geometries.insert(one.geometry.get()).second) pieces += one.geometry->pieces();
    }
    return pieces;
  }

 private:
  const std::vector<Request*>& requests_;
  std::vector<Posted> posted_;
  PlanCache& plans_;
  AgreedState::Shifts& shifts_;
  std::int64_t shift_ = PlannedRequests::none();
};

/// Moves the requests of a direction by a plan.
class Mover {
 public:
  explicit Mover(NetcdfFile& file) : file_(file), group_(file.group()) {}

  /// Collective. Returns the error code of this rank.
  int move(DirectionBatch& batch, bool puts) {
    FileDomain domain;
    if (!use_again(batch, domain)) {
      const int error = make_plan(batch, puts, domain);
      if (error != NC_NOERR) return error;
    }
    const collective::Plan& plan = batch.plans().latest().plan;
    std::vector<std::byte*> memory, buffers;
    std::vector<std::byte> staging;
    bool no_memory = false;
    try {
      memory = batch.memory();
      buffers = plan.buffers(memory, staging);
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
    if (plan.some_rank_stages() && group_.comm().any(no_memory)) return NC_ENOMEM;
    const int error =
        move({domain, plan.flush(), buffers, puts, std::endian::native == std::endian::little});
    if (error == NC_NOERR && !puts) plan.distribute(memory, staging);
    file_.count_moved(puts, plan.distinct_bytes());
    return error;
  }

 private:
  /// True if the plan that was chosen serves, wherever the arrays lie now.
  bool use_again(const DirectionBatch& batch, FileDomain& domain) {
    if (batch.shift() == PlannedRequests::none()) return false;
    const PlanCache::Entry& latest = batch.plans().latest();
    const auto places = latest.key.places(batch.shift(), place_of_);
    domain = FileDomain(places, file_.locator().padding());
    if (!latest.plan.lies_alike(domain, places)) return false;
    ++file_.report().plans_used_again;
    return true;
  }

  /// Collective. Returns the same error code on all ranks.
  int make_plan(DirectionBatch& batch, bool puts, FileDomain& domain) {
    Report& report = file_.report();
    const Stopwatch watch(report.plan_seconds);
    const Comm& comm = group_.comm();
    const auto& aggregators = group_.context.rearranger().aggregators();
    if (!have_memory_to_plan(comm, batch.distinct_pieces(), aggregators)) return NC_ENOMEM;
    batch.plans().drop_oldest_if_full();
    PlannedRequests requests(comm, batch.posted());
    const auto places = requests.places(0, place_of_);
    domain = FileDomain(places, file_.locator().padding());
    using collective::Overlaps;
    collective::Plan plan(comm, domain, requests.items(batch.posted(), domain, places),
                          {aggregators, file_.alignment()},
                          {puts, puts ? Overlaps::last_wins : Overlaps::allowed});
    ++report.plans_made;
    report.plan_bytes = std::max(report.plan_bytes, plan.memory() + requests.memory());
    batch.plans().add(std::move(requests), std::move(plan));
    return NC_NOERR;
  }

  int move(const collective::File::Transfer& transfer) {
    const int default_code = transfer.writing ? NC_EWRITE : NC_EREAD;
    try {
      file_.report().tally += file_.data().file().move(group_.context, transfer);
      return NC_NOERR;
    } catch (const mpiio::Failure& failure) {
      return code_of(failure, default_code);
    } catch (const std::bad_alloc&) {
      return NC_ENOMEM;
    } catch (const std::exception&) {
      return default_code;
    }
  }

  NetcdfFile& file_;
  RankGroup& group_;
  const PlaceOf place_of_ = [this](ArrayName array) { return file_.place_of(array); };
};

/// True if the next call is one that no rank asks the others about. All are asked about in a file
/// with a variable that is larger than PnetCDF moves at once: any rank may bring such a request.
bool may_pass_unasked(NetcdfFile& file) {
  constexpr std::uint64_t largest_element = 8;
  return file.group().backoff.is_next() &&
         file.locator().most_elements() <= largest_native_request / largest_element;
}

/// One collective call, from what this rank brings to the same outcome on all ranks.
class Transfer {
 public:
  Transfer(NetcdfFile& file, const LocalRequests& local)
      : file_(file),
        group_(file.group()),
        local_(local),
        puts_(local.puts, group_.put_plans, agreed_.put_shifts),
        gets_(local.gets, group_.get_plans, agreed_.get_shifts) {}

  Outcome run() {
    agreed_.pieces = pieces();
    const bool is_work = agreed_.pieces >= worth_a_plan && !local_.unsupported_reason;
    if (local_.blocking && may_pass_unasked(file_) && group_.backoff.next(is_work)) {
      return pass_through(few_pieces);
    }
    const DataFile::InUse now(file_.data());
    propose(is_work);
    agreed_.agree(group_.comm());
    if (agreed_.changed_variable != PutMemory::none_changed) {
      file_.copy_from_now_on(static_cast<int>(agreed_.changed_variable));
    }
    if (const auto outcome = settle()) return *outcome;
    const int error = std::min(move(), earlier_);
    count();
    return {false, error};
  }

 private:
  /// Pieces that PnetCDF would have to move. It refuses what is too large, so that is work for a
  /// plan however few pieces it has.
  std::int64_t pieces() const {
    std::uint64_t sum = 0, bytes = 0;
    for (const auto* requests : {&local_.puts, &local_.gets}) {
      for (const Request* request : *requests) {
        sum += request->geometry->pieces();
        bytes += request->bytes();
      }
    }
    const auto all = static_cast<std::int64_t>(sum);
    return bytes > largest_native_request ? std::max(all, worth_a_plan) : all;
  }

  Outcome pass_through(const char* reason) {
    file_.report().count_native(local_.unsupported_reason ? local_.unsupported_reason : reason);
    return {true, NC_NOERR};
  }

  /// Fills in what this rank says.
  void propose(bool is_work) {
    agreed_.missed = group_.backoff.missed();
    // A file that is opened now takes no agreement of its own.
    const bool expects_plan = !local_.unsupported_reason && (!local_.blocking || is_work);
    agreed_.unprepared = expects_plan ? !file_.prepare_here() : !file_.is_prepared();
    agreed_.no_memory = local_.no_memory ? 1 : 0;
    agreed_.passes_through = local_.unsupported_reason ? 1 : 0;
    agreed_.puts = !local_.puts.empty();
    agreed_.gets = !local_.gets.empty();
    agreed_.native_puts = local_.native_puts;
    try {
      for (const Request* request : local_.puts) {
        agreed_.puts_up_to(request->end_record, group_.comm().rank());
      }
      agreed_.minus_records = -static_cast<std::int64_t>(file_.locator().records());
      agreed_.changed_variable = file_.pending().memory().changed_variable();
      puts_.propose();
      gets_.propose();
      const std::size_t requests = local_.puts.size() + local_.gets.size();
      if (!has_memory_for(bytes_of_call + requests * bytes_of_request)) throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
      agreed_.no_memory = 1;
    }
  }

  /// Collective: the outcome of a call that moves nothing by a plan; empty where all is ready to be
  /// moved.
  std::optional<Outcome> settle() {
    if (agreed_.passes_through) {  // also without memory: requests of PnetCDF would stay pending
      hear(true);
      return pass_through("as another rank asked for");
    }
    if (agreed_.no_memory || (!agreed_.puts && !agreed_.gets)) {
      put_in_pnetcdf();
      return Outcome{false, agreed_.no_memory ? NC_ENOMEM : earlier_};
    }
    if (agreed_.puts) puts_.choose();
    if (agreed_.gets) gets_.choose();
    const bool has_plan = (!agreed_.puts || puts_.shift() != PlannedRequests::none()) &&
                          (!agreed_.gets || gets_.shift() != PlannedRequests::none());
    const bool passes = local_.blocking && !has_plan && agreed_.pieces < worth_a_plan;
    hear(passes);
    if (passes) return pass_through(few_pieces);
    if (agreed_.unprepared && !file_.prepare()) {
      return pass_through("the file cannot be opened a second time");
    }
    put_in_pnetcdf();
    return std::nullopt;
  }

  void hear(bool passes_through) {
    if (local_.blocking) group_.backoff.heard(passes_through, agreed_.missed);
  }

  // Before what goes by plan: what PnetCDF reads around its elements and writes again is in the
  // file then, and gets find all puts.
  void put_in_pnetcdf() {
    if (!agreed_.native_puts) return;
    earlier_ = file_.settle();
    local_.wait_in_pnetcdf();
    group_.comm().barrier();
    file_.report().count_native("values out of range, with the puts of their variables alone");
  }

  /// Collective: puts before gets. Returns the same error code on all ranks.
  int move() {
    const Stopwatch watch(file_.report().seconds);
    Mover mover(file_);
    int error = NC_NOERR;
    if (agreed_.puts) {
      // Now all ranks are here, so what they wrote before is there. A rank that has gone on may
      // write already and bring the end further on: then holes are left alone that might have been
      // written.
      file_.data().note_end();
      if (agreed_.grows()) error = grow();
      const int failure = mover.move(puts_, true);
      // Nobody reads before all have written.
      const int earlier = file_.data().failed_write();
      error = lowest_code(group_.comm(), std::min({error, failure, earlier}));
    }
    if (agreed_.gets) {
      error = std::min(error, lowest_code(group_.comm(), mover.move(gets_, false)));
    }
    return error;
  }

  int grow() {
    const auto is_last = [&](const Request* put) {
      return put->end_record == agreed_.end_record();
    };
    const int error =
        file_.grow(agreed_.is_of(group_.comm().rank()) ? *std::ranges::find_if(local_.puts, is_last)
                                                       : nullptr);
    // Its element must be in the file before it is written over. On one node no aggregator writes
    // before all ranks have come to the exchange.
    if (group_.context.rearranger().nodes() > 1) group_.comm().barrier();
    return error;
  }

  void count() {
    Report& report = file_.report();
    ++report.waits;
    report.put_requests += local_.puts.size();
    report.get_requests += local_.gets.size();
    for (const Request* request : local_.puts) report.put_bytes += request->bytes();
    for (const Request* request : local_.gets) report.get_bytes += request->bytes();
  }

  NetcdfFile& file_;
  RankGroup& group_;
  const LocalRequests& local_;
  AgreedState agreed_;
  int earlier_ = NC_NOERR;  ///< the code of an earlier write that failed while the program went on
  DirectionBatch puts_, gets_;
};

}  // namespace

Outcome transfer(NetcdfFile& file, const LocalRequests& local) {
  return Transfer(file, local).run();
}

bool passes_unasked(NetcdfFile& file, std::uint64_t most_pieces) {
  if (most_pieces >= worth_a_plan || !may_pass_unasked(file)) return false;
  file.report().count_native(few_pieces);
  return file.group().backoff.next(false);
}

}  // namespace slabmark::dropin
