#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <unistd.h>

namespace slabmark {

/// A directory that goes when the test ends: of this process alone, or one that the ranks of a
/// communicator share.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_(make_in(parent)) {}

  template <class Comm>
  explicit Scratch(const Comm& comm,
                   const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_(comm.broadcast(comm.is_root() ? make_in(parent) : "")), removes_([&comm] {
          comm.barrier();
          return comm.is_root();
        }) {}

  ~Scratch() {
    if (removes_()) std::filesystem::remove_all(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  static std::string make_in(const std::filesystem::path& parent) {
    std::string path = parent / "slabmark-test-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + path);
    }
    return path;
  }

  std::string path_;
  std::function<bool()> removes_ = [] { return true; };
};

}  // namespace slabmark
