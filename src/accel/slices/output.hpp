/// @file
/// Writes planes and boxes of a simulation's fields.
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

/// A field of which slices are written: this rank's block with its halos, x fastest. The caller
/// owns the memory, and must not move it.
struct Field {
  /// A field of float64.
  Field(std::string field_name, const double* block)
      : name(std::move(field_name)), data(block), type(ElementType::float64) {}
  /// A field of float32.
  Field(std::string field_name, const float* block)
      : name(std::move(field_name)), data(block), type(ElementType::float32) {}

  std::string name;  ///< of the datasets in files
  const void* data;  ///< the block
  ElementType type;  ///< of the elements of the block
};

/// A plane or box, the fields to write of it, and when. It has files of its own:
/// PREFIX + slice.name + ".vtkhdf". With one file per output, the step ("_000042") stands before
/// the ending.
struct Cut {
  Slice slice;                      ///< see plane_of()
  std::vector<std::string> fields;  ///< names; empty: all
  std::uint64_t every = 1;          ///< write at steps that are a multiple of this
};

/// How outputs are spread over files.
enum class FileMode {
  append,           ///< one file per cut, kept open, with a dimension of time
  file_per_output,  ///< one file per cut and output
};

/// The ending of the files.
inline constexpr std::string_view file_ending = ".vtkhdf";

/// The name of the file that holds the output at `step` of a cut. `stem` is Declaration::prefix
/// with the name of the slice.
std::string file_of(FileMode mode, const std::string& stem, std::uint64_t step);

/// Everything that a program declares once.
struct Declaration {
  BlockedField grid;                          ///< the points of the fields, and the blocks of ranks
  std::array<double, 3> origin = {0, 0, 0};   ///< of the grid's first point
  std::array<double, 3> spacing = {1, 1, 1};  ///< of the grid's points
  std::vector<Field> fields;                  ///< all fields that cuts name
  /// The device whose memory holds the blocks of the fields; null for the host. A cuda_device()
  /// gathers and converts the points of the slices, and only these are copied to the host.
  std::shared_ptr<Device> device;
  std::vector<Cut> cuts;  ///< all planes and boxes

  std::string prefix;                       ///< of the files, directory included
  FileMode mode = FileMode::append;         ///< one file per cut, or one per output
  ElementType type = ElementType::float64;  ///< in the files; float32 is converted while gathering
  /// Number of ranks that write each file; 0 chooses one for each MiB of an output. If all ranks
  /// write, each writes a contiguous part of its own.
  std::uint64_t writers = 0;
  /// Number of outputs that may wait for a thread to write them. With 0, write() writes them
  /// itself. If that many outputs wait, write() waits, too.
  std::uint64_t waiting = 0;
  bool overwrite = false;  ///< replace existing files of these names
};

/// Checks a declaration for this number of ranks. Throws InputError for everything that Output
/// would refuse.
void check(const Declaration& declaration, std::uint64_t ranks);

/// The work so far: seconds of this rank's main thread, bytes and requests.
struct Tally {
  double grow = 0.0;                    ///< making room in files
  double gather = 0.0;                  ///< copying points out of the fields
  double exchange = 0.0;                ///< moving them to the writers
  double write = 0.0;                   ///< writing, or waiting for the thread that does
  double agree = 0.0;                   ///< learning whether any rank failed
  std::uint64_t bytes_touched = 0;      ///< of the fields' memory, in whole cache lines
  std::uint64_t bytes_written = 0;      ///< to the files
  std::uint64_t requests = 0;           ///< writes issued
  std::uint64_t bytes_from_device = 0;  ///< copied out of a device's memory
};

/// Writes slices of fields at every output. All ranks of the communicator call each function with
/// the same arguments, from the thread that calls MPI.
///
/// Errors are thrown on all ranks alike. A wrong declaration throws InputError, before anything is
/// written. A failed write throws IoError, for a waiting output in a later call. The files then
/// hold all outputs before the failed one, whole, and are closed.
class Output {
 public:
  /// Creates the files of appended outputs. Throws InputError if files of these names exist.
  Output(MPI_Comm comm, const Declaration& declaration);
  /// Closes the files without reporting errors: call close() to see them. If MPI_Finalize comes
  /// first, it closes the files.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Sets where the block of this field lies from the next write() on, for simulations that swap
  /// two blocks from step to step. Not collective. Throws InputError for an undeclared field.
  void set_block(const std::string& field, const void* data);

  /// Writes the cuts that are due at `step`. The fields may change when it returns.
  void write(std::uint64_t step, double time);

  /// Returns when the files hold all outputs so far, and can be read.
  void flush();

  /// Completes and closes the files. Nothing may be written after it.
  void close();

  /// The work so far.
  const Tally& tally() const;

  /// Names of the files that hold outputs so far, in the order in which they were made.
  std::vector<std::string> files() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace slabmark::slice
