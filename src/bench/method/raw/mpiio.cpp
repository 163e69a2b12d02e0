#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/method/options.hpp"
#include "bench/method/raw/mpi_order.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/shared/data_sieving.hpp"
#include "bench/method/shared/effective.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "bench/method/shared/typed_memory.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {

namespace {

// MPI-IO implementations count bytes in int here and there (ROMIO's collective buffering, OMPIO's
// cycles), so what is larger goes in several calls.
constexpr std::uint64_t largest_call = std::uint64_t{1} << 30;

struct MpiioOptions {
  bool view = true;
  std::uint64_t call_bytes = largest_call;
};

OptionTable<MpiioOptions> mpiio_options() {
  OptionTable<MpiioOptions> table;
  table.add("mpiio.view", &MpiioOptions::view,
            "off: no file view; independent: one call per contiguous piece; collective: only where "
            "each rank's round is one run of one 1-D dataset");
  table.add("mpiio.call_bytes", &MpiioOptions::call_bytes,
            "most bytes a rank moves in one MPI-IO call",
            Size{1, largest_call, "larger calls are not safe in MPI-IO"});
  return table;
}

/// At most one run of a one-dimensional dataset. In more dimensions that is not worth the search.
bool is_one_run(const std::vector<Transfer>& transfers) {
  if (transfers.size() != 1 || transfers[0].file->extent().size() != 1) return false;
  std::uint64_t runs = 0;
  transfers[0].file->for_each_run([&runs](Run) { ++runs; });
  return runs <= 1;
}

enum class Calls { collective, independent };

/// A raw file, and one file view over all datasets of a round through which the round moves in one
/// call; independent calls can do without a view, one for each contiguous piece.
template <Calls calls>
class Mpiio : public Method {
 public:
  explicit Mpiio(const MethodContext& context)
      : Method(context),
        options_(mpiio_options().read(context.settings)),
        layout_(context.pattern) {}

  void choose_hints() override {
    if (in_pieces()) return;
    calls == Calls::independent ? choose_for_independent_calls() : choose_for_collective_calls();
  }

  void create(const std::string& path) override {
    file_ =
        mpiio::File::create(context_.comm.get(), path, sieving_.added_to(context_.settings.hints));
  }

  void define() override { file_.resize(layout_.bytes()); }

  void open(const std::string& path) override {
    file_ = mpiio::File::open(context_.comm.get(), path, mpiio::File::Access::read,
                              context_.settings.hints);
  }

  void prepare() override {
    // Without a view independent calls need nothing of the others; setting one is collective.
    if (in_pieces()) return;
    round_needs_ = RoundMaxima(
        context_.comm, context_.pattern,
        [this](const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out) {
          out.push_back(calls_for(transfers));
          out.push_back(options_.view || !is_one_run(transfers));
        });
    if (context_.pattern.rounds == 0) return;
    const auto transfers = context_.pattern.transfers(0);
    file_types_.prepare(transfers, order(transfers), MPI_BYTE);
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    const auto ordered = order(transfers);
    if (in_pieces()) {
      move_pieces(ordered, buffers);
    } else if (round_needs_.at(round, 0) == 1) {
      viewed_ = viewed_ || round_needs_.at(round, 1) > 0;
      move_in_one_call(ordered, transfers, buffers);
    } else {
      viewed_ = true;
      move_in_calls(ordered, buffers, round_needs_.at(round, 0));
    }
    pieces_.next_round();
    file_types_.next_round();
  }

  void sync() override { file_.sync(); }
  void inspect() override { hints_ = file_.hints(); }
  void close() override { file_.close(); }

  Json effective() const override {
    const std::string call = writing() ? "MPI_File_write_at" : "MPI_File_read_at";
    Json effective = {{"calls", {{call + (calls == Calls::collective ? "_all" : ""), calls_}}}};
    report_hints(effective, context_.settings, hints_);
    sieving_.report(effective, context_.settings);
    return effective;
  }

 private:
  /// Those with holes in the file take a lock for what ROMIO makes of them, those without take none
  /// (tests/mpi_faults/data_sieving.c). Collective.
  void choose_for_independent_calls() {
    const auto [with, without] = holes_in_calls();
    if (!with || !without) return;
    sieving_.leave_out(context_.settings, "Some calls have holes in the file and some none");
  }

  /// Where a rank between others has nothing, ROMIO may have these write by themselves
  /// (tests/mpi_faults/collective_data_sieving.c). Collective.
  void choose_for_collective_calls() {
    const auto number = [this](const auto& transfers, auto& numbers) {
      numbers.push_back(calls_for(transfers));
    };
    if (context_.comm.size() < 3 || !some_rank_has_less(context_.comm, context_.pattern, number) ||
        !holes_in_calls().first) {
      return;
    }
    sieving_.leave_out(context_.settings,
                       "In some calls a rank has nothing, and some have holes in the file");
  }

  /// True if calls of any rank and round have holes in the file, and whether others have none.
  /// Collective.
  std::pair<bool, bool> holes_in_calls() {
    bool with = false, without = false;
    for (std::uint64_t round = 0; round < context_.pattern.rounds; ++round) {
      const auto ordered = order(context_.pattern.transfers(round));
      pieces_.next_round();
      if (ordered.empty()) continue;
      with = with || !ordered.contiguous();
      // Parts of what has holes may have none.
      without = without || ordered.contiguous() || ordered.bytes() > options_.call_bytes;
    }
    const bool with_anywhere = context_.comm.any(with);
    return {with_anywhere, context_.comm.any(without)};
  }

