#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accel/slices/output.hpp"
#include "bench/method/method.hpp"
#include "bench/pattern/slice_pattern.hpp"
#include "core/parallel/abort.hpp"

namespace slabmark {

/// The common part of the methods for slices. A round is an output of the simulation, and its time
/// the number of the round. They only write.
class SliceMethod : public Method {
 public:
  using Method::Method;

  void open(const std::string& path) override;
  /// The parts of write() are spans: gather, exchange, write, agree, grow.
  void post(std::uint64_t round, std::span<std::byte* const> buffers) final;
  void sync() override {}
  void inspect() override;
  Json effective() const override { return effective_; }

 protected:
  virtual void write(std::uint64_t round, std::span<std::byte* const> buffers) = 0;
  virtual slice::Tally tally() const = 0;  ///< of all outputs so far

  const SliceSource& source() const { return *context_.pattern.slices; }
  std::uint64_t rank() const { return static_cast<std::uint64_t>(context_.comm.rank()); }

 private:
  std::uint64_t outputs_ = 0;
  Json effective_;
};

/// An Output of the library as the object of a method: of the pattern's slices, or of a declaration
/// that begins with what declare() says.
class SliceFiles {
 public:
  SliceFiles(const Comm& comm, const slice::Declaration& declaration);

  void write(std::uint64_t round);
  /// Makes what was written so far durable.
  void sync();

  slice::Output output;

 private:
  std::vector<std::string> stems_;  ///< of the slices
  slice::FileMode mode_;
  std::vector<std::string> files_;    ///< so far, the same on all ranks
  std::deque<RemoveOnAbort> guards_;  ///< of files that came later than create()
};

/// The declaration of the pattern's slices. A field is called as its dataset; where it lies says
/// Output::set_block(). At "PATH.vtkhdf" lies the slice without a name, a slice "_z4" beside it at
/// "PATH_z4.vtkhdf".
slice::Declaration declare(const Pattern& pattern, const std::string& path);

/// The entry of a method for slices, without make().
MethodInfo slice_info(std::string name, std::string summary, FileFormat format,
                      slice::FileMode mode = slice::FileMode::append);

/// Why no method that reads the fields in the host's memory can write this pattern, or nothing.
std::optional<std::string> reason_against_host_slices(const Pattern& pattern);

}  // namespace slabmark
