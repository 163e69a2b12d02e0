#include "accel/slices/lines.hpp"
#include "accel/slices/plan.hpp"
#include "bench/method/slice/method.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark {

namespace {

enum class Order { of_the_gathering, of_memory };

/// A limit of gathering, which writes nothing: the lines of memory that `append-one` has to touch,
/// of the fields and of the buffer, are read, a byte of each. Either those very lines in the order
/// in which it meets them, or as many one after another.
class SliceReading : public SliceMethod {
 public:
  SliceReading(const MethodContext& context, Order order) : SliceMethod(context), order_(order) {}

  void create(const std::string&) override {}

  void prepare() override {
    for (const auto& cut : source().slices) {
      auto plan = slice::make_plan(source().field, cut, source().fields,
                                   context_.pattern.datasets.front().type, {0}, rank());
      slices_.push_back({std::move(plan), {}, {}});
      slices_.back().written.resize(slices_.back().plan.write_bytes);
      slices_.back().sent.resize(slices_.back().plan.send_bytes);
    }
  }

  void close() override {}

 protected:
  void write(std::uint64_t, std::span<std::byte* const> buffers) override {
    if (lines_ == 0) touch(buffers, [&](const std::byte*) { ++lines_; });
    timed(tally_.gather, [&] {
      unsigned sum = 0;
      const auto add = [&](const std::byte* at) { sum += std::to_integer<unsigned>(*at); };
      if (order_ == Order::of_memory) {
        read(buffers.front(), add);
      } else {
        touch(buffers, add);
      }
      sum_ = sum;
    });
    tally_.bytes_touched += lines_ * slice::line_bytes;
  }
  slice::Tally tally() const override { return tally_; }

 private:
  struct OneSlice {
    slice::Plan plan;
    std::vector<std::byte> written;
    std::vector<std::byte> sent;
  };

  template <class Visit>
  void touch(std::span<std::byte* const> buffers, Visit visit) const {
    const auto type = context_.pattern.datasets.front().type;
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      for (const auto& one : slices_[s].plan.gatherings) {
        const auto& target = one.to_own_part ? slices_[s].written : slices_[s].sent;
        const slice::Points dense{one.offset / size_of(type), one.points.rows,
                                  one.pitch / size_of(type), one.points.columns, 1};
        slice::for_each_line(buffers[s * source().fields + one.field], one.points, source().type,
                             visit);
        slice::for_each_line(target.data(), dense, type, visit);
      }
    }
  }

  /// Begins anew where a field is smaller than what is to be read.
  template <class Visit>
  void read(const std::byte* field, Visit visit) const {
    const auto block = block_with_halo(source().field, rank());
    const auto field_bytes = block[0] * block[1] * block[2] * size_of(source().type);
    const auto bytes = lines_ * slice::line_bytes;
    for (std::uint64_t done = 0; done < bytes; done += field_bytes) {
      const auto part = std::min(field_bytes, bytes - done);
      for (std::uint64_t at = 0; at < part; at += slice::line_bytes) visit(field + at);
    }
  }

  Order order_;
  std::vector<OneSlice> slices_;
  std::uint64_t lines_ = 0;    ///< of an output, counted in the first
  volatile unsigned sum_ = 0;  // so that nothing is left out
  slice::Tally tally_;
};

MethodInfo reading_info(std::string name, std::string summary, Order order) {
  auto info = slice_info(std::move(name), std::move(summary), FileFormat::none);
  info.supports = [](const Pattern& pattern, const Settings&) {
    return reason_against_host_slices(pattern);
  };
  info.make = [order](const MethodContext& context) {
    return std::make_unique<SliceReading>(context, order);
  };
  return info;
}

}  // namespace

MethodInfo touch_method() {
  return reading_info("touch",
                      "a limit of gathering slices: a byte of each line that append-one touches",
                      Order::of_the_gathering);
}
MethodInfo read_method() {
  return reading_info("read", "a limit of gathering slices: as many lines one after another",
                      Order::of_memory);
}

}  // namespace slabmark
