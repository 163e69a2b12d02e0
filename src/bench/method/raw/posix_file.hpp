#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/method/method.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

/// The common part of methods that write one file without a library.
class PosixFileMethod : public Method {
 public:
  void create(const std::string& path) override;  ///< and opens it on every rank
  void open(const std::string& path) override {
    file_ = posix::File::open(path, posix::File::Access::read);
  }
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }
  Json effective() const override;

 protected:
  using Method::Method;

  /// Memory that serves file after file, as that of the rearranged methods does.
  template <class Memory>
  std::shared_ptr<Memory> kept_memory() const {
    if (context_.kept && *context_.kept) return std::static_pointer_cast<Memory>(*context_.kept);
    const auto memory = std::make_shared<Memory>();
    if (context_.kept) *context_.kept = memory;
    return memory;
  }

  posix::File file_;
  std::uint64_t calls_ = 0;  ///< pwrite or pread
};

}  // namespace slabmark
