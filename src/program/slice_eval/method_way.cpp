#include <fmt/format.h>

#include "measure/clock.hpp"
#include "parallel/agree.hpp"
#include "program/slice_eval/way.hpp"
#include "slice/attempt.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::slice_eval {

namespace {

/// A method of the registry, which gets the selection as it lies in the field: one file, kept open,
/// with a dimension of time.
class MethodWay : public Way {
 public:
  MethodWay(const MethodInfo& method, const WayContext& context)
      : context_(context),
        pattern_(make_slice_pattern(context.options.grid, {context.slice}, ElementType::float64,
                                    context.options.fields, context.options.outputs + 1,
                                    static_cast<std::uint64_t>(context.comm.rank()),
                                    static_cast<std::uint64_t>(context.comm.size()))),
        clock_(context.comm),
        path_(context.stem + context.slice.name + ".h5") {
    agreed(context.comm, [&] {
      if (context.comm.is_root()) posix::require_free_path(path_, {context.options.run.overwrite});
    });
    for (std::uint64_t f = 0; f < context.options.fields; ++f) {
      buffers_.push_back(reinterpret_cast<std::byte*>(context.fields.block(f)));
    }
    method_ =
        method.make({context.comm, pattern_, Direction::write, context.options.settings, clock_});
    clock_.time(Phase::create, [&] { method_->create(path_); });
    clock_.time(Phase::define, [&] { method_->define(); });
    clock_.time(Phase::prepare, [&] { method_->prepare(); });
  }

  void output(std::uint64_t number, double) override {
    slice::Attempt attempt;
    slice::timed(tally_.write, [&] {
      attempt.run([&] {
        method_->post(number, buffers_);
        method_->flush();
      });
    });
    slice::timed(tally_.agree, [&] { agree(context_.comm, attempt.failure()); });
    for (const auto& transfer : pattern_.transfers(number)) {
      tally_.bytes_written += moved_bytes(transfer, pattern_.datasets[transfer.dataset]);
    }
  }
  void finish() override {
    clock_.time(Phase::close, [&] { method_->close(); });
  }
  slice::Tally tally() const override { return tally_; }
  std::vector<std::string> files() const override { return {path_}; }
  FileLayout layout() const override { return {"f%" + context_.slice.name, false}; }
  nlohmann::json effective() const override { return method_->effective(); }

 private:
  WayContext context_;
  Pattern pattern_;
  PhaseClock clock_;
  std::string path_;
  std::vector<std::byte*> buffers_;
  std::unique_ptr<Method> method_;
  slice::Tally tally_;
};

}  // namespace

std::unique_ptr<Way> make_method_way(const MethodInfo& method, const WayContext& context) {
  return std::make_unique<MethodWay>(method, context);
}

}  // namespace slabmark::slice_eval
