#include "bench/method/rearranged/method.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/method/raw/file_order.hpp"
#include "bench/method/rearranged/definition.hpp"
#include "bench/method/shared/effective.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "collective/exchange/chunk_order.hpp"
#include "collective/file_image.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// Hints as one text, each key and value with a zero behind it.
std::string joined(const std::map<std::string, std::string>& hints) {
  std::string text;
  for (const auto& [key, value] : hints) {
    for (const std::string& word : {key, value}) text.append(word).push_back('\0');
  }
  return text;
}

std::map<std::string, std::string> separated(const std::string& text) {
  std::map<std::string, std::string> hints;
  std::istringstream words(text);
  std::string value;
  for (std::string key; std::getline(words, key, '\0') && std::getline(words, value, '\0');) {
    hints[key] = value;
  }
  return hints;
}

}  // namespace

/// Serves the next file, too: no plan and no memory is made for a file that looks like the last.
struct RearrangedMethod::CachedState {
  struct Definition {
    std::string key;
    collective::FileImage image;
  };
  std::optional<Definition> definition;  ///< on root, of the last file that the library defined
  std::optional<Definition> made;        ///< the same, until all ranks have its numbers
  std::vector<std::uint64_t> numbers;    ///< its numbers, on all ranks
  std::uint64_t serial = 0;              ///< how many files the library has defined by then
  std::optional<collective::LayoutContext> context;  ///< since prepare()
  SelectionCache<collective::PiecesPtr> pieces;
  std::vector<Extent> chunks;  ///< that pieces were cut at

  /// Tells the pieces of selections apart by the chunks of the array; 0: it has none.
  std::uint64_t variant_of(const ChunkGrid* grid) {
    if (grid == nullptr) return 0;
    const auto found = std::find(chunks.begin(), chunks.end(), grid->chunk());
    const auto index = static_cast<std::uint64_t>(found - chunks.begin());
    if (found == chunks.end()) chunks.push_back(grid->chunk());
    return 1 + index;
  }
};

RearrangedMethod::RearrangedMethod(const MethodContext& context, const std::string& prefix,
                                   std::unique_ptr<RearrangedHeader> header)
    : Method(context),
      header_(std::move(header)),
      options_(read_rearranged_options(context.settings, prefix)),
      overlap_{options_.overlap, 0, options_.overlap_memory.value_or(0)},
      file_(overlap_) {
  // All ranks have that of the last file or none, since they make it together.
  const bool keeps = options_.keep && context.kept != nullptr;
  if (keeps) state_ = std::static_pointer_cast<CachedState>(*context.kept);
  if (!state_) state_ = std::make_shared<CachedState>();
  if (keeps) *context.kept = state_;
  if (keeps && options_.reuse_definition && writing() && context.comm.is_root()) {
    definition_key_ = prefix + definition_key(context.pattern, context.settings);
  }
}

bool RearrangedMethod::has_definition() const {
  return state_->definition && state_->definition->key == definition_key_;
}

void RearrangedMethod::create(const std::string& path) {
  path_ = path;
  if (!context_.comm.is_root()) return;
  const mpiio::Hints& hints = context_.settings.hints;
  if (has_definition()) return state_->definition->image.create(path, hints);
  header_->create(path, collective::with_own_hints(hints));
}

void RearrangedMethod::define() {
  open_file(collective::File::Access::write, [this] { return define_on_root(); });
  if (reused_definition_) return;
  // Together on all ranks, and last: what fails before leaves no definition that only some have.
  state_->numbers = numbers_;
  ++state_->serial;
  state_->definition = std::exchange(state_->made, std::nullopt);
}

std::vector<std::uint64_t> RearrangedMethod::define_on_root() {
  state_->made.reset();
  reused_definition_ = has_definition();
  if (reused_definition_) return state_->numbers;  // the file was made with it
  const std::vector<std::uint64_t> numbers = header_->define();
  open_here();
  if (definition_key_.empty() || !file_.is_open()) return numbers;
  const RunList metadata = header_->metadata(file_.size());
  if (!metadata.empty()) {
    state_->made.emplace(definition_key_, collective::FileImage(path_, metadata));
  }
  return numbers;
}

void RearrangedMethod::open(const std::string& path) {
  path_ = path;
  open_file(collective::File::Access::read, [this] { return header_->read(path_); });
}

