#include "method/raw/shared_posix_file.hpp"

#include "parallel/agree.hpp"

namespace slabmark {

posix::File create_shared(const Comm& comm, const std::string& path) {
  // Only one rank may create; the others must not open before that, nor wait if it failed.
  posix::File file;
  agreed(comm, [&] {
    if (comm.is_root()) file = posix::File::create(path);
  });
  if (!comm.is_root()) file = posix::File::open(path, posix::File::Access::write);
  return file;
}

}  // namespace slabmark
