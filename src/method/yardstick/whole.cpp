#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "method/method.hpp"
#include "method/raw/raw_layout.hpp"
#include "method/raw/shared_posix_file.hpp"

namespace slabmark {

namespace {

/// As many bytes as the arrays of a flush have, holes that no rank writes among them, with one
/// pwrite of an equal part a rank: the least for a canonical file whose holes are so small that
/// nearly all of its pages hold data. What the file holds has no use.
class Whole : public Method {
 public:
  explicit Whole(const MethodContext& context) : context_(context) {
    if (context.kept) memory_ = std::static_pointer_cast<Memory>(*context.kept);
    if (!memory_) memory_ = std::make_shared<Memory>();
    if (context.kept) *context.kept = memory_;
  }

  void create(const std::string& path) override { file_ = create_shared(context_.comm, path); }
  void define() override {}
  void open(const std::string&) override {
    throw InputError("The method whole only writes; leave it out where reading is measured.");
  }
  void prepare() override {}

  void post(std::uint64_t round, std::span<std::byte* const>) override {
    for (const Transfer& transfer : context_.pattern.transfers(round)) {
      const Dataset& dataset = context_.pattern.datasets[transfer.dataset];
      posted_ += element_count(dataset.extent()) * size_of(dataset.type);
    }
  }

  void flush() override {
    const auto rank = static_cast<std::uint64_t>(context_.comm.rank());
    const Run mine = equal_range(posted_, rank, static_cast<std::uint64_t>(context_.comm.size()));
    memory_->resize(std::max<std::uint64_t>(memory_->size(), mine.length));
    file_.write_at(end_ + mine.offset, memory_->data(), mine.length);
    end_ += posted_;
    posted_ = 0;
    ++calls_;
  }

  void sync() override { file_.sync(); }
  void close() override { file_.close(); }
  nlohmann::json effective() const override { return {{"calls", {{"pwrite", calls_}}}}; }

 private:
  using Memory = std::vector<std::byte>;

  MethodContext context_;
  posix::File file_;
  std::shared_ptr<Memory> memory_;
  std::uint64_t posted_ = 0;  ///< bytes of whole arrays
  std::uint64_t end_ = 0;     ///< of what was written so far
  std::uint64_t calls_ = 0;
};

}  // namespace

MethodInfo whole_method() {
  return {.name = "whole",
          .summary = "whole arrays with their holes, no data: one contiguous write a rank",
          .format = FileFormat::none,
          .options = {},
          .supports = [](const Pattern& pattern,
                         const Settings&) { return too_large_for_raw(pattern); },
          .make = [](const MethodContext& context) { return std::make_unique<Whole>(context); },
          .missing = {}};
}

}  // namespace slabmark
