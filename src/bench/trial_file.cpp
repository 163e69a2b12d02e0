#include "bench/trial_file.hpp"

#include <unistd.h>

#include "parallel/agree.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark {

void require_free_path(const Comm& comm, const std::string& path, bool overwrite) {
  agreed(comm, [&] {
    if (comm.is_root()) posix::require_free_path(path, overwrite);
  });
}

TrialFile::TrialFile(const Comm& comm, std::string path)
    : comm_(comm), path_(std::move(path)), guard_(path_) {}

TrialFile::~TrialFile() {
  if (!keep_ && comm_.is_root()) unlink(path_.c_str());
}

}  // namespace slabmark
