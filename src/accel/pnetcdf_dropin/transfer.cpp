#include "accel/pnetcdf_dropin/transfer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <new>
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

// What a call needs beside a plan, and a plan beside what grows with the pieces.
constexpr std::uint64_t bytes_of_call = 1u << 20;
constexpr std::uint64_t bytes_of_request = 256;

/// What all ranks must know of each other, by one reduction to the largest of each.
struct Common {
  struct Shift {
    std::int64_t highest = -largest, minus_lowest = -largest;
  };
  using Shifts = std::array<Shift, Engine::most_plans>;

  std::int64_t no_memory = 0, native = 0, puts = 0, gets = 0, native_puts = 0, last_put = 0,
               pieces = 0, missed = 0, unprepared = 0, changed_variable = OpenFile::none_changed;
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

  void agree(const Comm& comm) {
    static_assert(sizeof *this % sizeof(std::int64_t) == 0);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, this, sizeof *this / sizeof(std::int64_t), MPI_INT64_T,
                            MPI_MAX, comm.get()),
              "MPI_Allreduce");
  }
};

/// The requests of one direction.
struct OneWay {
  std::vector<Posted> posted;
  Engine::Plans& plans;
  Common::Shifts& shifts;
};

std::vector<Posted> posted(const std::vector<Request*>& requests) {
  std::vector<Posted> all;
  for (const Request* request : requests) all.push_back(request->posted());
  return all;
}

void say_shifts(OneWay& side) {
  const RequestKey key(side.posted);
  std::size_t i = 0;
  for (const auto& plan : side.plans) {
    const std::int64_t shift = plan->shift_of(key);
    if (shift == RequestPlan::none()) {
      side.shifts[i] = {largest, largest};
    } else if (shift != RequestPlan::any()) {
      side.shifts[i] = {shift, -shift};
    }
    ++i;
  }
}

/// Brings the plan that serves all ranks to the front, and returns by how many records requests
/// are further on now; none() where no plan serves.
std::int64_t bring_fitting_to_front(OneWay& side) {
  std::size_t i = 0;
  for (auto plan = side.plans.begin(); plan != side.plans.end(); ++plan, ++i) {
    const auto [highest, minus_lowest] = side.shifts[i];
    const bool any = highest == -largest && minus_lowest == -largest;
    if (!any && highest != -minus_lowest) continue;
    side.plans.splice(side.plans.begin(), side.plans, plan);
    return any ? 0 : highest;
  }
  return RequestPlan::none();
}

class Transfer {
 public:
  explicit Transfer(OpenFile& file) : file_(file), engine_(file.engine()) {}

