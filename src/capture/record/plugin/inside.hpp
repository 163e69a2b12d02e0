#pragma once

#include <cerrno>

namespace slabmark::capture {

/// How many captured calls this thread is in.
extern constinit thread_local int call_depth;

/// While it lives, nothing that this thread does is a call of the program, and errno stays.
class Inside {
 public:
  Inside() : errno_(errno) { ++call_depth; }
  ~Inside() {
    --call_depth;
    errno = errno_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  int errno_;
};

}  // namespace slabmark::capture
