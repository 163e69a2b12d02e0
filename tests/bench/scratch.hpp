#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "parallel/comm.hpp"

namespace slabmark {

/// A directory that all ranks share and that goes when the test ends.
class Scratch {
 public:
  explicit Scratch(const Comm& comm) : comm_(comm) {
    std::string made;
    if (comm.is_root()) {
      made = (std::filesystem::temp_directory_path() / "slabmark-test-XXXXXX").string();
      if (mkdtemp(made.data()) == nullptr) made.clear();
    }
    path_ = comm.broadcast(made);
  }
  ~Scratch() {
    comm_.barrier();
    if (comm_.is_root()) std::filesystem::remove_all(path_);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  const Comm& comm_;
  std::string path_;
};

}  // namespace slabmark