  /// Collective. Returns the error code of this rank.
  int move(OneWay& side, bool puts, std::int64_t shift) {
    FileDomain domain;
    std::vector<ArrayName> arrays;
    if (!use_again(side, shift, arrays, domain)) {
      const int error = make_plan(side, puts, arrays, domain);
      if (error != NC_NOERR) return error;
    }
    const RequestPlan& plan = *side.plans.front();
    std::vector<std::byte> staging;
    std::vector<std::byte*> buffers;
    bool no_memory = false;
    try {
      buffers = plan.buffers(side.posted, domain, staging);
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
    if (plan.some_rank_stages() && engine_.comm.any(no_memory)) return NC_ENOMEM;
    // Only aggregators know, and ask: each of its own range.
    std::vector<bool> fresh;
    for (const FileDomain::Array& array : domain.arrays()) {
      fresh.push_back(!puts || file_.data().is_untouched(array.place.offset));
    }
    const int error = access(
        {domain, plan.flush(), buffers, fresh, std::endian::native == std::endian::little}, puts);
    if (error == NC_NOERR && !puts) plan.distribute(side.posted, domain, staging);
    file_.count_moved(puts, plan.distinct_bytes());
    return error;
  }

  /// Collective: the code of the rank that has the lowest; codes are negative.
  int agreed(int code) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MIN, engine_.comm.get()),
              "MPI_Allreduce");
    return code;
  }

 private:
  /// Whether the latest plan serves, with requests so many records further on.
  bool use_again(const OneWay& side, std::int64_t shift, std::vector<ArrayName>& arrays,
                 FileDomain& domain) {
    if (shift == RequestPlan::none()) return false;
    arrays = side.plans.front()->arrays(shift);
    const bool serves = side.plans.front()->place(arrays, place_of_, file_.padding(), domain);
    if (serves) ++file_.report().plans_used_again;
    return serves;
  }

  /// Collective. Returns the same error code on all ranks.
  int make_plan(OneWay& side, bool puts, std::vector<ArrayName>& arrays, FileDomain& domain) {
    Report& report = file_.report();
    const Stopwatch watch(report.plan_seconds);
    const auto& aggregators = engine_.rearranger->aggregators();
    if (!have_memory_to_plan(engine_.comm, pieces_of(side), aggregators)) return NC_ENOMEM;
    if (side.plans.size() == Engine::most_plans) side.plans.pop_back();
    side.plans.push_front(std::make_unique<RequestPlan>(
        engine_.comm, side.posted, puts, place_of_,
        RequestPlan::Aggregation{aggregators, file_.alignment(), file_.padding()}));
    arrays = side.plans.front()->arrays(0);
    side.plans.front()->place(arrays, place_of_, file_.padding(), domain);
    ++report.plans_made;
    report.plan_bytes = std::max(report.plan_bytes, side.plans.front()->memory());
    return NC_NOERR;
  }

  int access(const Rearranger::Flush& flush, bool puts) try {
    DataFile& data = file_.data();
    if (puts) {
      file_.report().tally += engine_.rearranger->write(
          flush, [&](std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
            data.write(offset, memory, bytes);
          });
    } else {
      file_.report().tally += engine_.rearranger->read(
          flush, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
            data.read(offset, memory, bytes);
          });
    }
    return NC_NOERR;
  } catch (const PnetcdfError& failure) {
    return failure.code;
  }

  static std::uint64_t pieces_of(const OneWay& side) {
    std::set<const Geometry*> geometries;
    std::uint64_t pieces = 0;
    for (const Posted& one : side.posted) {
      if (geometries.insert(one.geometry.get()).second) pieces += one.geometry->pieces();
    }
    return pieces;
  }

  OpenFile& file_;
  Engine& engine_;
  const RequestPlan::PlaceOf place_of_ = [this](ArrayName array) { return file_.place_of(array); };
};

std::int64_t pieces(const Brought& brought) {
  std::int64_t sum = 0;
  for (const auto* requests : {&brought.puts, &brought.gets}) {
    for (const Request* request : *requests) {
      sum += static_cast<std::int64_t>(request->geometry->pieces());
    }
  }
  return sum;
}

/// What this rank says of what it brings.
void say(OpenFile& file, const Brought& brought, OneWay& puts, OneWay& gets, Common& common) {
  puts.posted = posted(brought.puts);
  gets.posted = posted(brought.gets);
  for (const Request* request : brought.puts) {
    common.puts_up_to(request->end_record, file.engine().comm.rank());
  }
  common.minus_records = -static_cast<std::int64_t>(file.records());
  common.changed_variable = file.changed_variable();
  say_shifts(puts);
  say_shifts(gets);
  const std::size_t requests = brought.puts.size() + brought.gets.size();
  if (!has_memory_for(bytes_of_call + requests * bytes_of_request)) throw std::bad_alloc();
}

/// A side and by how many records a plan for it is to be used further on.
struct Shifted {
  OneWay& side;
  std::int64_t shift;
};

/// Collective: puts before gets. Returns the same error code on all ranks.
int move_all(OpenFile& file, const Brought& brought, const Common& common, const Shifted& puts,
             const Shifted& gets) {
  const Stopwatch watch(file.report().seconds);
  Transfer now(file);
  int error = NC_NOERR;
  if (common.puts) {
    const std::uint64_t end_record = common.end_record();
    if (end_record > static_cast<std::uint64_t>(-common.minus_records)) {
      const auto is_last = [&](const Request* put) { return put->end_record == end_record; };
      error = file.grow(common.is_of(file.engine().comm.rank())
                            ? *std::ranges::find_if(brought.puts, is_last)
                            : nullptr);
      // Its element must be in the file before it is written over.
      file.engine().comm.barrier();
    }
    const int failure = now.move(puts.side, true, puts.shift);
    // Nobody reads before all have written.
    error = now.agreed(std::min(error, failure));
  }
  if (common.gets) error = std::min(error, now.agreed(now.move(gets.side, false, gets.shift)));
  return error;
}

}  // namespace

