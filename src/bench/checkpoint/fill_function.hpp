#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/pattern/checkpoint_pattern.hpp"

namespace slabmark {

/// A fill function of a user's shared library, see plugins/fill_function.h.
class FillFunction {
 public:
  /// The entry that fills: the one for whole blocks if the library has it, or always the one for
  /// single elements.
  enum class Entry { best, element };

  struct Request {
    std::string library;  ///< as dlopen() takes it; a bare name is also looked for beside the
                          ///< program and in ../lib from there
    std::string name;
    std::vector<std::string> arguments;
    Entry entry = Entry::best;
  };

  /// Loads it and asks it whether its arguments will do. Throws InputError that names the library,
  /// the symbol, or the argument that is wrong.
  FillFunction(const Request& request, const CheckpointGrid& grid);

  bool fills_blocks() const { return block_ != nullptr; }

  /// The elements [start, start + count) of a block, row-major. Throws IoError if the function
  /// reports that it failed, InputError if it raises a signal such as SIGSEGV.
  void fill(std::uint64_t block, const std::array<std::uint64_t, 3>& start,
            const std::array<std::uint64_t, 3>& count, float* values) const;

 private:
  using Triple = std::array<std::uint64_t, 3>;
  using Element = float (*)(int, std::uint64_t*, std::uint64_t*, std::uint64_t*, std::uint64_t*,
                            int, char**);
  using Block = int (*)(int, const std::uint64_t*, const std::uint64_t*, const std::uint64_t*,
                        const std::uint64_t*, const std::uint64_t*, int, char**, float*);
  using Prepare = int (*)(const std::uint64_t*, const std::uint64_t*, int, char**, char*,
                          std::size_t);

  void* find(const std::string& symbol) const;
  void guarded(const std::string& function, const std::function<void()>& call) const;
  void prepare(const CheckpointGrid& grid, const std::string& library) const;
  char** argv() const { return arguments_.data(); }
  int argc() const { return static_cast<int>(words_.size()); }

  std::string name_;
  std::string file_;  ///< of the library, as it was given
  CheckpointGrid grid_;
  std::shared_ptr<void> library_;
  std::vector<std::vector<char>> words_;  ///< the function may write to them
  mutable std::vector<char*> arguments_;  ///< one for each word, then null
  Element element_ = nullptr;
  Block block_ = nullptr;
};

}  // namespace slabmark
