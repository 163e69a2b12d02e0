#include "method/rearranged_method.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "method/effective.hpp"
#include "parallel/agree.hpp"

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
       "ranks that use shared memory; 0: as MPI says, 1: messages only"}};
}

RearrangedMethod::RearrangedMethod(const MethodContext& context, const std::string& prefix,
                                   std::unique_ptr<CanonicalHeader> header)
    : context_(context),
      prefix_(prefix),
      header_(std::move(header)),
      window_(window_of(context.settings, prefix + ".window")),
      node_ranks_(context.settings.count(prefix + ".node_ranks", 0)) {
  const auto count_or_auto = [&](const std::string& name) {
    const std::string text = context.settings.text(prefix + name, "auto");
    return text == "auto" ? 0
                          : std::max<std::uint64_t>(parse_size(text, "option " + prefix + name), 1);
  };
  aggregators_ = count_or_auto(".aggregators");
  align_ = count_or_auto(".align");
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
  settings.aggregators = aggregators_;
  for (const auto& [key, value] : context_.settings.hints) {
    if (key == "cb_nodes" && aggregators_ == 0)
      settings.aggregators = parse_count(value, "cb_nodes");
  }
  settings.stripes = effective_hint("striping_factor", 1);
  settings.window = window_;
  settings.node_ranks = node_ranks_;
  return settings;
}

std::uint64_t RearrangedMethod::alignment() const {
  return align_ > 0 ? align_ : std::max(page, effective_hint("striping_unit", page));
}

void RearrangedMethod::prepare() {
  rearranger_.emplace(context_.comm, rearranger_settings());
  if (context_.pattern.rounds == 0) return;
  std::vector<Posted> first;
  const auto transfers = context_.pattern.transfers(0);
  const std::vector<std::byte*> no_buffers(transfers.size(), nullptr);
  take(0, no_buffers, first);
  context_.clock.span("plan", [&] { plan_for(first, region_of(first)); });
}

void RearrangedMethod::take(std::uint64_t round, std::span<std::byte* const> buffers,
                            std::vector<Posted>& out) const {
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
}

Region RearrangedMethod::region_of(const std::vector<Posted>& posted) const {
  std::vector<ArrayPlace> places;
  for (const Posted& one : posted) places.push_back(one.place);
  return Region(places, header_->padding());
}

void RearrangedMethod::plan_for(const std::vector<Posted>& posted, const Region& region) {
  PlanKey key;
  for (const Posted& one : posted) {
    key.selections.emplace_back(one.transfer.file, one.transfer.buffer);
    key.arrays.push_back(region.array_at(one.place));
  }
  for (const Region::Array& array : region.arrays()) {
    key.shapes.emplace_back(array.begin, array.place.element_bytes);
  }
  key.cuts = region.cut(rearranger_->aggregators().size(), alignment());
  if (plans_ > 0 && !context_.comm.any(key != key_)) return;
  key_ = std::move(key);
  make_plan(posted, region);
}

// Items share a map where they share their selections on every rank. A rank says which item was the
// first with these selections; where all say the same, that item's map will do.
std::vector<std::size_t> RearrangedMethod::agreed_maps(const PlanKey& key) const {
  const std::size_t items = key.selections.size();
  std::map<std::pair<const Selection*, const Selection*>, std::int64_t> first_with;
  std::vector<std::int64_t> lowest(2 * items);
  for (std::size_t i = 0; i < items; ++i) {
    const auto& [file, buffer] = key.selections[i];
    const auto first =
        first_with.try_emplace({file.get(), buffer.get()}, static_cast<std::int64_t>(i)).first;
    lowest[i] = first->second;
    lowest[items + i] = -first->second;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, lowest.data(), static_cast<int>(lowest.size()), MPI_INT64_T,
                          MPI_MIN, context_.comm.get()),
            "MPI_Allreduce");
  std::vector<std::size_t> map_of;
  std::size_t maps = 0;
  for (std::size_t i = 0; i < items; ++i) {
    const bool all_agree = lowest[i] == -lowest[items + i];
    const auto first = static_cast<std::size_t>(lowest[i]);
    map_of.push_back(all_agree && first < i ? map_of[first] : maps++);
  }
  return map_of;
}

void RearrangedMethod::make_plan(const std::vector<Posted>& posted, const Region& region) {
  const std::vector<std::size_t> map_of = agreed_maps(key_);
  std::vector<PlanMap> maps;
  std::vector<PlanItem> items;
  for (std::size_t i = 0; i < posted.size(); ++i) {
    const Transfer& transfer = posted[i].transfer;
    items.push_back({key_.arrays[i], map_of[i]});
    if (map_of[i] < maps.size()) continue;
    const FilePieces& pieces =
        pieces_.get(transfer.file, transfer.buffer, 0, [&] { return file_pieces(transfer); });
    maps.push_back({pieces.pieces, posted[i].place.elements,
                    context_.pattern.datasets[transfer.dataset].name});
  }
  pieces_.next_round();
  plan_ = FlushPlan(context_.comm, region, std::move(maps), std::move(items), key_.cuts,
                    rearranger_->aggregators(), writing());
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
  context_.clock.span("plan", [&] { plan_for(posted_, region); });
  std::vector<std::byte*> buffers;
  for (const Posted& one : posted_) buffers.push_back(one.buffer);
  const std::vector<bool> fresh = take_fresh(region);
  const Rearranger::Seconds before = rearranger_->seconds();
  const Rearranger::Flush now{region, plan_, buffers, fresh, header_->swaps_bytes()};
  if (writing()) {
    rearranger_->write(now, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
      file_.write_at(offset, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
    });
  } else {
    rearranger_->read(now, [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
      file_.read_at(offset, {memory, static_cast<int>(bytes), MPI_BYTE, bytes});
    });
  }
  const Rearranger::Seconds& after = rearranger_->seconds();
  context_.clock.add_to_span("move", after.move - before.move);
  context_.clock.add_to_span("meet", after.meet - before.meet);
  context_.clock.add_to_span("file", after.file - before.file);
  posted_.clear();
}

void RearrangedMethod::sync() { file_.sync(); }

void RearrangedMethod::close() { file_.close(); }

nlohmann::json RearrangedMethod::effective() const {
  const char* call = writing() ? "MPI_File_write_at" : "MPI_File_read_at";
  nlohmann::json effective = {{"calls", {{call, rearranger_->file_calls()}}},
                              {"messages", rearranger_->messages()},
                              {"aggregators", rearranger_->aggregators()},
                              {"nodes", rearranger_->nodes()},
                              {"window_bytes", rearranger_->window_bytes()},
                              {"alignment", alignment()},
                              {"plans", plans_},
                              {"plan_bytes", plan_.memory()}};
  if (!header_->library().empty()) effective["library"] = header_->library();
  report_hints(effective, context_.settings, hints_in_effect_);
  return effective;
}

}  // namespace slabmark
