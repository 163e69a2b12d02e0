#include "bench/pattern/transfer_pattern.hpp"
#include "core/base/command_line.hpp"
#include "core/base/error.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// The requests of h5perf: a dataset in equal parts, one transfer buffer a round.
class TransferCommand : public PatternCommand {
 public:
  std::string name() const override { return "transfer"; }
  std::string help() const override {
    return "Equal parts of 1-D or 2-D datasets, one transfer buffer a round, as h5perf moves them";
  }

  void add_options(CLI::App& app) override {
    add_size(app, "--bytes", geometry_.bytes,
             "Bytes per process and dataset; with --2d the side of the square divided by the "
             "processes");
    add_size(app, "--block", geometry_.block, "Bytes of a block, with --2d of its side");
    add_size(app, "--buffer", geometry_.buffer,
             "Bytes of a transfer buffer, with --2d of its longer side");
    app.add_flag("--interleaved", geometry_.interleaved,
                 "Blocks of the processes take turns, instead of one region each");
    app.add_flag("--2d", geometry_.two_dimensional, "Square datasets");
    auto* chunked = app.add_flag("--chunked", chunked_, "One block a chunk, where the format can");
    app.add_flag("--emulate-chunks", emulated_,
                 "With --2d: lay the dataset out in the order of its chunks, for any format")
        ->excludes(chunked);
    add_count(app, "--datasets", geometry_.datasets, "Number of datasets",
              {.min = 1, .max = 1'000'000});
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