// The root opens the file for itself, and tells which hints are in effect. Other aggregators do so
// when they are known, and nobody else: opening it together takes some ten agreements of all ranks.
void RearrangedMethod::open_file(collective::File::Access access,
                                 const std::function<std::vector<std::uint64_t>()>& numbers) {
  const Comm& comm = context_.comm;
  access_ = access;
  std::string hints;
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    numbers_ = numbers();
    open_here();
    if (file_.is_open()) hints = joined(file_.hints());
  });
  const bool has_numbers = share_numbers();
  if (has_numbers) header_->learn(numbers_, file_);
  const mpiio::Hints& asked = context_.settings.hints;
  choices_ = collective::Settings(options_, {asked.begin(), asked.end()},
                                  separated(comm.broadcast(hints)), path_);
  choices_.agree(comm);
  if (has_numbers) return;  // else after the last collective call, so that nobody waits
  throw IoError(fmt::format(
      "Rank {} does not have the definition of the last file, which rank 0 reuses for '{}'; define "
      "each file with reuse_definition=off.",
      comm.rank(), path_));
}

// The root would wait in a broadcast of many numbers until each rank has a core. Where the
// definition is an earlier one, all ranks have them. Returns false on a rank that does not.
bool RearrangedMethod::share_numbers() {
  const Comm& comm = context_.comm;
  std::array<std::uint64_t, 3> told = {reused_definition_ ? 1U : 0U, numbers_.size(),
                                       state_->serial};
  check_mpi(MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_UINT64_T, 0, comm.get()),
            "MPI_Bcast");
  reused_definition_ = told[0] != 0;
  if (reused_definition_) {
    numbers_ = state_->numbers;
    return state_->serial == told[2] && numbers_.size() == told[1];
  }
  numbers_.resize(told[1]);
  check_mpi(
      MPI_Bcast(numbers_.data(), static_cast<int>(numbers_.size()), MPI_UINT64_T, 0, comm.get()),
      "MPI_Bcast");
  return true;
}

void RearrangedMethod::open_here() {
  if (file_.is_open()) return;
  if (header_->has_data_file()) {
    collective::File file(MPI_COMM_SELF, path_, access_, context_.settings.hints, overlap_);
    file.continue_from(file_);
    file_ = std::move(file);
  }
  file_.fresh_from(0);
}

void RearrangedMethod::prepare() {
  rearranger_settings_ = choices_.exchange();
  if (overlap_.is_on && !options_.writers) rearranger_settings_.writers = 0;
  header_->adjust(rearranger_settings_);
  if (!state_->context) {
    state_->context.emplace(context_.comm.get(), rearranger_settings_, std::size_t{1});
  }
  if (context_.pattern.rounds == 0) return;
  std::vector<PlacedTransfer> first;
  const std::vector<std::byte*> no_buffers(context_.pattern.transfers(0).size(), nullptr);
  take(0, no_buffers, first);
  const std::uint64_t first_round = 0;
  context_.clock.span("plan", [&] { plan_for({&first_round, 1}, first, domain_of(first)); });
  if (state_->context->context().is_aggregator()) open_here();
}

void RearrangedMethod::take(std::uint64_t round, std::span<std::byte* const> buffers,
                            std::vector<PlacedTransfer>& out) const {
  const auto transfers = context_.pattern.transfers(round);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Dataset& dataset = context_.pattern.datasets[transfers[i].dataset];
    const std::uint64_t elements = element_count(dataset.extent());
    if (elements == 0) continue;
    const std::size_t d = transfers[i].dataset;
    const std::uint64_t offset = header_->offset(numbers_, d, transfers[i].time);
    const ChunkGrid* const grid = header_->grid(d);
    out.push_back({transfers[i], {offset, size_of(dataset.type), elements}, buffers[i], grid});
    if (grid == nullptr) continue;
    out.back().place.elements = grid->elements();
    if (header_->has_filters(d)) out.back().place.unit = grid->chunk_elements();
  }
}

void RearrangedMethod::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  take(round, buffers, posted_);
  posted_rounds_.push_back(round);
}

FileDomain RearrangedMethod::domain_of(std::span<const PlacedTransfer> transfers) const {
  std::vector<ArrayPlace> places;
  for (const PlacedTransfer& one : transfers) places.push_back(one.place);
  return FileDomain(places, header_->padding());
}

