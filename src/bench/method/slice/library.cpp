#include <optional>
#include <utility>

#include "bench/method/options.hpp"
#include "bench/method/slice/method.hpp"

namespace slabmark {

namespace {

using slice::FileMode;

/// The ranks that write the points that slabmark::slice gathered.
enum class Writers { a_mebibyte, one, ranks, thread };

class SliceLibrary : public SliceMethod {
 public:
  SliceLibrary(const MethodContext& context, FileMode mode, Writers writers, std::uint64_t waiting)
      : SliceMethod(context), mode_(mode), writers_(writers), waiting_(waiting) {}

  void create(const std::string& path) override {
    auto declaration = declare(context_.pattern, path);
    declaration.mode = mode_;
    if (writers_ == Writers::one) declaration.writers = 1;
    if (writers_ == Writers::ranks) {
      declaration.writers = static_cast<std::uint64_t>(context_.comm.size());
    }
    if (writers_ == Writers::thread) declaration.waiting = waiting_;
    files_.emplace(context_.comm, declaration);
  }

  void sync() override { files_->sync(); }
  void close() override { files_->output.close(); }

 protected:
  void write(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto& datasets = context_.pattern.datasets;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      files_->output.set_block(datasets[i].name, buffers[i]);
    }
    files_->write(round);
  }
  slice::Tally tally() const override { return files_->output.tally(); }

 private:
  FileMode mode_;
  Writers writers_;
  std::uint64_t waiting_;  ///< outputs that may wait for the thread
  std::optional<SliceFiles> files_;
};

struct WaitingOption {
  std::uint64_t outputs = 4;
};

MethodInfo library_info(std::string name, std::string summary, FileMode mode, Writers writers) {
  auto info = slice_info(std::move(name), std::move(summary), FileFormat::vtkhdf, mode);
  OptionTable<WaitingOption> options;
  if (writers == Writers::thread) {
    options.add(mode == FileMode::append ? "append.waiting" : "files.waiting",
                &WaitingOption::outputs, "outputs that may wait for the thread that writes them");
  }
  info.options = options;
  info.make = [mode, writers, options](const MethodContext& context) {
    return std::make_unique<SliceLibrary>(context, mode, writers,
                                          options.read(context.settings).outputs);
  };
  return info;
}

MethodInfo appending(std::string name, std::string summary, Writers writers) {
  return library_info(std::move(name), std::move(summary), FileMode::append, writers);
}

MethodInfo file_each(std::string name, std::string summary, Writers writers) {
  return library_info(std::move(name), std::move(summary), FileMode::file_per_output, writers);
}

}  // namespace

MethodInfo append_method() {
  return appending("append", "slices by the library, a file kept open, a writer for each MiB",
                   Writers::a_mebibyte);
}
MethodInfo append_one_method() {
  return appending("append-one", "as append, one rank writes", Writers::one);
}
MethodInfo append_ranks_method() {
  return appending("append-ranks", "as append, each rank writes", Writers::ranks);
}
MethodInfo append_async_method() {
  return appending("append-async", "as append, a thread writes", Writers::thread);
}
MethodInfo files_method() {
  return file_each("files", "slices by the library, a new file for each output",
                   Writers::a_mebibyte);
}
MethodInfo files_one_method() {
  return file_each("files-one", "as files, one rank writes", Writers::one);
}
MethodInfo files_ranks_method() {
  return file_each("files-ranks", "as files, each rank writes", Writers::ranks);
}
MethodInfo files_async_method() {
  return file_each("files-async", "as files, a thread writes", Writers::thread);
}

}  // namespace slabmark
