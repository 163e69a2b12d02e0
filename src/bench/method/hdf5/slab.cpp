#include <utility>

#include "bench/method/hdf5/method.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/method/shared/typed_memory.hpp"

namespace slabmark {

namespace {

/// True if hyperslab i of the buffer holds just the elements of hyperslab i of the file, so that
/// HDF5 can take them from the buffer itself.
bool pair_up(const Selection& file, const Selection& buffer) {
  if (file.hyperslab_count() != buffer.hyperslab_count()) return false;
  Hyperslab in_file;
  Hyperslab in_buffer;
  for (std::uint64_t i = 0; i < file.hyperslab_count(); ++i) {
    file.hyperslab(i, in_file);
    buffer.hyperslab(i, in_buffer);
    if (element_count(in_file) != element_count(in_buffer)) return false;
  }
  return true;
}

/// One H5Dwrite per hyperslab, as programs do that think in slabs. Collective unless told
/// otherwise: a rank with fewer hyperslabs than others then takes part with empty selections.
class Hdf5Slab : public Hdf5Method {
 public:
  Hdf5Slab(const MethodContext& context, Hdf5Options options)
      : Hdf5Method(context, std::move(options)), memory_(Extent{1}) {}

  void prepare() override {
    if (!collective()) return;
    most_slabs_ =
        RoundMaxima(context_.comm, context_.pattern, [this](const auto& transfers, auto& numbers) {
          for (const auto& transfer : transfers) numbers.push_back(calls_for(transfer));
        });
  }

 private:
  std::uint64_t calls_for(const Transfer& transfer) const override {
    return transfer.file->hyperslab_count();
  }

  void move_round(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      move_transfer(transfers[i], buffers[i],
                    collective() ? most_slabs_.at(round, i) : calls_for(transfers[i]));
    }
    paired_.next_round();
    runs_.next_round();
  }

  void move_transfer(const Transfer& transfer, std::byte* buffer, std::uint64_t calls) {
    const auto& dataset = context_.pattern.datasets[transfer.dataset];
    auto& file = file_space(transfer.dataset, transfer.time);
    const bool paired = transfer.buffer && paired_.get(transfer.file, transfer.buffer, 0, [&] {
      return pair_up(*transfer.file, *transfer.buffer);
    });
    auto bounce = paired ? std::nullopt : runs_.bounce(transfer, buffer, size_of(dataset.type));
    if (paired) memory_ = hdf5::Space(transfer.buffer->extent());
    for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
      transfer.file->hyperslab(i, slab_);
      const auto elements = element_count(slab_);
      if (elements == 0) {
        file.select_none();
      } else if (dataset.has_time) {
        file.select(slab_, transfer.time);
      } else {
        file.select(slab_);
      }
      if (!paired && (bounce || elements == 0)) {
        memory_.become_line(elements);
      } else if (!paired) {
        memory_.become_dense(slab_, dataset.has_time);
      } else if (elements == 0) {
        memory_.select_none();
      } else {
        transfer.buffer->hyperslab(i, slab_);
        memory_.select(slab_);
      }
      move(transfer.dataset, memory_, file, bounce ? bounce->take(elements, writing()) : buffer);
      if (bounce && !writing()) bounce->scatter(elements);
      if (!transfer.buffer) buffer += elements * size_of(dataset.type);
    }
    for (auto i = transfer.file->hyperslab_count(); i < calls; ++i) {
      file.select_none();
      memory_.select_none();
      move(transfer.dataset, memory_, file, nullptr);
    }
  }

  hdf5::Space memory_;
  Hyperslab slab_;
  SelectionCache<bool> paired_;
  BufferRuns runs_;
  RoundMaxima most_slabs_;
};

}  // namespace

std::unique_ptr<Method> make_hdf5_slab(const MethodContext& context, Hdf5Options options) {
  return std::make_unique<Hdf5Slab>(context, std::move(options));
}

MethodInfo hdf5_slab_method() {
  return hdf5_info("hdf5-slab", "one H5Dwrite per hyperslab, collective", make_hdf5_slab);
}

// HDF5 lets only chunked datasets grow, so these have all their time steps from the start.
MethodInfo hdf5_contiguous_method() {
  std::vector<std::string> needing_chunks = filter_options();
  needing_chunks.insert(needing_chunks.end(), {"hdf5.chunk", "hdf5.time_chunk", "hdf5.time"});
  return hdf5_info(
      "hdf5-contiguous", "hdf5-slab into datasets without chunks, of all time steps from the start",
      make_hdf5_slab,
      {.options = hdf5_options().without(needing_chunks), .force = [](Hdf5Options& options) {
         options.chunks = Hdf5Chunks("none");
         options.fixed_time = true;
       }});
}

}  // namespace slabmark
