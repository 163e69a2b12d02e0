#pragma once

#include <functional>

namespace slabmark {

/// Calls foreign code. Returns 0, or the signal that it raised: SIGSEGV, SIGBUS, SIGFPE, SIGILL or
/// SIGABRT, also for a stack that overflows, end the call and not the process. Memory and locks
/// that the code held then are lost, and what it overwrote stays so. On one thread at a time.
int guarded_call(const std::function<void()>& foreign);

}  // namespace slabmark