std::vector<collective::Part> RearrangedMethod::parts_of(
    std::span<const PlacedTransfer> transfers) {
  std::vector<collective::Part> parts;
  for (const PlacedTransfer& one : transfers) {
    const auto make = [&one] {
      auto pieces = file_pieces(one.transfer).pieces;
      if (one.grid != nullptr) pieces = in_chunk_order(pieces, *one.grid);
      return std::make_shared<const std::vector<Piece>>(std::move(pieces));
    };
    parts.push_back({one.place,
                     state_->pieces.get(one.transfer.file, one.transfer.buffer,
                                        state_->variant_of(one.grid), make),
                     one.buffer, context_.pattern.datasets[one.transfer.dataset].name});
  }
  return parts;
}

// All ranks post the same rounds, so where prepare() has agreed on them nobody need ask again.
void RearrangedMethod::plan_for(std::span<const std::uint64_t> rounds,
                                std::span<const PlacedTransfer> transfers,
                                const FileDomain& domain) {
  using collective::Overlaps;
  if (std::ranges::equal(rounds, planned_rounds_)) return;
  planned_rounds_.assign(rounds.begin(), rounds.end());
  const auto parts = parts_of(transfers);
  // Ranks of a captured program may all write a scalar; here they have the same for it.
  const bool may_overlap = !writing() || context_.pattern.captured;
  const collective::Layout layout{parts, domain, choices_.alignment().value, writing(),
                                  may_overlap ? Overlaps::allowed : Overlaps::refused};
  collective::LayoutContext& context = *state_->context;
  const bool other_settings = context.settings() != rearranger_settings_;
  if (!context_.comm.any(other_settings || context.fitting(layout) == 0)) return;
  if (context_.comm.any(other_settings)) context.prepare(rearranger_settings_);
  context.make(layout);
  state_->pieces.next_round();
  ++plans_;
}

void RearrangedMethod::flush() {
  const FileDomain domain = domain_of(posted_);
  context_.clock.span("plan", [&] { plan_for(posted_rounds_, posted_, domain); });
  std::vector<std::byte*> buffers;
  for (const PlacedTransfer& one : posted_) buffers.push_back(one.buffer);
  collective::LayoutContext& context = *state_->context;
  const Rearranger::Tally took = file_.move(
      context.context(), {domain, context.plan(), buffers, writing(), header_->swaps_bytes()},
      header_->mover(writing()));
  context_.clock.add_to_span("pack", took.pack);
  context_.clock.add_to_span("wait", took.wait);
  context_.clock.add_to_span("file", took.file);
  if (std::ranges::any_of(domain.arrays(),
                          [](const auto& array) { return array.place.unit > 0; })) {
    context_.clock.add_to_span("filter", took.units);
  }
  tally_ += took;
  posted_.clear();
  posted_rounds_.clear();
}

void RearrangedMethod::sync() {
  agreed(context_.comm, [&] { header_->sync(); });
  if (file_.is_open()) file_.sync();
}

void RearrangedMethod::close() {
  file_.close();
  header_->close();
}

Json RearrangedMethod::effective() const {
  const char* call = writing() ? "MPI_File_write_at" : "MPI_File_read_at";
  const collective::LayoutContext& context = *state_->context;
  const Rearranger& rearranger = context.context().rearranger();
  Json effective = {{"calls", {{call, tally_.file_calls}}},
                    {"messages", tally_.messages},
                    {"aggregators", rearranger.aggregators()},
                    {"aggregators_from", choices_.aggregators().from},
                    {"nodes", rearranger.nodes()},
                    {"windows", rearranger.windows()},
                    {"window_bytes", rearranger.window_bytes()},
                    {"writers", rearranger.writers()},
                    {"alignment", choices_.alignment().value},
                    {"alignment_from", choices_.alignment().from},
                    {"plans", plans_},
                    {"plan_bytes", context.plan_bytes()}};
  if (overlap_.is_on) effective["overlap"] = true;
  if (writing() && header_->has_data_file()) {
    effective["definition"] = reused_definition_ ? "of an earlier file" : "by the library";
  }
  header_->report(effective);
  if (!header_->library().empty()) effective["library"] = header_->library();
  report_hints(effective, context_.settings, choices_.hints_in_effect());
  return effective;
}

}  // namespace slabmark
