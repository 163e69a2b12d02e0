#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/method/format.hpp"
#include "bench/method/method.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

// A captured program may have several files whose contents differ. Methods write all of it to one
// file, whose datasets are called by the file, too; as-captured writes as many files as the program
// did.

/// The files that as-captured writes if the first is called `path`, that one first: "out.nc",
/// "out_file2.nc" and so on.
std::vector<std::string> captured_files(const Pattern& pattern, const std::string& path);

/// Reads all of them (collective).
std::unique_ptr<PlainReader> open_captured_files(const Comm& comm, FileFormat format,
                                                 const Pattern& pattern, const std::string& path);

/// Writes the same files, each by that method: for a program that has only read them.
std::unique_ptr<Method> make_captured_files(const MethodInfo& plain, const MethodContext& context);

}  // namespace slabmark
