#include "bench/method/timed_file.hpp"

namespace slabmark {

TimedFile::TimedFile(const MethodInfo& info, const MethodContext& context)
    : comm_(context.comm.get()),
      direction_(context.direction),
      clock_(context.clock),
      method_(
          info.make({comm_, context.pattern, direction_, context.settings, clock_, context.kept})) {
}

void TimedFile::begin(const std::string& path, const std::function<void()>& created) {
  if (direction_ == Direction::read) {
    clock_.time(Phase::open, [&] { method_->open(path); });
  } else {
    clock_.pause([&] { method_->choose_hints(); });
    clock_.time(Phase::create, [&] { method_->create(path); });
    if (created) clock_.pause(created);
    clock_.time(Phase::define, [&] { method_->define(); });
  }
  clock_.time(Phase::prepare, [&] { method_->prepare(); });
}

void TimedFile::move(std::uint64_t first, std::span<const std::span<std::byte* const>> buffers) {
  clock_.time(Phase::post, [&] {
    for (std::size_t i = 0; i < buffers.size(); ++i) method_->post(first + i, buffers[i]);
  });
  clock_.time(Phase::flush, [&] { method_->flush(); });
}

void TimedFile::sync() {
  clock_.time(Phase::sync, [&] { method_->sync(); });
}

Json TimedFile::end() {
  clock_.pause([&] { method_->inspect(); });
  clock_.time(Phase::close, [&] { method_->close(); });
  return method_->effective();
}

}  // namespace slabmark
