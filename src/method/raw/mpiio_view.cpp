#include "method/raw/mpiio_view.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/shared/call_parts.hpp"
#include "method/shared/effective.hpp"

namespace slabmark {

namespace {

std::uint64_t call_bytes_of(const Settings& settings) {
  const auto bytes = settings.count("mpiio.call_bytes", mpiio_call_bytes);
  if (bytes == 0 || bytes > mpiio_call_bytes) {
    throw InputError(
        fmt::format("Option mpiio.call_bytes is {}; it takes 1 to 1G, since larger calls are not "
                    "safe in MPI-IO.",
                    settings.text("mpiio.call_bytes", "")));
  }
  return bytes;
}

/// At most one run of a one-dimensional dataset. In more dimensions that is not worth the search.
bool is_one_run(const std::vector<Transfer>& transfers) {
  if (transfers.size() != 1 || transfers[0].file->extent().size() != 1) return false;
  std::uint64_t runs = 0;
  transfers[0].file->for_each_run([&runs](Run) { ++runs; });
  return runs <= 1;
}

}  // namespace

std::vector<OptionInfo> mpiio_view_options() {
  return {{"mpiio.view", "on",
           "off: no file view; independent: one call per contiguous piece; collective: only where "
           "each rank's round is one run of one 1-D dataset"},
          {"mpiio.call_bytes", "1G", "most bytes a rank moves in one MPI-IO call (at most 1G)"}};
}

MpiioViewMethod::MpiioViewMethod(const MethodContext& context)
    : context_(context),
      layout_(context.pattern),
      call_bytes_(call_bytes_of(context.settings)),
      wants_views_(context.settings.flag("mpiio.view", true)) {}

void MpiioViewMethod::create(const std::string& path) {
  file_ = mpiio::File::create(context_.comm.get(), path, context_.settings.hints);
}

void MpiioViewMethod::define() { file_.resize(layout_.bytes()); }

void MpiioViewMethod::open(const std::string& path) {
  file_ = mpiio::File::open(context_.comm.get(), path, mpiio::File::Access::read,
                            context_.settings.hints);
}

void MpiioViewMethod::prepare() {
  // Setting a view is collective, so the independent method needs to know of the others as well.
  round_needs_ =
      RoundMaxima(context_.comm, context_.pattern,
                  [this](const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out) {
                    std::uint64_t bytes = 0;
                    for (const auto& transfer : transfers) {
                      bytes += moved_bytes(transfer, context_.pattern.datasets[transfer.dataset]);
                    }
                    out.push_back(bytes / call_bytes_ + (bytes % call_bytes_ != 0));
                    out.push_back(wants_views_ || !is_one_run(transfers));
                  });
  if (context_.pattern.rounds == 0) return;
  const auto transfers = context_.pattern.transfers(0);
  const auto ordered = order(transfers);
  for (const auto& placed : ordered.transfers()) {
    file_type(transfers[placed.index], placed);
  }
}

FileOrder MpiioViewMethod::order(const std::vector<Transfer>& transfers) {
  return order_in_file(context_.pattern, transfers, pieces_, [this](const Transfer& transfer) {
    return layout_.offset(transfer.dataset, transfer.time);
  });
}

const mpiio::Datatype& MpiioViewMethod::file_type(const Transfer& transfer,
                                                  const PlacedTransfer& placed) {
  return file_types_.get(transfer.file, nullptr, placed.element_bytes, [&] {
    mpiio::BlockList blocks(MPI_BYTE);
    for (const auto& piece : placed.pieces->pieces) {
      blocks.add({static_cast<std::int64_t>(piece.file * placed.element_bytes),
                  piece.length * placed.element_bytes});
    }
    return blocks.datatype();
  });
}

void MpiioViewMethod::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  const auto transfers = context_.pattern.transfers(round);
  const auto ordered = order(transfers);
  const auto calls = round_needs_.at(round, 0);
  if (calls == 1) {
    viewed_ = viewed_ || round_needs_.at(round, 1) > 0;
    move_in_one_call(ordered, transfers, buffers, viewed_);
  } else {
    viewed_ = true;
    move_in_calls(ordered, buffers, calls);
  }
  end_round();
}

