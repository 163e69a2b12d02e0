#include <fmt/format.h>

#include "program/slice_eval/way.hpp"
#include "slice/attempt.hpp"
#include "slice/lines.hpp"
#include "slice/plan.hpp"

namespace slabmark::slice_eval {

namespace {

/// A limit of gathering, which writes nothing: the lines of memory that `append-one` has to touch,
/// of the fields and of the buffer, are read, a byte of each. Either those very lines in the order
/// in which it meets them, or as many one after another.
class ReadingWay : public Way {
 public:
  ReadingWay(bool in_order, const WayContext& context)
      : in_order_(in_order),
        context_(context),
        plan_(slice::make_plan(context.options.grid, context.slice, context.options.fields,
                               context.options.type, {0},
                               static_cast<std::uint64_t>(context.comm.rank()))),
        written_(plan_.write_bytes),
        sent_(plan_.send_bytes) {
    touch([&](const std::byte*) { bytes_ += slice::line_bytes; });
  }

  void output(std::uint64_t, double) override {
    slice::timed(tally_.gather, [&] {
      unsigned sum = 0;
      const auto add = [&](const std::byte* at) { sum += std::to_integer<unsigned>(*at); };
      if (in_order_) {
        read(add);
      } else {
        touch(add);
      }
      sum_ = sum;
    });
    tally_.bytes_touched += bytes_;
  }
  void finish() override {}
  slice::Tally tally() const override { return tally_; }
  std::vector<std::string> files() const override { return {}; }
  FileLayout layout() const override { return {"", false}; }

 private:
  template <class Visit>
  void touch(Visit visit) const {
    const auto type = context_.options.type;
    for (const auto& one : plan_.gatherings) {
      const auto& target = one.to_own_part ? written_ : sent_;
      const slice::Points dense{one.offset / size_of(type), one.points.rows,
                                one.pitch / size_of(type), one.points.columns, 1};
      slice::for_each_line(context_.fields.block(one.field), one.points, ElementType::float64,
                           visit);
      slice::for_each_line(target.data(), dense, type, visit);
    }
  }

  /// Begins anew where a field is smaller than what is to be read.
  template <class Visit>
  void read(Visit visit) const {
    const auto* field = reinterpret_cast<const std::byte*>(context_.fields.block(0));
    const auto field_bytes = context_.fields.block_points() * sizeof(double);
    for (std::uint64_t done = 0; done < bytes_; done += field_bytes) {
      const auto part = std::min(field_bytes, bytes_ - done);
      for (std::uint64_t at = 0; at < part; at += slice::line_bytes) visit(field + at);
    }
  }

  bool in_order_;
  WayContext context_;
  slice::Plan plan_;
  std::vector<std::byte> written_;
  std::vector<std::byte> sent_;
  std::uint64_t bytes_ = 0;    ///< of the lines of an output
  volatile unsigned sum_ = 0;  // so that nothing is left out
  slice::Tally tally_;
};

}  // namespace

std::unique_ptr<Way> make_reading_way(bool in_order, const WayContext& context) {
  return std::make_unique<ReadingWay>(in_order, context);
}

}  // namespace slabmark::slice_eval
