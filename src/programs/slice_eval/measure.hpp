#pragma once

#include <string>
#include <vector>

#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"
#include "programs/slice_eval/field.hpp"
#include "programs/slice_eval/options.hpp"

namespace slabmark::slice_eval {

/// One method of writing the plain or the strided slice, with what was measured: a trial is an
/// output. Of an output of all ranks, `effective` has `bytes_touched` (memory of the fields, in
/// cache lines), `bytes_written`, `bytes_from_device` (copied out of a GPU) and
/// `write_calls_busiest_rank` (as the kernel counts them, a mean); and of the whole run
/// `close_seconds`, `outputs` (the warm-up included), `data_bytes`, `file_bytes`, `files`.
/// Complete on root.
struct Row {
  std::string method;
  bool strided = false;
  CellRecord record;
};

/// True if a method makes sense only for strided slices: it copies first.
inline bool copies_first(const std::string& method) { return method.starts_with("copy-"); }

/// Collective. Measures all methods, output by output in turns of random order. Throws where
/// writing fails or a file does not hold what it must; files are removed unless they are to be
/// kept.
std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields);

}  // namespace slabmark::slice_eval
