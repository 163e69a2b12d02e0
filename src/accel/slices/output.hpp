#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "accel/slices/device.hpp"
#include "core/geometry/blocked_field.hpp"

namespace slabmark::slice {

/// A field that slices are taken of: this rank's block with its halos, x fastest. The memory stays
/// the caller's and must stay where it is.
struct Field {
  Field(std::string field_name, const double* block)
      : name(std::move(field_name)), data(block), type(ElementType::float64) {}
  Field(std::string field_name, const float* block)
      : name(std::move(field_name)), data(block), type(ElementType::float32) {}

  std::string name;
  const void* data;
  ElementType type;
};

/// A plane or box, and what to write of it when. It goes into files of its own:
/// PREFIX + slice.name + ".vtkhdf", or with "_000042" before the ending where each output is one.
struct Cut {
  Slice slice;                      ///< see plane_of()
  std::vector<std::string> fields;  ///< names; empty: all
  std::uint64_t every = 1;          ///< write at steps that are a multiple of this
};

enum class FileMode {
  append,           ///< one file a cut, kept open, with a dimension of time
  file_per_output,  ///< one file a cut and output
};

inline constexpr std::string_view file_ending = ".vtkhdf";

/// The file of all outputs of a cut or of that at `step`; `stem`: Declaration::prefix and the name
/// of the slice.
std::string file_of(FileMode mode, const std::string& stem, std::uint64_t step);

/// Everything that is declared once.
struct Declaration {
  BlockedField grid;
  std::array<double, 3> origin = {0, 0, 0};   ///< of the grid's first point
  std::array<double, 3> spacing = {1, 1, 1};  ///< of the grid's points
  std::vector<Field> fields;
  /// Whose memory the fields' blocks are; null: the host's. Of a cuda_device() only the points of
  /// the slices are copied, gathered and converted there.
  std::shared_ptr<Device> device;
  std::vector<Cut> cuts;

  std::string prefix;  ///< of the files, directory included
  FileMode mode = FileMode::append;
  ElementType type = ElementType::float64;  ///< in the files; float32 is converted while gathering
  /// Ranks that write each file; 0: one a MiB of an output. As many as ranks: each writes a
  /// contiguous part of its own.
  std::uint64_t writers = 0;
  /// Outputs that may wait for a thread to write them; 0: write() writes itself. When so many
  /// wait, write() waits, too.
  std::uint64_t waiting = 0;
  bool overwrite = false;  ///< replace files of these names
};

/// Throws InputError, in one sentence, for what Output would refuse on as many ranks.
void check(const Declaration& declaration, std::uint64_t ranks);

/// What was done so far: seconds of this rank's main thread, and what moved.
struct Tally {
  double grow = 0.0;                ///< making room in files
  double gather = 0.0;              ///< copying points out of the fields
  double exchange = 0.0;            ///< moving them to the writers
  double write = 0.0;               ///< writing, or waiting for the thread that does
  double agree = 0.0;               ///< learning whether any rank failed
  std::uint64_t bytes_touched = 0;  ///< of the fields' memory, in whole cache lines
  std::uint64_t bytes_written = 0;
  std::uint64_t requests = 0;           ///< writes issued
  std::uint64_t bytes_from_device = 0;  ///< copied out of a device's memory
};

/// Writes slices of fields at every output. All functions are collective over the communicator and
/// called with the same arguments on all ranks, from the thread that calls MPI.
///
/// Errors are thrown on all ranks alike: InputError for a wrong declaration, before anything is
/// written; IoError for what failed in writing, at the call in which it is noticed (a waiting
/// output: a later one). Files then hold all outputs before the failing one, whole, and are closed.
class Output {
 public:
  /// Makes the files of appended outputs, and checks that no others are in the way.
  Output(MPI_Comm comm, const Declaration& declaration);
  /// Closes the files, but keeps silent about what fails then. If MPI_Finalize comes first, they
  /// are closed there.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// The block of this field lies at `data` from the next write() on, as where a simulation swaps
  /// two blocks from step to step. Not collective. Throws InputError for a field that was not
  /// declared.
  void set_block(const std::string& field, const void* data);

  /// Writes those cuts that are due at `step`. The fields may change when it returns.
  void write(std::uint64_t step, double time);

  /// Returns when all that was handed over is in the files, and they say so.
  void flush();

  /// Completes and closes the files. Nothing may be written after it.
  void close();

  const Tally& tally() const;

  /// Names of the files that hold outputs so far, in the order in which they were made.
  std::vector<std::string> files() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace slabmark::slice
