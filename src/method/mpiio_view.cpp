#include "method/mpiio_view.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/effective.hpp"

namespace slabmark {

namespace {

std::uint64_t call_bytes_of(const Settings& settings) {
  const auto bytes = settings.count("mpiio.call_bytes", mpiio_call_bytes);
  if (bytes == 0 || bytes > mpiio_call_bytes) {
    throw InputError(fmt::format(
        "Option mpiio.call_bytes is {}; it takes 1 to 1G, since larger calls are not safe in MPI-IO.",
        settings.text("mpiio.call_bytes", "")));
  }
  return bytes;
}

}  // namespace

OptionInfo mpiio_call_bytes_option() {
  return {"mpiio.call_bytes", "1G", "most bytes a rank moves in one MPI-IO call (at most 1G)"};
}

MpiioViewMethod::MpiioViewMethod(const MethodContext& context)
    : context_(context), layout_(context.pattern), call_bytes_(call_bytes_of(context.settings)) {}

void MpiioViewMethod::create(const std::string& path) {
  file_ = mpiio::File::create(context_.comm.get(), path, context_.settings.hints);
}

void MpiioViewMethod::define() { file_.resize(layout_.bytes()); }

void MpiioViewMethod::open(const std::string& path) {
  file_ = mpiio::File::open(context_.comm.get(), path, mpiio::File::Access::read,
                            context_.settings.hints);
}

void MpiioViewMethod::prepare() {
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

// Bytes are the etype on all ranks, as MPI requires; the file types may differ.
void MpiioViewMethod::set_view(const FileOrder& order, const std::vector<Transfer>& transfers) {
  if (order.empty() || order.contiguous()) {
    // A derived type of one block keeps both implementations from their contiguous path.
    const auto begin = order.empty() ? 0 : order.transfers().front().first_byte();
    file_.set_view(begin, MPI_BYTE, MPI_BYTE);
    return;
  }
  if (order.interleaved()) {
    const std::vector<std::byte*> no_memory(transfers.size(), nullptr);
    mpiio::BlockList blocks(MPI_BYTE);
    order.for_each_part(no_memory, [&](const FilePart& part) {
      blocks.add({static_cast<std::int64_t>(part.offset), part.bytes});
    });
    file_.set_view(0, MPI_BYTE, blocks.datatype().get());
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

// Absolute addresses, cut so that each call but the last moves exactly call_bytes_.
std::vector<mpiio::BlockList> MpiioViewMethod::memory_of_calls(
    const FileOrder& order, std::span<std::byte* const> buffers) const {
  std::vector<mpiio::BlockList> calls;
  order.for_each_memory_block(buffers, [&](std::byte* memory, std::uint64_t bytes) {
    while (bytes > 0) {
      if (calls.empty() || calls.back().elements() == call_bytes_) calls.emplace_back(MPI_BYTE);
      const auto part = std::min(bytes, call_bytes_ - calls.back().elements());
      calls.back().add({reinterpret_cast<std::int64_t>(memory), part});
      memory += part;
      bytes -= part;
    }
  });
  return calls;
}

void MpiioViewMethod::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  const auto transfers = context_.pattern.transfers(round);
  const auto ordered = order(transfers);
  context_.clock.span("set_view", [&] { set_view(ordered, transfers); });

  const auto memory = memory_of_calls(ordered, buffers);
  const auto calls = calls_of_round(round, memory.size());
  for (std::uint64_t call = 0; call < calls; ++call) {
    count_call();
    if (call >= memory.size()) {
      move(file_, 0, {});
      continue;
    }
    const auto& blocks = memory[call];
    const auto bytes = blocks.elements();
    if (blocks.size() == 1) {
      move(file_, call * call_bytes_,
           {reinterpret_cast<void*>(blocks.first_offset()), static_cast<int>(bytes), MPI_BYTE,
            bytes});
    } else {
      const auto type = blocks.datatype();
      move(file_, call * call_bytes_, {MPI_BOTTOM, 1, type.get(), bytes});
    }
  }
  end_round();
}

void MpiioViewMethod::end_round() {
  pieces_.next_round();
  file_types_.next_round();
}

void MpiioViewMethod::sync() { file_.sync(); }

void MpiioViewMethod::close() {
  hints_ = file_.hints();
  file_.close();
}

nlohmann::json MpiioViewMethod::effective() const {
  nlohmann::json effective = {{"calls", {{call_name(), calls_}}}};
  report_hints(effective, context_.settings, hints_);
  return effective;
}

}  // namespace slabmark
