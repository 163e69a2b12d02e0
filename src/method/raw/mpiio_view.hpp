#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "method/raw/file_order.hpp"
#include "method/raw/raw_layout.hpp"
#include "method/shared/round_maxima.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {

/// Most bytes that one MPI-IO call of a rank moves unless mpiio.call_bytes says otherwise. MPI-IO
/// implementations count bytes in int here and there (ROMIO's collective buffering, OMPIO's
/// cycles), so what is larger goes in several calls.
inline constexpr std::uint64_t mpiio_call_bytes = std::uint64_t{1} << 30;

/// The options that both MPI-IO methods have.
std::vector<OptionInfo> mpiio_view_options();

/// What the independent and the collective MPI-IO method share: a raw file, and one file view over
/// all datasets of a round through which the round moves in one call.
class MpiioViewMethod : public Method {
 public:
  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void prepare() override;
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override;
  void flush() override {}
  void sync() override;
  void inspect() override;
  void close() override;
  nlohmann::json effective() const override;

 protected:
  explicit MpiioViewMethod(const MethodContext& context);

  /// Moves what the view shows from `offset` on. Called by all ranks alike, also without bytes.
  virtual void move(mpiio::File& file, std::uint64_t offset, const mpiio::Memory& memory) = 0;
  virtual std::string call_name() const = 0;

  bool wants_views() const { return wants_views_; }
  bool writing() const { return context_.direction == Direction::write; }
  FileOrder order(const std::vector<Transfer>& transfers);
  void count_call() { ++calls_; }
  void end_round();

  MethodContext context_;
  mpiio::File file_;

 private:
  void move_in_one_call(const FileOrder& order, const std::vector<Transfer>& transfers,
                        std::span<std::byte* const> buffers, bool viewed);
  void move_in_calls(const FileOrder& order, std::span<std::byte* const> buffers,
                     std::uint64_t calls);
  void set_view_of_all(const FileOrder& order, const std::vector<Transfer>& transfers);
  void set_view(const mpiio::BlockList& blocks);
  void move_memory(const mpiio::BlockList& blocks, std::byte* base, std::uint64_t offset = 0);
  const mpiio::Datatype& file_type(const Transfer& transfer, const PlacedTransfer& placed);

  RawLayout layout_;
  std::uint64_t call_bytes_;
  bool wants_views_;
  bool viewed_ = false;  ///< the file has another view than it was opened with
  SelectionCache<FilePieces> pieces_;
  SelectionCache<mpiio::Datatype> file_types_;
  RoundMaxima round_needs_;  ///< calls; whether a rank needs a view
  std::map<std::string, std::string> hints_;
  std::uint64_t calls_ = 0;
};

}  // namespace slabmark
