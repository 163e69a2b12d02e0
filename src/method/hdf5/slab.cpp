#include "method/hdf5/slab.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "method/shared/round_maxima.hpp"
#include "method/shared/selection_cache.hpp"
#include "method/shared/typed_memory.hpp"

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

/// Copies elements between a buffer with gaps and dense memory, in their order.
class Bounce {
 public:
  Bounce(const Selection& buffer, std::byte* memory, std::size_t element_bytes)
      : runs_(buffer_runs(buffer)), memory_(memory), element_bytes_(element_bytes) {}

  /// The next `elements`: gathered when writing, room for them when reading.
  std::byte* take(std::uint64_t elements, bool gather) {
    dense_.resize(elements * element_bytes_);
    begin_ = position_;
    if (gather)
      copy(elements, [](std::byte* dense, std::byte* gapped, std::size_t bytes) {
        std::memcpy(dense, gapped, bytes);
      });
    return dense_.data();
  }

  /// Puts what was read where it belongs.
  void scatter(std::uint64_t elements) {
    position_ = begin_;
    copy(elements, [](std::byte* dense, std::byte* gapped, std::size_t bytes) {
      std::memcpy(gapped, dense, bytes);
    });
  }

 private:
  struct Position {
    std::size_t run = 0;
    std::uint64_t done = 0;
  };

  template <class Copy>
  void copy(std::uint64_t elements, const Copy& one_run) {
    auto* dense = dense_.data();
    while (elements > 0) {
      const auto& run = runs_[position_.run];
      const auto part = std::min(elements, run.length - position_.done);
      const auto bytes = part * element_bytes_;
      one_run(dense, memory_ + (run.offset + position_.done) * element_bytes_, bytes);
      dense += bytes;
      elements -= part;
      position_.done += part;
      if (position_.done == run.length) position_ = {position_.run + 1, 0};
    }
  }

  RunList runs_;
  std::byte* memory_;
  std::size_t element_bytes_;
  std::vector<std::byte> dense_;
  Position position_;
  Position begin_;
};

/// One H5Dwrite per hyperslab, as programs do that think in slabs. Collective unless told
/// otherwise: a rank with fewer hyperslabs than others then takes part with empty selections.
class Hdf5Slab : public Hdf5Method {
 public:
  Hdf5Slab(const MethodContext& context, Hdf5Setup setup)
      : Hdf5Method(context, std::move(setup)), memory_(Extent{1}) {}

  void prepare() override {
    if (!collective()) return;
    most_slabs_ = RoundMaxima(context_.comm, context_.pattern,
                              for_each_transfer([](const Transfer& transfer) {
                                return transfer.file->hyperslab_count();
                              }));
  }

 private:
  void move_round(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      move_transfer(transfers[i], buffers[i],
                    collective() ? most_slabs_.at(round, i) : transfers[i].file->hyperslab_count());
    }
    paired_.next_round();
  }

  void move_transfer(const Transfer& transfer, std::byte* buffer, std::uint64_t calls) {
    auto& file = file_space(transfer.dataset, transfer.time);
    if (!transfer.buffer) {
      move_dense(transfer, buffer, file);
    } else if (paired_.get(transfer.file, transfer.buffer, 0,
                           [&] { return pair_up(*transfer.file, *transfer.buffer); })) {
      move_paired(transfer, buffer, file);
    } else {
      move_bounced(transfer, buffer, file);
    }
    for (auto i = transfer.file->hyperslab_count(); i < calls; ++i) {
      file.select_none();
      memory_.select_none();
      move(transfer.dataset, memory_, file, nullptr);
    }
  }

  void select(const Transfer& transfer, hdf5::Space& file) {
    if (element_count(slab_) == 0) {
      file.select_none();
    } else if (context_.pattern.datasets[transfer.dataset].has_time) {
      file.select(slab_, transfer.time);
    } else {
      file.select(slab_);
    }
  }

  void move_dense(const Transfer& transfer, std::byte* buffer, hdf5::Space& file) {
    const auto& dataset = context_.pattern.datasets[transfer.dataset];
    for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
      transfer.file->hyperslab(i, slab_);
      select(transfer, file);
      const auto elements = element_count(slab_);
      if (elements > 0) {
        memory_.become_dense(slab_, dataset.has_time);
      } else {
        memory_.become_line(0);
      }
      move(transfer.dataset, memory_, file, buffer);
      buffer += elements * size_of(dataset.type);
    }
  }

  void move_paired(const Transfer& transfer, std::byte* buffer, hdf5::Space& file) {
    hdf5::Space memory(transfer.buffer->extent());
    for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
      transfer.file->hyperslab(i, slab_);
      select(transfer, file);
      transfer.buffer->hyperslab(i, slab_);
      if (element_count(slab_) == 0) {
        memory.select_none();
      } else {
        memory.select(slab_);
      }
      move(transfer.dataset, memory, file, buffer);
    }
  }

  void move_bounced(const Transfer& transfer, std::byte* buffer, hdf5::Space& file) {
    Bounce bounce(*transfer.buffer, buffer,
                  size_of(context_.pattern.datasets[transfer.dataset].type));
    for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
      transfer.file->hyperslab(i, slab_);
      select(transfer, file);
      const auto elements = element_count(slab_);
      memory_.become_line(elements);
      move(transfer.dataset, memory_, file, bounce.take(elements, writing()));
      if (!writing()) bounce.scatter(elements);
    }
  }

  hdf5::Space memory_;
  Hyperslab slab_;
  SelectionCache<bool> paired_;
  RoundMaxima most_slabs_;
};

}  // namespace

std::unique_ptr<Method> make_hdf5_slab(const MethodContext& context, Hdf5Setup setup) {
  return std::make_unique<Hdf5Slab>(context, std::move(setup));
}

MethodInfo hdf5_slab_method() {
  auto info = hdf5_info("hdf5-slab", "one H5Dwrite per hyperslab, collective");
  info.make = [](const MethodContext& context) {
    return make_hdf5_slab(context, Hdf5Setup(context.settings));
  };
  return info;
}

}  // namespace slabmark
