#include "bench/method/raw/posix_file.hpp"

#include "core/parallel/agree.hpp"

namespace slabmark {

void PosixFileMethod::create(const std::string& path) {
  // Only one rank may create; the others must not open before that, nor wait if it failed.
  agreed(context_.comm, [&] {
    if (context_.comm.is_root()) file_ = posix::File::create(path);
  });
  if (!context_.comm.is_root()) file_ = posix::File::open(path, posix::File::Access::write);
}

Json PosixFileMethod::effective() const {
  return {{"calls", {{writing() ? "pwrite" : "pread", calls_}}}};
}

}  // namespace slabmark
