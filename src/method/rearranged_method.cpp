#include "method/rearranged_method.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "method/effective.hpp"
#include "parallel/agree.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;  // messages are counted in int

/// Bytes that file systems lock or cache as one, where no hint says more.
constexpr std::uint64_t page = 4096;

std::uint64_t window_of(const Settings& settings, const std::string& name) {
  if (settings.text(name, "auto") == "auto") return 0;
  const std::uint64_t bytes = settings.count(name, 0);
  if (bytes < 64 || bytes > largest_window) {
    throw InputError(
        fmt::format("Option {} is {}; it takes auto or 64 to 1G.", name, settings.text(name, "")));
  }
  return bytes;
}

void broadcast_numbers(const Comm& comm, std::vector<std::uint64_t>& numbers) {
  numbers.resize(comm.broadcast(static_cast<std::uint64_t>(numbers.size())));
  check_mpi(
      MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, 0, comm.get()),
      "MPI_Bcast");
}

}  // namespace

std::vector<OptionInfo> rearranged_options(const std::string& prefix) {
  return {
      {prefix + ".aggregators", "auto",
       "ranks that write; auto: the hint cb_nodes, or up to 4 a node, a multiple of the stripes"},
      {prefix + ".window", "auto",
       "most bytes that a rank holds for the exchange (64 to 1G); auto: 1M on one node"},
      {prefix + ".align", "auto",
       "aggregators' ranges begin at multiples of it; auto: the stripe, or 4096"},
      {prefix + ".node_ranks", "0",
       "ranks that use shared memory; 0: as MPI says, 1: messages only"},
      {prefix + ".writers", "auto",
       "aggregators of a node that write at once; auto: 1 where the kernel locks the file, else "
       "all"},
      {prefix + ".holes", "32K",
       "holes up to this size are written over with zeros, or read along"},
      {prefix + ".keep", "on", "the next file of a run uses the plan and the memory of this one"}};
}

/// What serves the next file, too: no plan and no memory is made for a file that looks like the
/// last.
struct RearrangedMethod::Kept {
  Kept(const Comm& parent, const RearrangerSettings& chosen)
      : comm(parent.get()), settings(chosen), rearranger(comm, chosen) {}

  Comm comm;  // outlives that of a file
  RearrangerSettings settings;
  Rearranger rearranger;
  RearrangedPlan plan;
};

RearrangedMethod::RearrangedMethod(const MethodContext& context, const std::string& prefix,
                                   std::unique_ptr<CanonicalHeader> header)
    : context_(context),
      prefix_(prefix),
      header_(std::move(header)),
      window_(window_of(context.settings, prefix + ".window")),
      node_ranks_(context.settings.count(prefix + ".node_ranks", 0)),
      holes_(context.settings.count(prefix + ".holes", RearrangerSettings{}.bridged_hole)),
      keep_(context.settings.flag(prefix + ".keep", true)) {
  const auto count_or_auto = [&](const std::string& name) {
    const std::string text = context.settings.text(prefix + name, "auto");
    return text == "auto" ? 0
                          : std::max<std::uint64_t>(parse_size(text, "option " + prefix + name), 1);
  };
  aggregators_ = count_or_auto(".aggregators");
  align_ = count_or_auto(".align");
  writers_ = count_or_auto(".writers");
}

// Calls are large and contiguous, so what libraries do for small ones is in the way. The user's
// hints come later and so win.
mpiio::Hints RearrangedMethod::hints() const {
  mpiio::Hints all = {{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}};
  all.insert(all.end(), context_.settings.hints.begin(), context_.settings.hints.end());
  return all;
}

void RearrangedMethod::create(const std::string& path) {
  path_ = path;
  if (context_.comm.is_root()) header_->create(path, hints());
}

void RearrangedMethod::define() {
  agreed(context_.comm, [&] {
    if (context_.comm.is_root()) numbers_ = header_->define();
  });
  broadcast_numbers(context_.comm, numbers_);
  file_ = mpiio::File::open(context_.comm.get(), path_, mpiio::File::Access::write, hints());
  hints_in_effect_ = file_.hints();
}

void RearrangedMethod::open(const std::string& path) {
  path_ = path;
  agreed(context_.comm, [&] {
    if (context_.comm.is_root()) numbers_ = header_->read(path);
  });
  broadcast_numbers(context_.comm, numbers_);
  file_ = mpiio::File::open(context_.comm.get(), path, mpiio::File::Access::read, hints());
  hints_in_effect_ = file_.hints();
}

std::uint64_t RearrangedMethod::effective_hint(const std::string& name,
                                               std::uint64_t otherwise) const {
  const auto found = hints_in_effect_.find(name);
  if (found == hints_in_effect_.end()) return otherwise;
  try {
    return std::max<std::uint64_t>(parse_size(found->second, name), 1);
  } catch (const InputError&) {
    return otherwise;  // libraries put words there, too
  }
}

RearrangerSettings RearrangedMethod::rearranger_settings() const {
  RearrangerSettings settings;
  settings.aggregators = aggregator_count().value;
  settings.stripes = effective_hint("striping_factor", 1);
  settings.window = window_;
  settings.node_ranks = node_ranks_;
  settings.writers = writers_ == 0 && posix::locks_file_to_write(path_) ? 1 : writers_;
  settings.bridged_hole = holes_;
  return settings;
}

RearrangedMethod::Choice RearrangedMethod::alignment() const {
  if (align_ > 0) return {align_, "option " + prefix_ + ".align"};
  const std::uint64_t stripe = effective_hint("striping_unit", 0);
  return stripe >= page ? Choice{stripe, "hint striping_unit"} : Choice{page, "page"};
}

