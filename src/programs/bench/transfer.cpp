#include "bench/pattern/transfer_pattern.hpp"
#include "core/base/error.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// The requests of h5perf: a dataset in equal parts, one transfer buffer a round.
class TransferCommand : public PatternCommand {
 public:
  std::string name() const override { return "transfer"; }
  std::string help() const override {
    return "Equal parts of 1-D or 2-D datasets, one transfer buffer per round, as h5perf moves "
           "them";
  }

  void add_options(Command& command) override {
    command.add_size(
        "--bytes", geometry_.bytes,
        "Bytes per process and dataset; with --2d the side of the square divided by the "
        "processes");
    command.add_size("--block", geometry_.block, "Bytes of a block, with --2d of its side");
    command.add_size("--buffer", geometry_.buffer,
                     "Bytes of a transfer buffer, with --2d of its longer side");
    command.add_flag("--interleaved", geometry_.interleaved,
                     "Blocks of the processes take turns, instead of one region each");
    command.add_flag("--2d", geometry_.two_dimensional, "Square datasets");
    const OptionHandle chunked =
        command.add_flag("--chunked", chunked_, "One block per chunk, where the format can");
    command
        .add_flag("--emulate-chunks", emulated_,
                  "With --2d: lay the dataset out in the order of its chunks, for any format")
        .excludes(chunked);
    command
        .add_count("--variables", geometry_.datasets, "Number of variables", variables_of_pattern)
        .retired("--datasets");
  }

  void check() override {
    if (chunked_) geometry_.storage = TransferStorage::chunked;
    if (emulated_) geometry_.storage = TransferStorage::emulated;
    if (emulated_ && !geometry_.two_dimensional) {
      throw InputError("--emulate-chunks needs --2d: in one dimension chunks lie in order anyway.");
    }
  }

  Pattern part(std::uint64_t rank, std::uint64_t ranks) override {
    return make_transfer_pattern(geometry_, rank, ranks);
  }

 private:
  TransferGeometry geometry_;
  bool chunked_ = false;
  bool emulated_ = false;
};

}  // namespace

std::unique_ptr<PatternCommand> make_transfer_command() {
  return std::make_unique<TransferCommand>();
}

}  // namespace slabmark::bench_program
