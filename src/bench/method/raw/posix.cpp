#include <optional>

#include "bench/method/options.hpp"
#include "bench/method/raw/file_order.hpp"
#include "bench/method/raw/posix_file.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "storage/posix/direct_file.hpp"

namespace slabmark {

namespace {

struct PosixOptions {
  bool direct = false;
};

OptionTable<PosixOptions> posix_options() {
  return OptionTable<PosixOptions>().add(
      "posix.direct", &PosixOptions::direct,
      "on: whole blocks of 4096 bytes move past the page cache (O_DIRECT), what a piece begins and "
      "ends with through it");
}

/// One pwrite or pread per contiguous piece, in file order. A pattern with one piece a rank and
/// round is the limit of what the file system takes: the bound runs through this method.
class Posix : public PosixFileMethod {
 public:
  explicit Posix(const MethodContext& context)
      : PosixFileMethod(context),
        layout_(context.pattern),
        options_(posix_options().read(context.settings)) {}

  void create(const std::string& path) override {
    PosixFileMethod::create(path);
    if (options_.direct) direct_.emplace(file_, posix::File::Access::write);
  }

  void open(const std::string& path) override {
    PosixFileMethod::open(path);
    if (options_.direct) direct_.emplace(file_, posix::File::Access::read);
  }

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
      direct_ ? move(*direct_, part) : move(file_, part);
      ++calls_;
    });
    pieces_.next_round();
  }

  Json effective() const override {
    Json found = PosixFileMethod::effective();
    if (direct_) found["direct_bytes"] = direct_->direct_bytes();
    return found;
  }

 private:
  template <class File>
  void move(File& file, const FilePart& part) {
    if (writing()) {
      file.write_at(part.offset, part.memory, part.bytes);
    } else {
      file.read_at(part.offset, part.memory, part.bytes);
    }
  }

  FileOrder order(const std::vector<Transfer>& transfers) {
    return order_in_file(context_.pattern, transfers, pieces_, layout_);
  }

  RawLayout layout_;
  const PosixOptions options_;
  std::optional<posix::DirectFile> direct_;
  SelectionCache<FilePieces> pieces_;
};

}  // namespace

MethodInfo posix_method() {
  return {.name = "posix",
          .summary = "one pwrite or pread per contiguous piece of a headerless file",
          .format = FileFormat::raw,
          .options = posix_options(),
          .supports = fits_raw,
          .make = make_method<Posix>};
}

}  // namespace slabmark
