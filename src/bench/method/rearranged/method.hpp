#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/method/method.hpp"
#include "bench/method/rearranged/settings.hpp"
#include "collective/file.hpp"
#include "collective/layout_context.hpp"
#include "collective/settings.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// How one file format says where the arrays of a pattern lie. Its calls to a library are made by
/// the root alone, on its own: they return a list of numbers that all ranks get.
class RearrangedHeader {
 public:
  virtual ~RearrangedHeader() = default;

  // On root only.
  virtual void create(const std::string& path, const mpiio::Hints& hints) = 0;
  /// Defines and closes the file, which is complete after it but for its data.
  virtual std::vector<std::uint64_t> define() = 0;
  virtual std::vector<std::uint64_t> read(const std::string& path) = 0;

  /// After define(): bytes of the file, which is closed and has `file_bytes`, that are not data of
  /// arrays, so that the next file that is defined alike gets them. Empty: the library must define
  /// each file.
  virtual RunList metadata(std::uint64_t /*file_bytes*/) const { return {}; }

  // On all ranks.
  /// False: arrays are in files of the header's own, and mover() moves them all.
  virtual bool has_data_file() const { return true; }
  /// Takes the numbers, and the file, which outlives this and is open where it is accessed.
  virtual void learn(std::span<const std::uint64_t>, collective::File&) {}
  /// Byte of the file at which a dataset (at `time`, if it has time) begins.
  virtual std::uint64_t offset(std::span<const std::uint64_t> numbers, std::size_t dataset,
                               std::uint64_t time) const = 0;
  /// The chunks in which an array of a dataset lies, whose offset is then beyond the file, and
  /// whether they go through filters, so that they are moved whole (see ArrayPlace).
  virtual const ChunkGrid* grid(std::size_t) const { return nullptr; }
  virtual bool has_filters(std::size_t) const { return false; }
  virtual void adjust(RearrangerSettings&) const {}  ///< to what the arrays need
  /// Moves the arrays of a flush where some lie in chunks; null: none does.
  virtual collective::File::Mover mover(bool /*writing*/) { return nullptr; }
  virtual void sync() {}               ///< collective
  virtual void close() {}              ///< collective, when all else is closed
  virtual void report(Json&) const {}  ///< after close(), to what was in effect
  virtual bool swaps_bytes() const { return false; }
  virtual std::uint64_t padding() const { return 0; }  ///< most bytes between arrays of nobody
  virtual std::string library() const { return ""; }   ///< "PnetCDF 1.12.3"
};

/// Writes and reads a file by collective rearrangement instead of by requests: the place of each
/// element is known, so ranks put the data together in large contiguous pieces, and aggregators
/// move those with independent MPI-IO calls (see the module collective). post() only takes the
/// buffers; all that was posted moves at flush().
class RearrangedMethod : public Method {
 public:
  /// Throws InputError for values that options do not accept.
  RearrangedMethod(const MethodContext& context, const std::string& prefix,
                   std::unique_ptr<RearrangedHeader> header);

  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void prepare() override;
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override;
  void flush() override;
  void sync() override;
  void close() override;
  Json effective() const override;

 private:
  struct CachedState;

  /// A transfer that has a place in the file.
  struct PlacedTransfer {
    Transfer transfer;
    ArrayPlace place;
    std::byte* buffer;
    const ChunkGrid* grid;  ///< null: in one piece
  };

  void open_file(collective::File::Access access,
                 const std::function<std::vector<std::uint64_t>()>& numbers);
  void open_here();
  void take(std::uint64_t round, std::span<std::byte* const> buffers,
            std::vector<PlacedTransfer>& out) const;
  FileDomain domain_of(std::span<const PlacedTransfer> transfers) const;
  std::vector<collective::Part> parts_of(std::span<const PlacedTransfer> transfers);
  bool has_definition() const;
  std::vector<std::uint64_t> define_on_root();
  bool share_numbers();
  void plan_for(std::span<const std::uint64_t> rounds, std::span<const PlacedTransfer> transfers,
                const FileDomain& domain);

  std::unique_ptr<RearrangedHeader> header_;
  RearrangedOptions options_;
  collective::Overlap overlap_;

  std::string path_;
  std::vector<std::uint64_t> numbers_;
  collective::File::Access access_ = collective::File::Access::read;
  collective::File file_;  ///< open on aggregators
  collective::Settings choices_;
  RearrangerSettings rearranger_settings_;
  std::shared_ptr<CachedState> state_;
  std::string definition_key_;      ///< on root, where definitions are reused
  bool reused_definition_ = false;  ///< on all ranks after define()
  std::vector<PlacedTransfer> posted_;
  std::vector<std::uint64_t> posted_rounds_;
  std::vector<std::uint64_t> planned_rounds_;  ///< for which all ranks have agreed on the plan
  std::uint64_t plans_ = 0;
  Rearranger::Tally tally_;
};

}  // namespace slabmark
