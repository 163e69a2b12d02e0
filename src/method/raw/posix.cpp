#include "method/method.hpp"
#include "method/raw/file_order.hpp"
#include "method/raw/raw_layout.hpp"
#include "method/raw/shared_posix_file.hpp"

namespace slabmark {

namespace {

/// One pwrite or pread per contiguous piece, in file order. A pattern with one piece a rank and
/// round is the limit of what the file system takes: the bound runs through this method.
class Posix : public Method {
 public:
  explicit Posix(const MethodContext& context) : context_(context), layout_(context.pattern) {}

  void create(const std::string& path) override { file_ = create_shared(context_.comm, path); }

  // The full size from the start: a file system or a limit that cannot take it says so at once, and
  // the end of a file that no rank wrote can still be read.
  void define() override {
    if (context_.comm.is_root()) file_.resize(layout_.bytes());
  }

  void open(const std::string& path) override {
    file_ = posix::File::open(path, posix::File::Access::read);
  }

  void prepare() override {
    if (context_.pattern.rounds > 0) order(context_.pattern.transfers(0));
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const bool writing = context_.direction == Direction::write;
    order(context_.pattern.transfers(round)).for_each_part(buffers, [&](const FilePart& part) {
      if (writing) {
        file_.write_at(part.offset, part.memory, part.bytes);
      } else {
        file_.read_at(part.offset, part.memory, part.bytes);
      }
      ++calls_;
    });
    pieces_.next_round();
  }

  void flush() override {}
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }

  nlohmann::json effective() const override {
    const char* call = context_.direction == Direction::write ? "pwrite" : "pread";
    return {{"calls", {{call, calls_}}}};
  }

 private:
  FileOrder order(const std::vector<Transfer>& transfers) {
    return order_in_file(context_.pattern, transfers, pieces_, [this](const Transfer& transfer) {
      return layout_.offset(transfer.dataset, transfer.time);
    });
  }

  MethodContext context_;
  RawLayout layout_;
  SelectionCache<FilePieces> pieces_;
  posix::File file_;
  std::uint64_t calls_ = 0;
};

}  // namespace

MethodInfo posix_method() {
  return {.name = "posix",
          .summary = "one pwrite or pread per contiguous piece of a headerless file",
          .format = FileFormat::raw,
          .options = {},
          .supports = [](const Pattern& pattern,
                         const Settings&) { return too_large_for_raw(pattern); },
          .make = [](const MethodContext& context) { return std::make_unique<Posix>(context); },
          .missing = {}};
}

}  // namespace slabmark