void MpiioViewMethod::move_in_one_call(const FileOrder& order,
                                       const std::vector<Transfer>& transfers,
                                       std::span<std::byte* const> buffers, bool viewed) {
  if (viewed) context_.clock.span("set_view", [&] { set_view_of_all(order, transfers); });
  mpiio::BlockList memory(MPI_BYTE);
  auto* const base = order.empty() ? nullptr : buffers[order.transfers().front().index];
  order.for_each_memory_block(buffers, [&](std::byte* block, std::uint64_t bytes) {
    memory.add({block - base, bytes});
  });
  const bool from_start = viewed || order.empty();
  move_memory(memory, base, from_start ? 0 : order.transfers().front().first_byte());
}

// A view of its own for each call: with one large view and offsets into it, the ROMIO of Open MPI
// 4.1.4 reads outside of its buffer where the view shows more than 2 GiB.
void MpiioViewMethod::move_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                                    std::uint64_t calls) {
  const auto parts = cut_in_calls(order, buffers, MPI_BYTE, call_bytes_);
  for (std::uint64_t call = 0; call < calls; ++call) {
    const bool mine = call < parts.size();
    context_.clock.span("set_view",
                        [&] { set_view(mine ? parts[call].file : mpiio::BlockList(MPI_BYTE)); });
    move_memory(mine ? parts[call].memory : mpiio::BlockList(MPI_BYTE),
                mine ? parts[call].base : nullptr);
  }
}

// Bytes are the etype on all ranks, as MPI requires; the file types may differ.
void MpiioViewMethod::set_view(const mpiio::BlockList& blocks) {
  if (blocks.size() > 1) {
    file_.set_view(0, MPI_BYTE, blocks.datatype().get());
    return;
  }
  // A derived type of one block keeps both implementations from their contiguous path, and one of
  // none is not for all of them.
  const auto begin = blocks.empty() ? 0 : static_cast<std::uint64_t>(blocks.first_offset());
  file_.set_view(begin, MPI_BYTE, MPI_BYTE);
}

// The types of selections that are there already, put where the datasets are, if they do not lie
// between one another.
void MpiioViewMethod::set_view_of_all(const FileOrder& order,
                                      const std::vector<Transfer>& transfers) {
  if (order.empty() || order.contiguous() || order.interleaved()) {
    const std::vector<std::byte*> no_memory(transfers.size(), nullptr);
    mpiio::BlockList blocks(MPI_BYTE);
    order.for_each_part(no_memory, [&](const FilePart& part) {
      blocks.add({static_cast<std::int64_t>(part.offset), part.bytes});
    });
    set_view(blocks);
    return;
  }
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> types;
  for (const auto& placed : order.transfers()) {
    offsets.push_back(static_cast<MPI_Aint>(placed.base));
    types.push_back(file_type(transfers[placed.index], placed).get());
  }
  file_.set_view(0, MPI_BYTE, mpiio::make_struct(offsets, types).get());
}

void MpiioViewMethod::move_memory(const mpiio::BlockList& blocks, std::byte* base,
                                  std::uint64_t offset) {
  count_call();
  const auto bytes = blocks.elements();
  if (blocks.size() > 1) {
    move(file_, offset, {base, 1, blocks.datatype().get(), bytes});
  } else {
    auto* const address = blocks.empty() ? base : base + blocks.first_offset();
    move(file_, offset, {address, static_cast<int>(bytes), MPI_BYTE, bytes});
  }
}

void MpiioViewMethod::end_round() {
  pieces_.next_round();
  file_types_.next_round();
}

void MpiioViewMethod::sync() { file_.sync(); }

void MpiioViewMethod::inspect() { hints_ = file_.hints(); }
void MpiioViewMethod::close() { file_.close(); }

nlohmann::json MpiioViewMethod::effective() const {
  nlohmann::json effective = {{"calls", {{call_name(), calls_}}}};
  report_hints(effective, context_.settings, hints_);
  return effective;
}

}  // namespace slabmark
