#include <algorithm>

#include "method/raw/mpiio_view.hpp"

namespace slabmark {

namespace {

/// One independent MPI-IO call a round over a view of all its datasets, or, without a view, one
/// call per contiguous piece.
class MpiioIndependent : public MpiioViewMethod {
 public:
  explicit MpiioIndependent(const MethodContext& context) : MpiioViewMethod(context) {}

  void prepare() override {
    // Without a view nothing is collective, and so nothing needs to be known of the others.
    if (wants_views()) MpiioViewMethod::prepare();
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    if (wants_views()) {
      MpiioViewMethod::post(round, buffers);
      return;
    }
    order(context_.pattern.transfers(round)).for_each_part(buffers, [this](FilePart part) {
      while (part.bytes > 0) {
        const auto bytes = std::min(part.bytes, mpiio_call_bytes);
        move(file_, part.offset, {part.memory, static_cast<int>(bytes), MPI_BYTE, bytes});
        count_call();
        part = {part.offset + bytes, part.memory + bytes, part.bytes - bytes};
      }
    });
    end_round();
  }

 protected:
  void move(mpiio::File& file, std::uint64_t offset, const mpiio::Memory& memory) override {
    if (writing()) {
      file.write_at(offset, memory);
    } else {
      file.read_at(offset, memory);
    }
  }

  std::string call_name() const override {
    return writing() ? "MPI_File_write_at" : "MPI_File_read_at";
  }
};

}  // namespace

MethodInfo mpiio_independent_method() {
  return {
      .name = "mpiio-independent",
      .summary = "one MPI_File_write_at a round over a view of all datasets, headerless file",
      .format = FileFormat::raw,
      .options = mpiio_view_options(),
      .supports = [](const Pattern& pattern,
                     const Settings&) { return too_large_for_raw(pattern); },
      .make =
          [](const MethodContext& context) { return std::make_unique<MpiioIndependent>(context); },
      .missing = {}};
}

}  // namespace slabmark
