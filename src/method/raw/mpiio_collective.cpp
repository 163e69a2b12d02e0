#include "method/raw/mpiio_view.hpp"

namespace slabmark {

namespace {

/// One collective MPI-IO call a round, over a view of all its datasets.
class MpiioCollective : public MpiioViewMethod {
 public:
  explicit MpiioCollective(const MethodContext& context) : MpiioViewMethod(context) {}

 protected:
  void move(mpiio::File& file, std::uint64_t offset, const mpiio::Memory& memory) override {
    if (writing()) {
      file.write_at_all(offset, memory);
    } else {
      file.read_at_all(offset, memory);
    }
  }

  std::string call_name() const override {
    return writing() ? "MPI_File_write_at_all" : "MPI_File_read_at_all";
  }
};

}  // namespace

MethodInfo mpiio_collective_method() {
  return {
      .name = "mpiio-collective",
      .summary = "one MPI_File_write_at_all a round over a view of all datasets, headerless file",
      .format = FileFormat::raw,
      .options = mpiio_view_options(),
      .supports = [](const Pattern& pattern,
                     const Settings&) { return too_large_for_raw(pattern); },
      .make =
          [](const MethodContext& context) { return std::make_unique<MpiioCollective>(context); },
      .missing = {}};
}

}  // namespace slabmark
