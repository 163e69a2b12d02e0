// A whole method, to be copied under other names (docs/how-to/add-a-method.md): one pwrite or pread
// per contiguous piece of a headerless file. It is compiled and tested, and not in the registry.

#include "bench/method/options.hpp"
#include "bench/method/raw/file_order.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "core/parallel/agree.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

struct ExampleOptions {
  bool durable = false;
};

OptionTable<ExampleOptions> example_options() {
  return OptionTable<ExampleOptions>().add("example.durable", &ExampleOptions::durable,
                                           "on: each flush waits until the data is durable");
}

class Example : public Method {
 public:
  explicit Example(const MethodContext& context)
      : Method(context),
        options_(example_options().read(context.settings)),
        layout_(context.pattern) {}

  // One rank makes the file, then all open it.
  void create(const std::string& path) override {
    agreed(context_.comm, [&] {
      if (context_.comm.is_root()) posix::File::create(path);
    });
    file_ = posix::File::open(path, posix::File::Access::write);
  }

  // The full size from the start: what no rank writes can still be read.
  void define() override {
    if (context_.comm.is_root()) file_.resize(layout_.bytes());
  }

  void open(const std::string& path) override {
    file_ = posix::File::open(path, posix::File::Access::read);
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const std::vector<Transfer> transfers = context_.pattern.transfers(round);
    const FileOrder order = order_in_file(context_.pattern, transfers, pieces_, layout_);
    order.for_each_part(buffers, [&](const FilePart& part) {
      if (writing()) {
        file_.write_at(part.offset, part.memory, part.bytes);
      } else {
        file_.read_at(part.offset, part.memory, part.bytes);
      }
      ++calls_;
    });
    pieces_.next_round();
  }

  void flush() override {
    if (options_.durable && writing()) file_.sync();
  }
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }

  Json effective() const override {
    return {{"calls", {{writing() ? "pwrite" : "pread", calls_}}}};
  }

 private:
  const ExampleOptions options_;
  RawLayout layout_;
  posix::File file_;
  SelectionCache<FilePieces> pieces_;
  std::uint64_t calls_ = 0;
};

}  // namespace

MethodInfo example_method() {
  return {.name = "example",
          .summary = "one pwrite or pread per contiguous piece of a headerless file",
          .format = FileFormat::raw,
          .options = example_options(),
          .supports = fits_raw,
          .make = make_method<Example>};
}

}  // namespace slabmark
