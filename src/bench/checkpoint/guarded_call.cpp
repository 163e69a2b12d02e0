#include "bench/checkpoint/guarded_call.hpp"

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>

namespace slabmark {

namespace {

constexpr std::array caught = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

sigjmp_buf way_out;
thread_local bool is_guarded = false;

extern "C" void leave(int number) {
  if (is_guarded) siglongjmp(way_out, number);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// The handlers, on a stack of their own, for as long as this lives.
class Handlers {
 public:
  Handlers() {
    stack_t stack{};
    stack.ss_sp = memory_.data();
    stack.ss_size = memory_.size();
    sigaltstack(&stack, &stack_before_);
    struct sigaction action {};
    action.sa_handler = leave;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < caught.size(); ++i) sigaction(caught[i], &action, &before_[i]);
    is_guarded = true;
  }
  ~Handlers() {
    is_guarded = false;
    for (std::size_t i = 0; i < caught.size(); ++i) sigaction(caught[i], &before_[i], nullptr);
    sigaltstack(&stack_before_, nullptr);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  std::array<std::byte, 64 << 10> memory_;
  stack_t stack_before_{};
  std::array<struct sigaction, caught.size()> before_{};
};

}  // namespace

int guarded_call(const std::function<void()>& foreign) {
  const Handlers handlers;
  const int raised = sigsetjmp(way_out, 1);
  if (raised == 0) foreign();
  return raised;
}

}  // namespace slabmark
