#include "method/raw/file_order.hpp"
#include "method/raw/posix_file.hpp"
#include "method/raw/raw_layout.hpp"

namespace slabmark {

namespace {

/// One pwrite or pread per contiguous piece, in file order. A pattern with one piece a rank and
/// round is the limit of what the file system takes: the bound runs through this method.
class Posix : public PosixFileMethod {
 public:
  explicit Posix(const MethodContext& context)
      : PosixFileMethod(context), layout_(context.pattern) {}

  // The full size from the start: a file system or a limit that cannot take it says so at once, and
  // the end of a file that no rank wrote can still be read.
  void define() override {
    if (context_.comm.is_root()) file_.resize(layout_.bytes());
  }

  void prepare() override {
    if (context_.pattern.rounds > 0) order(context_.pattern.transfers(0));
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    order(context_.pattern.transfers(round)).for_each_part(buffers, [&](const FilePart& part) {
      if (writing()) {
        file_.write_at(part.offset, part.memory, part.bytes);
      } else {
        file_.read_at(part.offset, part.memory, part.bytes);
      }
      ++calls_;
    });
    pieces_.next_round();
  }

 private:
  FileOrder order(const std::vector<Transfer>& transfers) {
    return order_in_file(context_.pattern, transfers, pieces_, layout_);
  }

  RawLayout layout_;
  SelectionCache<FilePieces> pieces_;
};

}  // namespace

MethodInfo posix_method() {
  return {.name = "posix",
          .summary = "one pwrite or pread per contiguous piece of a headerless file",
          .format = FileFormat::raw,
          .supports = fits_raw,
          .make = make_method<Posix>};
}

}  // namespace slabmark
