#include "method/rearranged/method.hpp"

#include <algorithm>

#include "method/shared/effective.hpp"
#include "parallel/agree.hpp"

namespace slabmark {

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
    : Method(context), header_(std::move(header)), settings_(context.settings, prefix) {}

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
  open_file(mpiio::File::Access::write, [this] { return header_->define(); });
}

void RearrangedMethod::open(const std::string& path) {
  path_ = path;
  open_file(mpiio::File::Access::read, [this] { return header_->read(path_); });
}

void RearrangedMethod::open_file(mpiio::File::Access access,
                                 const std::function<std::vector<std::uint64_t>()>& numbers) {
  agreed(context_.comm, [&] {
    if (context_.comm.is_root()) numbers_ = numbers();
  });
  numbers_.resize(context_.comm.broadcast(static_cast<std::uint64_t>(numbers_.size())));
  check_mpi(MPI_Bcast(numbers_.data(), static_cast<int>(numbers_.size()), MPI_UINT64_T, 0,
                      context_.comm.get()),
            "MPI_Bcast");
  file_ = mpiio::File::open(context_.comm.get(), path_, access, hints());
  settings_.apply_to(path_, file_.hints());
}

void RearrangedMethod::prepare() {
  rearranger_settings_ = settings_.for_rearranger();
  // All ranks have it or none, since they make it together.
  if (settings_.keeps() && context_.kept) kept_ = std::static_pointer_cast<Kept>(*context_.kept);
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
  if (settings_.keeps() && context_.kept) *context_.kept = kept_;
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
                                  settings_.alignment().value, writing()};
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
  const Rearranger::Tally took = move(now);
  context_.clock.add_to_span("move", took.move);
  context_.clock.add_to_span("meet", took.meet);
  context_.clock.add_to_span("file", took.file);
  tally_ += took;
  posted_.clear();
  posted_rounds_.clear();
}

Rearranger::Tally RearrangedMethod::move(const Rearranger::Flush& flush) {
  const auto memory_of = [](std::byte* memory, std::uint64_t bytes) {
    return mpiio::Memory{memory, static_cast<int>(bytes), MPI_BYTE, bytes};
  };
  if (!writing()) {
    return kept_->rearranger.read(
        flush, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
          file_.read_at(offset, memory_of(memory, bytes));
        });
  }
  return kept_->rearranger.write(flush,
                                 [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
                                   file_.write_at(offset, memory_of(memory, bytes));
                                 });
}

void RearrangedMethod::sync() { file_.sync(); }

void RearrangedMethod::close() { file_.close(); }

nlohmann::json RearrangedMethod::effective() const {
  const char* call = writing() ? "MPI_File_write_at" : "MPI_File_read_at";
  nlohmann::json effective = {{"calls", {{call, tally_.file_calls}}},
                              {"messages", tally_.messages},
                              {"aggregators", kept_->rearranger.aggregators()},
                              {"aggregators_from", settings_.aggregators().from},
                              {"nodes", kept_->rearranger.nodes()},
                              {"windows", kept_->rearranger.windows()},
                              {"window_bytes", kept_->rearranger.window_bytes()},
                              {"writers", kept_->rearranger.writers()},
                              {"alignment", settings_.alignment().value},
                              {"alignment_from", settings_.alignment().from},
                              {"plans", plans_},
                              {"plan_bytes", kept_->plan.plan().memory()}};
  if (!header_->library().empty()) effective["library"] = header_->library();
  report_hints(effective, context_.settings, settings_.hints_in_effect());
  return effective;
}

}  // namespace slabmark