  std::uint64_t calls_for(const std::vector<Transfer>& transfers) const {
    std::uint64_t bytes = 0;
    for (const auto& transfer : transfers) {
      bytes += moved_bytes(transfer, context_.pattern.datasets[transfer.dataset]);
    }
    return bytes / options_.call_bytes + (bytes % options_.call_bytes != 0);
  }

  bool in_pieces() const { return calls == Calls::independent && !options_.view; }

  FileOrder order(const std::vector<Transfer>& transfers) {
    return order_in_file(context_.pattern, transfers, pieces_, layout_);
  }

  void move_pieces(const FileOrder& order, std::span<std::byte* const> buffers) {
    order.for_each_part(buffers, [this](FilePart part) {
      while (part.bytes > 0) {
        const auto bytes = std::min(part.bytes, largest_call);
        move(part.offset, {part.memory, static_cast<int>(bytes), MPI_BYTE, bytes});
        part = {part.offset + bytes, part.memory + bytes, part.bytes - bytes};
      }
    });
  }

  void move_in_one_call(const FileOrder& order, const std::vector<Transfer>& transfers,
                        std::span<std::byte* const> buffers) {
    if (viewed_) context_.clock.span("set_view", [&] { set_view_of_all(order, transfers); });
    auto* const base = order.empty() ? nullptr : buffers[order.transfers().front().index];
    const bool from_start = viewed_ || order.empty();
    move_memory(memory_blocks(order, buffers, MPI_BYTE), base,
                from_start ? 0 : order.transfers().front().first_byte());
  }

  // A view of its own for each call: with one large view and offsets into it, the ROMIO of Open MPI
  // 4.1.4 reads outside of its buffer where the view shows more than 2 GiB.
  void move_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                     std::uint64_t count) {
    auto parts = cut_in_calls(order, buffers, MPI_BYTE, options_.call_bytes);
    const mpiio::BlockList nothing(MPI_BYTE);
    parts.resize(std::max<std::size_t>(parts.size(), count), {nothing, nothing, nullptr});
    for (const auto& part : parts) {
      context_.clock.span("set_view", [&] { set_view(part.file); });
      move_memory(part.memory, part.base, 0);
    }
  }

  // The types of selections that are there already, put where the datasets are, if they do not lie
  // between one another.
  void set_view_of_all(const FileOrder& order, const std::vector<Transfer>& transfers) {
    if (order.empty() || order.contiguous() || order.interleaved()) {
      const std::vector<std::byte*> no_memory(transfers.size(), nullptr);
      mpiio::BlockList blocks(MPI_BYTE);
      order.for_each_part(no_memory, [&](const FilePart& part) {
        blocks.add({static_cast<std::int64_t>(part.offset), part.bytes});
      });
      set_view(blocks);
    } else {
      file_.set_view(0, MPI_BYTE, file_types_.of_all(transfers, order, MPI_BYTE).get());
    }
  }

  // Bytes are the etype on all ranks, as MPI requires; the file types may differ.
  void set_view(const mpiio::BlockList& blocks) {
    if (blocks.size() > 1) {
      file_.set_view(0, MPI_BYTE, blocks.datatype().get());
      return;
    }
    // A derived type of one block keeps both implementations from their contiguous path, and one of
    // none is not for all of them.
    const auto begin = blocks.empty() ? 0 : static_cast<std::uint64_t>(blocks.first_offset());
    file_.set_view(begin, MPI_BYTE, MPI_BYTE);
  }

  void move_memory(const mpiio::BlockList& blocks, std::byte* base, std::uint64_t offset) {
    const auto memory = memory_of(blocks, base, MPI_BYTE);
    move(offset, {memory.address, static_cast<int>(memory.count), memory.type, blocks.elements()});
  }

  /// Moves what the view shows from `offset` on. Collective calls are made by all ranks alike, also
  /// without bytes.
  void move(std::uint64_t offset, const mpiio::Memory& memory) {
    constexpr bool all = calls == Calls::collective;
    if (writing()) {
      all ? file_.write_at_all(offset, memory) : file_.write_at(offset, memory);
    } else {
      all ? file_.read_at_all(offset, memory) : file_.read_at(offset, memory);
    }
    ++calls_;
  }

  MpiioOptions options_;
  RawLayout layout_;
  mpiio::File file_;
  DataSieving sieving_{true};  // mpiio::File sees to it
  bool viewed_ = false;        ///< the file has another view than it was opened with
  SelectionCache<FilePieces> pieces_;
  FileTypes file_types_;
  RoundMaxima round_needs_;  ///< calls; whether a rank needs a view
  std::map<std::string, std::string> hints_;
  std::uint64_t calls_ = 0;
};

}  // namespace

MethodInfo mpiio_collective_method() {
  return {
      .name = "mpiio-collective",
      .summary =
          "one MPI_File_write_at_all per time step over a view of all datasets, headerless file",
      .format = FileFormat::raw,
      .options = mpiio_options(),
      .supports = fits_raw,
      .make = make_method<Mpiio<Calls::collective>>,
      .overlaps_in_mpiio = has_overlaps};
}

MethodInfo mpiio_independent_method() {
  return {
      .name = "mpiio-independent",
      .summary = "one MPI_File_write_at per time step over a view of all datasets, headerless file",
      .format = FileFormat::raw,
      .options = mpiio_options(),
      .supports = fits_raw,
      .make = make_method<Mpiio<Calls::independent>>};
}

}  // namespace slabmark
