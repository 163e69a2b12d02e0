#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pattern/checkpoint_pattern.hpp"

namespace slabmark {

/// The settings of a run of seism-core-slice, under the names of its input language.
struct CheckpointSettings {
  CheckpointGrid grid;  ///< processor, domain, chunk, time
  std::string filename = "seism-test.h5";
  bool precreate = false;
  bool collective_write = false;
  bool set_collective_metadata = false;
  bool never_fill = false;
  bool early_allocation = false;
  std::uint64_t deflate = 0;  ///< level; 0: none
  std::uint64_t zfp = 0;      ///< 0: none; other numbers all mean the same, as in the original
  std::uint64_t subfile = 0;  ///< number of subfiles; 0: one shared file
  std::uint64_t n_nodes = 0;
  std::uint64_t lfs_stripe_count = 0;  ///< 0: not asked for
  std::uint64_t lfs_stripe_size = 0;   ///< bytes; 0: not asked for
  std::string use_function_lib;
  std::string use_function_name;  ///< empty: every element is the rank of its owner
  std::uint64_t use_function_argc = 0;
  std::string use_function_argv;  ///< the rest of its line, as it stood there

  /// The first use_function_argc words of use_function_argv. Throws InputError if there are fewer.
  std::vector<std::string> function_arguments() const;
};

}  // namespace slabmark