Outcome transfer(OpenFile& file, const Brought& brought) {
  Engine& engine = file.engine();
  Report& report = file.report();
  const auto natively = [&](const char* reason) {
    report.count_native(brought.native_reason ? brought.native_reason : reason);
    return Outcome{true, NC_NOERR};
  };
  Common common;
  common.pieces = pieces(brought);
  const bool is_work = common.pieces >= worth_a_plan && !brought.native_reason;
  if (brought.blocking && engine.unasked.next(is_work)) return natively(few_pieces);
  common.missed = engine.unasked.missed();
  const DataFile::InUse now(file.data());
  // A file that is opened now takes no agreement of its own.
  const bool expects_plan = !brought.native_reason && (!brought.blocking || is_work);
  common.unprepared = expects_plan ? !file.prepare_here() : !file.is_prepared();
  OneWay puts{{}, engine.put_plans, common.put_shifts};
  OneWay gets{{}, engine.get_plans, common.get_shifts};
  common.no_memory = brought.no_memory ? 1 : 0;
  common.native = brought.native_reason ? 1 : 0;
  common.puts = !brought.puts.empty();
  common.gets = !brought.gets.empty();
  common.native_puts = brought.native_puts;
  try {
    say(file, brought, puts, gets, common);
  } catch (const std::bad_alloc&) {
    common.no_memory = 1;
  }
  common.agree(engine.comm);

  if (common.changed_variable != OpenFile::none_changed) {
    file.copy_from_now_on(static_cast<int>(common.changed_variable));
  }
  const auto heard = [&](bool was_left) {
    if (brought.blocking) engine.unasked.heard(was_left, common.missed);
  };
  if (common.native) {  // whatever memory there is: what PnetCDF has would stay pending
    heard(true);
    return natively("as another rank asked for");
  }
  // Before what goes by plan: what PnetCDF reads around its elements and writes again is in the
  // file then, and gets find all puts.
  const auto put_natively = [&] {
    if (!common.native_puts) return;
    brought.wait_natively();
    engine.comm.barrier();
    report.count_native("values out of range, with the puts of their variables alone");
  };
  if (common.no_memory || (!common.puts && !common.gets)) {
    put_natively();
    return {false, common.no_memory ? NC_ENOMEM : NC_NOERR};
  }
  const std::int64_t put_shift = common.puts ? bring_fitting_to_front(puts) : 0;
  const std::int64_t get_shift = common.gets ? bring_fitting_to_front(gets) : 0;
  const bool has_plan = put_shift != RequestPlan::none() && get_shift != RequestPlan::none();
  const bool is_left = brought.blocking && !has_plan && common.pieces < worth_a_plan;
  heard(is_left);
  if (is_left) return natively(few_pieces);
  if (common.unprepared && !file.prepare()) {
    return natively("the file cannot be opened a second time");
  }
  put_natively();

  // Now all ranks are here, so what they wrote before is there. A rank that has gone on may write
  // already and bring the end further on: then holes are left alone that might have been written.
  if (common.puts) file.data().note_end();

  // With other settings the engine has dropped its plans.
  const auto still = [](const OneWay& side, std::int64_t shift) {
    return side.plans.empty() ? RequestPlan::none() : shift;
  };
  const int error = move_all(file, brought, common, {puts, still(puts, put_shift)},
                             {gets, still(gets, get_shift)});
  ++report.waits;
  report.put_requests += brought.puts.size();
  report.get_requests += brought.gets.size();
  for (const Request* request : brought.puts) report.put_bytes += request->bytes();
  for (const Request* request : brought.gets) report.get_bytes += request->bytes();
  return {false, error};
}

bool goes_unasked(OpenFile& file, std::uint64_t most_pieces) {
  Unasked& unasked = file.engine().unasked;
  if (most_pieces >= worth_a_plan || !unasked.is_next()) return false;
  file.report().count_native(few_pieces);
  return unasked.next(false);
}

}  // namespace slabmark::dropin