// 0: as many as nodes, cores and stripes suggest.
RearrangedMethod::Choice RearrangedMethod::aggregator_count() const {
  if (aggregators_ > 0) return {aggregators_, "option " + prefix_ + ".aggregators"};
  for (const auto& [key, value] : context_.settings.hints) {
    if (key == "cb_nodes") return {parse_count(value, "cb_nodes"), "hint cb_nodes"};
  }
  const bool striped = effective_hint("striping_factor", 1) > 1;
  return {0, striped ? "nodes and hint striping_factor" : "nodes"};
}

void RearrangedMethod::prepare() {
  rearranger_settings_ = rearranger_settings();
  // All ranks have it or none, since they make it together.
  if (keep_ && context_.kept) kept_ = std::static_pointer_cast<Kept>(*context_.kept);
  if (!kept_) make_kept();
  if (context_.pattern.rounds == 0) return;
  std::vector<PlacedArray> first;
  const std::vector<std::byte*> no_buffers(context_.pattern.transfers(0).size(), nullptr);
  take(0, no_buffers, first);
  const std::uint64_t first_round = 0;
  context_.clock.span("plan", [&] { plan_for({&first_round, 1}, first, region_of(first)); });
}

void RearrangedMethod::make_kept() {
  kept_ = std::make_shared<Kept>(context_.comm, rearranger_settings_);
  if (keep_ && context_.kept) *context_.kept = kept_;
}

void RearrangedMethod::take(std::uint64_t round, std::span<std::byte* const> buffers,
                            std::vector<PlacedArray>& out) const {
  const auto transfers = context_.pattern.transfers(round);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Dataset& dataset = context_.pattern.datasets[transfers[i].dataset];
    const std::uint64_t elements = element_count(dataset.extent());
    if (elements == 0) continue;
    const std::uint64_t offset = header_->offset(numbers_, transfers[i].dataset, transfers[i].time);
    out.push_back({transfers[i], {offset, size_of(dataset.type), elements}, buffers[i]});
  }
}

void RearrangedMethod::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  take(round, buffers, posted_);
  posted_rounds_.push_back(round);
}

Region RearrangedMethod::region_of(std::span<const PlacedArray> arrays) const {
  std::vector<ArrayPlace> places;
  for (const PlacedArray& one : arrays) places.push_back(one.place);
  return Region(places, header_->padding());
}

// All ranks post the same rounds, so where prepare() has agreed on them nobody need ask again.
void RearrangedMethod::plan_for(std::span<const std::uint64_t> rounds,
                                std::span<const PlacedArray> arrays, const Region& region) {
  if (std::ranges::equal(rounds, planned_rounds_)) return;
  planned_rounds_.assign(rounds.begin(), rounds.end());
  const auto layout = [&] {
    return RearrangedPlan::Layout{arrays, region, kept_->rearranger.aggregators(),
                                  alignment().value, writing()};
  };
  const auto other_settings = [&] { return kept_->settings != rearranger_settings_; };
  if (!context_.comm.any(other_settings() || !kept_->plan.fits(layout()))) return;
  if (context_.comm.any(other_settings())) make_kept();
  kept_->plan.make(context_.comm, context_.pattern, layout());
  ++plans_;
}

std::vector<bool> RearrangedMethod::take_fresh(const Region& region) {
  std::vector<bool> fresh;
  for (const Region::Array& array : region.arrays()) {
    fresh.push_back(!writing() || written_.insert(array.place.offset).second);
  }
  return fresh;
}

void RearrangedMethod::flush() {
  const Region region = region_of(posted_);
  context_.clock.span("plan", [&] { plan_for(posted_rounds_, posted_, region); });
  std::vector<std::byte*> buffers;
  for (const PlacedArray& one : posted_) buffers.push_back(one.buffer);
  const std::vector<bool> fresh = take_fresh(region);
  const Rearranger::Flush now{region, kept_->plan.plan(), buffers, fresh, header_->swaps_bytes()};
  const Rearranger::Tally took = writing() ? write(now) : read(now);
  context_.clock.add_to_span("move", took.move);
  context_.clock.add_to_span("meet", took.meet);
  context_.clock.add_to_span("file", took.file);
  tally_ += took;
  posted_.clear();
  posted_rounds_.clear();
}

Rearranger::Tally RearrangedMethod::write(const Rearranger::Flush& flush) {
  return kept_->rearranger.write(
      flush, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
        file_.write_at(offset, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
      });
}

Rearranger::Tally RearrangedMethod::read(const Rearranger::Flush& flush) {
  return kept_->rearranger.read(
      flush, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
        file_.read_at(offset, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
      });
}

void RearrangedMethod::sync() { file_.sync(); }

void RearrangedMethod::close() { file_.close(); }

nlohmann::json RearrangedMethod::effective() const {
  const char* call = writing() ? "MPI_File_write_at" : "MPI_File_read_at";
  nlohmann::json effective = {{"calls", {{call, tally_.file_calls}}},
                              {"messages", tally_.messages},
                              {"aggregators", kept_->rearranger.aggregators()},
                              {"aggregators_from", aggregator_count().from},
                              {"nodes", kept_->rearranger.nodes()},
                              {"windows", kept_->rearranger.windows()},
                              {"window_bytes", kept_->rearranger.window_bytes()},
                              {"writers", kept_->rearranger.writers()},
                              {"alignment", alignment().value},
                              {"alignment_from", alignment().from},
                              {"plans", plans_},
                              {"plan_bytes", kept_->plan.plan().memory()}};
  if (!header_->library().empty()) effective["library"] = header_->library();
  report_hints(effective, context_.settings, hints_in_effect_);
  return effective;
}

}  // namespace slabmark
