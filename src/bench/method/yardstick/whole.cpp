#include <algorithm>
#include <vector>

#include "bench/method/raw/posix_file.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

/// As many bytes as the arrays of a flush have, holes that no rank writes among them, with one
/// pwrite of an equal part a rank: the least for a canonical file whose holes are so small that
/// nearly all of its pages hold data. What the file holds has no use.
class Whole : public PosixFileMethod {
 public:
  explicit Whole(const MethodContext& context)
      : PosixFileMethod(context), memory_(kept_memory<std::vector<std::byte>>()) {}

  void open(const std::string&) override {
    throw InputError("The method whole only writes; leave it out where reading is measured.");
  }

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

 private:
  std::shared_ptr<std::vector<std::byte>> memory_;
  std::uint64_t posted_ = 0;  ///< bytes of whole arrays
  std::uint64_t end_ = 0;     ///< of what was written so far
};

}  // namespace

MethodInfo whole_method() {
  return {.name = "whole",
          .summary = "whole arrays with their holes, no data: one contiguous write per rank",
          .kind = MethodKind::yardstick,
          .supports = fits_raw,
          .make = make_method<Whole>};
}

}  // namespace slabmark
