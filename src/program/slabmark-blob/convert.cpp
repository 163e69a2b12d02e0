#include "program/slabmark-blob/convert.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/buffers.hpp"
#include "method/raw/blob_pattern.hpp"
#include "parallel/agree.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark::blob_program {

void convert(const Comm& comm, const std::string& input, const std::string& output,
             const MethodInfo& info, const Settings& settings, PhaseClock& clock) {
  std::unique_ptr<BlobPattern> content;
  agreed(comm, [&] { content = std::make_unique<BlobPattern>(comm, input); });
  const Pattern& pattern = content->pattern();
  agreed(comm, [&] {
    if (const auto reason = info.supports(pattern, settings)) {
      throw InputError(fmt::format("Method {} cannot write '{}': {}.", info.name, input, *reason));
    }
  });
  mpiio::TrialFile file(comm, output);
  const auto method = info.make({comm, pattern, Direction::write, settings, clock});
  clock.time(Phase::create, [&] { method->create(output); });
  clock.time(Phase::define, [&] { method->define(); });
  clock.time(Phase::prepare, [&] { method->prepare(); });
  Buffers buffers;
  agreed(comm, [&] { buffers.fit(pattern); });
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    const auto memory = buffers.lay_out(pattern, pattern.transfers(round));
    // By itself, since some methods talk in post(), and a rank that cannot read must not be waited
    // for.
    clock.time(Phase::post, [&] { content->read(round, memory); });
    clock.time(Phase::post, [&] { method->post(round, memory); });
    clock.time(Phase::flush, [&] { method->flush(); });
  }
  clock.time(Phase::close, [&] { method->close(); });
  file.keep();
}

}  // namespace slabmark::blob_program
