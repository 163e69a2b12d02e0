#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "method/file_order.hpp"
#include "method/method.hpp"
#include "method/raw_layout.hpp"
#include "method/round_maxima.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {

/// Most bytes that one MPI-IO call of a rank moves unless mpiio.call_bytes says otherwise. MPI-IO
/// implementations count bytes in int here and there (ROMIO's collective buffering, OMPIO's cycles),
/// so what is larger goes in several calls.
inline constexpr std::uint64_t mpiio_call_bytes = std::uint64_t{1} << 30;

/// The option that both MPI-IO methods have.
OptionInfo mpiio_call_bytes_option();

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
  void close() override;
  nlohmann::json effective() const override;

 protected:
  explicit MpiioViewMethod(const MethodContext& context);

  /// Number of calls that this rank makes in `round`, of which it needs `mine` for its own data.
  virtual std::uint64_t calls_of_round(std::uint64_t round, std::uint64_t mine) const = 0;
  /// Moves one call's data; `offset` counts the bytes that the view shows.
  virtual void move(mpiio::File& file, std::uint64_t offset, const mpiio::Memory& memory) = 0;
  virtual std::string call_name() const = 0;

  bool writing() const { return context_.direction == Direction::write; }
  std::uint64_t calls_for(std::uint64_t bytes) const {
    return bytes / call_bytes_ + (bytes % call_bytes_ != 0);
  }
  FileOrder order(const std::vector<Transfer>& transfers);
  void count_call() { ++calls_; }
  void end_round();

  MethodContext context_;
  mpiio::File file_;

 private:
  void set_view(const FileOrder& order, const std::vector<Transfer>& transfers);
  const mpiio::Datatype& file_type(const Transfer& transfer, const PlacedTransfer& placed);
  std::vector<mpiio::BlockList> memory_of_calls(const FileOrder& order,
                                                std::span<std::byte* const> buffers) const;

  RawLayout layout_;
  std::uint64_t call_bytes_;
  SelectionCache<FilePieces> pieces_;
  SelectionCache<mpiio::Datatype> file_types_;
  std::map<std::string, std::string> hints_;
  std::uint64_t calls_ = 0;
};

}  // namespace slabmark
